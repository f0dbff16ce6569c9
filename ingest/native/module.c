/* tracewh.ingest.native._events: the reader of events as a class of Python. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <locale.h>

#include "event.h"

typedef struct {
    PyObject_HEAD Reader reader;
} Object;

static Reader *reader_of(PyObject *self)
{
    return &((Object *)self)->reader;
}

static PyObject *bytes_of(const void *data, size_t length)
{
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)length);
}

/* What to copy after the interpreter lock is released. */
typedef struct {
    char *to;
    const void *from;
    size_t length;
} Copy;

typedef struct {
    Copy copies[KINDS * MOST_COLUMNS * 3 + 4];
    int count;
} Copies;

static void copy_all(const Copies *all)
{
    PyThreadState *thread = PyEval_SaveThread();
    for (int i = 0; i < all->count; i++)
        memcpy(all->copies[i].to, all->copies[i].from, all->copies[i].length);
    PyEval_RestoreThread(thread);
}

/* New bytes that `copy_all` fills. */
static PyObject *later(Copies *all, const void *data, size_t length)
{
    PyObject *bytes = bytes_of(NULL, length);
    if (bytes && length)
        all->copies[all->count++] = (Copy){PyBytes_AsString(bytes), data, length};
    return bytes;
}

static PyObject *column_bytes(const Column *column, size_t rows, Copies *all)
{
    if (!column->filled)
        return Py_NewRef(Py_None);
    PyObject *valid =
        column->filled == rows ? Py_NewRef(Py_None) : later(all, column->valid, (rows + 7) / 8);
    if (is_list(column->type))
        return Py_BuildValue("(NNN)", valid, later(all, column->ends, (rows + 1) * sizeof(int32_t)),
                             later(all, column->items.data, column->items.length));
    return Py_BuildValue("(NN)", valid, later(all, column->values, rows * width(column->type)));
}

static PyObject *kind_bytes(const Kind *kind, Copies *all)
{
    PyObject *columns = PyList_New(0);
    for (int i = 0; columns && i < kind->count; i++) {
        PyObject *bytes = column_bytes(&kind->columns[i], kind->rows, all);
        if (!bytes || PyList_Append(columns, bytes) < 0)
            Py_CLEAR(columns);
        Py_XDECREF(bytes);
    }
    return Py_BuildValue("(nN)", (Py_ssize_t)kind->rows, columns);
}

PyDoc_STRVAR(
    take_doc,
    "take()\n--\n\n"
    "Return what was read since the last call.\n\n"
    "Returns:\n"
    "    The texts beside the block; the events that are not plain, as positions in the file, ends\n"
    "    and texts; for each kind its number of rows and its columns. A column is None if it is\n"
    "    empty, else the buffers of an Arrow array: the validity bits (None: no nulls) and the\n"
    "    values; of a list the validity bits, the ends and the items.");

static PyObject *take(PyObject *self, PyObject *Py_UNUSED(none))
{
    Reader *r = reader_of(self);
    Copies all = {.count = 0};
    PyObject *kinds = PyDict_New();
    for (int i = 0; kinds && i < KINDS; i++) {
        PyObject *kind = kind_bytes(&r->kinds[i], &all);
        if (!kind || PyDict_SetItemString(kinds, KIND_NAMES[i], kind) < 0)
            Py_CLEAR(kinds);
        Py_XDECREF(kind);
    }
    PyObject *taken = Py_BuildValue("(N(NNN)N)", later(&all, r->beside.data, r->beside.length),
                                    later(&all, r->other_ids.data, r->other_ids.length),
                                    later(&all, r->other_ends.data, r->other_ends.length),
                                    later(&all, r->others.data, r->others.length), kinds);
    if (taken) /* else some of the bytes are gone */
        copy_all(&all);
    clear_rows(r);
    return taken;
}

