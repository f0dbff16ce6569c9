#include "arguments.h"

static int column_of(Kind *kind, int before, Token key)
{
    int *expected = before ? &kind->columns[before].follows : &kind->first;
    Column *column = &kind->columns[*expected];
    if (*expected && column->key_length == key.length && !memcmp(column->key, key.at, key.length))
        return *expected;
    for (int i = FIRST_ARGUMENT; i < kind->count; i++) {
        column = &kind->columns[i];
        if (column->key_length == key.length && !memcmp(column->key, key.at, key.length))
            return *expected = i;
    }
    return 0;
}

static void leave(Reader *r, Token key, Token value)
{
    r->left[r->left_count].key = key;
    r->left[r->left_count++].value = value;
}

static const char *read_argument(Reader *r, Kind *kind, int at_column, const char *at)
{
    Column *column = &kind->columns[at_column];
    Value *value = &r->values[at_column];
    Number n;
    switch (column->type) {
    case WHOLE:
        at = read_whole(r, at, &n);
        if (!at)
            return NULL;
        value->whole = signed_digits(&n);
        if (!fits(column, value->whole))
            r->is_plain = false;
        if (value->whole < column->least || value->whole > column->most)
            r->unheld |= BIT(at_column);
        return at;
    case DECIMAL:
        return read_decimal(r, at, &value->decimal);
    case FLAG:
        return read_flag(r, at, &value->whole);
    case TEXT:
        at = read_text(r, at, &value->text);
        if (at && r->is_plain && !value->text.length)
            r->unheld |= BIT(at_column); /* nothing was recorded */
        return at;
    case SHAPE:
        return read_shape(r, at, &value->text);
    case WHOLES:
    case TEXTS:
        column->items_before = column->items.length;
        return read_list(r, at, column);
    case WHOLES_AS_TEXT:
        column->items_before = column->items.length;
        return read_list_in_text(r, at, column);
    case NO_TYPE:
        break;
    }
    return skip_unusual(r, at);
}

/* Whether two keys are the same but for the case of letters, and of some signs. */
static bool is_same(Token a, Token b)
{
    if (a.length != b.length)
        return false;
    for (size_t i = 0; i < a.length; i++)
        if ((a.at[i] | ' ') != (b.at[i] | ' '))
            return false;
    return true;
}

/* Whether a key has no column: the kind only has to know whether it is there. */
static bool is_key_only(const Kind *kind, int i)
{
    return kind->columns[i].type == NO_TYPE && kind->columns[i].into == i;
}

/* An argument without a column. It stays as it is written; the event is plain if a JSON function
 * would write it the same way. */
static const char *read_extra(Reader *r, Kind *kind, Token key, const char *at)
{
    Token text, value = {at, 0};
    Number n;
    int64_t flag;
    View list;
    size_t beside = r->beside.length;
    bool has_escapes, is_usual = r->left_count < MOST_COLUMNS;
    for (int i = FIRST_ARGUMENT; i < kind->count && is_usual; i++)
        is_usual = is_key_only(kind, i)
                   || !is_same(key, (Token){kind->columns[i].key, kind->columns[i].key_length});
    for (int i = 0; i < r->left_count && is_usual; i++)
        is_usual = !is_same(key, r->left[i].key);
    if (!is_usual)
        return skip_unusual(r, at);
    if (*at == '"') {
        at = scan_string(r, at, &text, &has_escapes);
        is_usual = !has_escapes;
    } else if (*at == '-' || is_digit(*at)) {
        at = scan_number(r, at, &n);
        is_usual = at && (is_whole(&n) || (n.decimals && n.count <= 15 && !n.has_exponent));
    } else if (*at == '[') { /* of whole numbers; write_rest drops the spaces */
        at = read_shape(r, at, &list);
        r->beside.length = beside;
    } else {
        at = read_flag(r, at, &flag);
    }
    if (!at)
        return NULL;
    value.length = (size_t)(at - value.at);
    leave(r, key, value);
    r->is_plain = r->is_plain && is_usual;
    return at;
}

/* An argument that has a column, under today's key or an older one. */
static const char *read_known(Reader *r, Kind *kind, int found, Token key, const char *at)
{
    int into = kind->columns[found].into;
    Token value = {at, 0};
    if (r->seen & BIT(into) || r->left_count == MOST_COLUMNS)
        return skip_unusual(r, at);
    r->seen |= BIT(into);
    if (*at == 'n' && found == into) {
        kind->columns[into].items_before = kind->columns[into].items.length;
        r->unheld |= BIT(into);
        at = scan_word(r, at, "null");
    } else {
        at = read_argument(r, kind, into, at);
    }
    if (at && r->unheld & BIT(into))
        value.length = (size_t)(at - value.at);
    if (value.length || found != into)
        leave(r, key, value);
    return at;
}

const char *read_arguments(Reader *r, const char *at)
{
    if (*at != '{' || r->kind == NO_KIND || !(MAY[r->kind] & ARGUMENTS))
        return skip_unusual(r, at);
    const char *start = at;
    Kind *kind = &r->kinds[r->kind];
    int column = 0;
    at = skip_space(at + 1);
    if (*at == '}')
        return skip_unusual(r, start); /* something else than none */
    for (;;) {
        Token key;
        bool has_escapes;
        at = scan_key(r, at, &key, &has_escapes);
        if (!at)
            return NULL;
        if (has_escapes || !r->is_plain)
            return skip_unusual(r, start);
        int found = column_of(kind, column, key);
        if (found && is_key_only(kind, found)) {
            r->seen |= BIT(found);
            r->unheld |= BIT(found);
            at = read_extra(r, kind, key, at);
        } else {
            at = found ? read_known(r, kind, found, key, at) : read_extra(r, kind, key, at);
        }
        column = found ? found : column;
        if (!at)
            return NULL;
        at = skip_space(at);
        if (*at == '}')
            return at + 1;
        if (*at != ',')
            return stop(r, at, ODD);
        at = skip_space(at + 1);
    }
}