PyDoc_STRVAR(
    read_doc,
    "read(block, at)\n--\n\n"
    "Read on from the start of an event, as long as events follow each other.\n\n"
    "Args:\n"
    "    block: A bytearray. All reads until `take` have to be of the same one.\n"
    "    at: Where the event starts.\n\n"
    "Returns:\n"
    "    The first byte that was not read, and why: 'ends' if the block ends in an event or right\n"
    "    behind it, 'odd' if no event follows or it is not JSON, or as bytes a category that\n"
    "    has to be set with `add_category` first.");

static PyObject *read_block(PyObject *self, PyObject *args)
{
    Reader *r = reader_of(self);
    PyObject *block;
    Py_ssize_t start;
    Py_buffer buffer;
    if (!PyArg_ParseTuple(args, "O!n", &PyByteArray_Type, &block, &start))
        return NULL;
    if (PyObject_GetBuffer(block, &buffer, PyBUF_SIMPLE) < 0)
        return NULL;
    if (start < 0 || start > buffer.len || buffer.len > INT32_MAX / 2) {
        PyBuffer_Release(&buffer);
        PyErr_SetString(PyExc_ValueError, "no such place, or too large a block");
        return NULL;
    }
    r->text = PyByteArray_AsString(block);
    r->end = r->text + buffer.len;
    r->is_point = !strcmp(localeconv()->decimal_point, ".");
    const char *at = r->text + start;
    PyThreadState *thread = PyEval_SaveThread();
    at = read_events(r, at);
    PyEval_RestoreThread(thread);
    Py_ssize_t reached = at - r->text;
    PyObject *reason = NULL;
    if (r->stop == NO_MEMORY)
        PyErr_NoMemory();
    else if (r->stop == CATEGORY)
        reason = bytes_of(r->unknown.at, r->unknown.length);
    else
        reason = PyUnicode_FromString(r->stop == ENDS ? "ends" : "odd");
    PyBuffer_Release(&buffer);
    return reason ? Py_BuildValue("(nN)", reached, reason) : NULL;
}

PyDoc_STRVAR(add_doc, "add(text)\n--\n\n"
                      "Add the text of an event that the caller read, as one that is not plain.");

static PyObject *add(PyObject *self, PyObject *text)
{
    Reader *r = reader_of(self);
    char *data;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(text, &data, &length) < 0)
        return NULL;
    if (!write_other(r, data, (size_t)length))
        return PyErr_NoMemory();
    r->events++;
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(
    add_category_doc,
    "add_category(word, kind, without)\n--\n\n"
    "Set what complete events of a category are: a kind, or None if none of them is plain, and the\n"
    "positions of the columns that such an event must leave empty to be plain.");

static int kind_named(const char *name)
{
    for (int kind = 0; name && kind < KINDS; kind++)
        if (!strcmp(KIND_NAMES[kind], name))
            return kind;
    return NO_KIND;
}

static PyObject *add_category(PyObject *self, PyObject *args)
{
    Reader *r = reader_of(self);
    const char *word, *name;
    Py_ssize_t length;
    PyObject *without;
    if (!PyArg_ParseTuple(args, "y#zO!", &word, &length, &name, &PyList_Type, &without))
        return NULL;
    int kind = kind_named(name);
    if (r->category_count == MOST_CATEGORIES || (name && kind == NO_KIND)) {
        PyErr_SetString(PyExc_ValueError, "no such kind, or too many categories");
        return NULL;
    }
    Category *category = &r->categories[r->category_count];
    category->without = 0;
    for (Py_ssize_t i = 0; i < PyList_Size(without); i++) {
        long column = PyLong_AsLong(PyList_GetItem(without, i));
        if (PyErr_Occurred())
            return NULL;
        if (column < 0 || column >= MOST_COLUMNS) {
            PyErr_SetString(PyExc_ValueError, "no such column");
            return NULL;
        }
        category->without |= BIT(column);
    }
    category->word = malloc((size_t)length + 1);
    if (!category->word)
        return PyErr_NoMemory();
    memcpy(category->word, word, (size_t)length);
    category->length = (size_t)length;
    category->kind = kind;
    r->category_count++;
    return Py_NewRef(Py_None);
}

static PyObject *event_count(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(reader_of(self)->events);
}

/* The columns of a kind: those of FIELDS, and one for each argument. */
static bool add_columns(Kind *kind, PyObject *arguments)
{
    Py_ssize_t count = PyList_Check(arguments) ? PyList_Size(arguments) : -1;
    if (count < 0 || count > MOST_COLUMNS - FIRST_ARGUMENT) {
        PyErr_SetString(PyExc_ValueError, "a kind is a list of arguments, and not too many");
        return false;
    }
    kind->columns = calloc((size_t)(FIRST_ARGUMENT + count), sizeof *kind->columns);
    if (!kind->columns) {
        PyErr_NoMemory();
        return false;
    }
    for (; kind->count < FIRST_ARGUMENT; kind->count++)
        kind->columns[kind->count].type = FIELDS[kind->count].type;
    for (Py_ssize_t i = 0; i < count; i++, kind->count++) {
        Column *column = &kind->columns[kind->count];
        const char *key;
        Py_ssize_t length;
        int type;
        int into;
        long long low, high, least, most;
        if (!PyArg_ParseTuple(PyList_GetItem(arguments, i), "s#i(LL)(LL)i", &key, &length, &type,
                              &low, &high, &least, &most, &into))
            return false;
        if (type < WHOLE || type > NO_TYPE || into < 0 || into > i) {
            PyErr_SetString(PyExc_ValueError, "no such type or column");
            return false;
        }
        column->key = malloc((size_t)length + 1);
        if (!column->key) {
            PyErr_NoMemory();
            return false;
        }
        memcpy(column->key, key, (size_t)length);
        column->key_length = (size_t)length;
        column->type = (Type)type;
        column->low = low;
        column->high = high;
        column->least = least;
        column->most = most;
        column->into = FIRST_ARGUMENT + into;
        kind->lists |= is_list(column->type) ? BIT(kind->count) : 0;
    }
    return true;
}

static PyObject *new_reader(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(keywords))
{
    PyObject *kinds;
    Bounds bounds;
    unsigned long long time_ns, duration_ns;
    if (!PyArg_ParseTuple(args, "O!(KKd)", &PyDict_Type, &kinds, &time_ns, &duration_ns,
                          &bounds.decimal))
        return NULL;
    bounds.time_ns = time_ns;
    bounds.duration_ns = duration_ns;
    if (PyDict_Size(kinds) != KINDS) {
        PyErr_SetString(PyExc_ValueError, "these are not the kinds of the reader");
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = allocate(type, 0); /* all zeros */
    if (self)
        reader_of(self)->bounds = bounds;
    for (int i = 0; self && i < KINDS; i++) {
        PyObject *arguments = PyDict_GetItemString(kinds, KIND_NAMES[i]);
        if (!arguments) {
            PyErr_SetString(PyExc_ValueError, "these are not the kinds of the reader");
            Py_CLEAR(self);
        } else if (!add_columns(&reader_of(self)->kinds[i], arguments)) {
            Py_CLEAR(self);
        }
    }
    return self;
}

static void free_reader(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    free_buffers(reader_of(self));
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

PyDoc_STRVAR(fill_doc, "fill(buffer, parts)\n--\n\n"
                       "Make a bytearray hold the parts, one after another.\n\n"
                       "Raises:\n"
                       "    BufferError: An array still uses its memory.");

static PyObject *fill(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *into, *parts;
    if (!PyArg_ParseTuple(args, "O!O!", &PyByteArray_Type, &into, &PyList_Type, &parts))
        return NULL;
    Py_ssize_t count = PyList_Size(parts), held = 0, size = 0;
    PyObject *done = NULL;
    Py_buffer target, *views = calloc((size_t)count + 1, sizeof *views);
    if (!views)
        return PyErr_NoMemory();
    for (; held < count; held++) {
        if (PyObject_GetBuffer(PyList_GetItem(parts, held), &views[held], PyBUF_SIMPLE) < 0)
            goto release;
        size += views[held].len;
    }
    /* Resizing to the size that it has never fails, so resize to another one first. */
    Py_ssize_t other = size ? size - 1 : 1;
    if ((PyByteArray_Size(into) == size && PyByteArray_Resize(into, other) < 0)
        || PyByteArray_Resize(into, size) < 0
        || PyObject_GetBuffer(into, &target, PyBUF_WRITABLE) < 0)
        goto release;
    PyThreadState *thread = PyEval_SaveThread();
    char *to = target.buf;
    for (Py_ssize_t i = 0; i < count; to += views[i++].len)
        memcpy(to, views[i].buf, (size_t)views[i].len);
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&target);
    done = Py_NewRef(Py_None);
release:
    while (held)
        PyBuffer_Release(&views[--held]);
    free(views);
    return done;
}

static PyMethodDef METHODS[] = {
    {"read", read_block, METH_VARARGS, read_doc},
    {"add", add, METH_O, add_doc},
    {"add_category", add_category, METH_VARARGS, add_category_doc},
    {"take", take, METH_NOARGS, take_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef ATTRIBUTES[] = {
    {"events", event_count, NULL, "How many events were read.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot SLOTS[] = {
    {Py_tp_new, new_reader},
    {Py_tp_dealloc, free_reader},
    {Py_tp_methods, METHODS},
    {Py_tp_getset, ATTRIBUTES},
    {Py_tp_doc,
     "Reader(kinds, bounds)\n--\n\n"
     "Reads the events of one file; one thread at a time.\n\n"
     "Args:\n"
     "    kinds: The arguments that have columns, by the name of the kind.\n"
     "    bounds: The largest time and duration of a plain event in nanoseconds, and the\n"
     "        bound of its decimals, of either sign."},
    {0, NULL},
};

static PyType_Spec READER = {
    .name = "tracewh.ingest.native._events.Reader",
    .basicsize = sizeof(Object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = SLOTS,
};

/* FIELDS as a tuple of names and types. */
static PyObject *fields(void)
{
    PyObject *all = PyTuple_New(FIRST_ARGUMENT);
    for (int i = 0; all && i < FIRST_ARGUMENT; i++) {
        PyObject *field = Py_BuildValue("(si)", FIELDS[i].name, (int)FIELDS[i].type);
        if (!field || PyTuple_SetItem(all, i, field) < 0)
            Py_CLEAR(all);
    }
    return all;
}

static int fill_module(PyObject *module)
{
    PyObject *reader = PyType_FromModuleAndSpec(module, &READER, NULL), *all = fields();
    int failed = !reader || !all || PyModule_AddObjectRef(module, "Reader", reader) < 0
                 || PyModule_AddObjectRef(module, "FIELDS", all) < 0;
    Py_XDECREF(reader);
    Py_XDECREF(all);
    return failed || PyModule_AddIntMacro(module, WHOLE) < 0
                   || PyModule_AddIntMacro(module, DECIMAL) < 0
                   || PyModule_AddIntMacro(module, FLAG) < 0
                   || PyModule_AddIntMacro(module, TEXT) < 0
                   || PyModule_AddIntMacro(module, SHAPE) < 0
                   || PyModule_AddIntMacro(module, WHOLES) < 0
                   || PyModule_AddIntMacro(module, TEXTS) < 0
                   || PyModule_AddIntMacro(module, WHOLES_AS_TEXT) < 0
                   || PyModule_AddIntMacro(module, NO_TYPE) < 0
               ? -1
               : 0;
}

static PyMethodDef FUNCTIONS[] = {
    {"fill", fill, METH_VARARGS, fill_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot MODULE_SLOTS[] = {{Py_mod_exec, fill_module}, {0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_events",
    .m_doc = "Read the events of a block of text, plain ones into columns.",
    .m_methods = FUNCTIONS,
    .m_slots = MODULE_SLOTS,
};

PyMODINIT_FUNC PyInit__events(void)
{
    return PyModuleDef_Init(&MODULE);
}
