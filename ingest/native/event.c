#include "event.h"

static bool is_word(Token token, const char *expected)
{
    return token.length == strlen(expected) && !memcmp(token.at, expected, token.length);
}

/* The kind of an event, from its phase and category. */
static int kind_of(Reader *r, Token category)
{
    if (r->phase == 'i')
        return MEMORY;
    if (r->phase == 's' || r->phase == 't' || r->phase == 'f')
        return FLOW;
    if (r->phase == 'M')
        return OTHER;
    if (r->phase != 'X' || !(r->seen & BIT(RAW_CATEGORY)))
        return NO_KIND;
    for (int i = 0, at = r->last_category; i < r->category_count; i++, at++) {
        at = at < r->category_count ? at : 0;
        Category *known = &r->categories[at];
        if (known->length == category.length
            && !memcmp(known->word, category.at, category.length)) {
            r->last_category = r->category = at;
            return known->kind;
        }
    }
    if (r->category_count < MOST_CATEGORIES) {
        r->unknown = category;
        r->stop = CATEGORY;
    }
    return NO_KIND;
}

static int field_of(Token key)
{
    switch (key.length) {
    case 2:
        return is_word(key, "ts")   ? TS
               : is_word(key, "ph") ? PHASE
               : is_word(key, "id") ? FLOW_ID
               : is_word(key, "bp") ? BIND
                                    : -1;
    case 3:
        return is_word(key, "pid")   ? PID
               : is_word(key, "tid") ? TID
               : is_word(key, "dur") ? DUR
               : is_word(key, "cat") ? RAW_CATEGORY
                                     : -1;
    case 4:
        return is_word(key, "name") ? NAME : -1;
    default:
        return -1;
    }
}

/* Whether a text looks like a whole number. */
static bool is_number_text(Token text)
{
    size_t sign = text.length > 1 && text.at[0] == '-';
    if (text.length == sign || (text.at[sign] == '0' && text.length > 1))
        return false;
    for (size_t i = sign; i < text.length; i++)
        if (!is_digit(text.at[i]))
            return false;
    return true;
}

/* Put a field that no column holds into RAW: its text, with the JSON before and after it. */
static bool write_raw(Reader *r, const char *before, Token text, const char *after)
{
    size_t from = r->beside.length;
    if (!append(&r->beside, before, strlen(before)) || !append(&r->beside, text.at, text.length)
        || !append(&r->beside, after, strlen(after)))
        return false;
    r->values[RAW].text = view_beside(r, from);
    r->seen |= BIT(RAW);
    return true;
}

/* A process or thread that is written as text, as every thread was in 2021. If the text looks like
 * a number, RAW keeps that it is a text. */
static const char *read_place(Reader *r, int column, const char *at)
{
    Token text;
    bool has_escapes;
    at = scan_string(r, at, &text, &has_escapes);
    if (!at)
        return NULL;
    r->values[column].text = view_in_block(r, text);
    if (has_escapes || (is_number_text(text) && (column == PID || text.length >= MOST_DIGITS))) {
        r->is_plain = false;
    } else if (is_number_text(text) && !write_raw(r, "{\"tid\":\"", text, "\"}")) {
        return stop(r, at, NO_MEMORY);
    }
    return at;
}

/* A field that every kind has a column for. */
static const char *read_field(Reader *r, int column, const char *at)
{
    Value *value = &r->values[column];
    Number n;
    switch (column) {
    case TS:
        return read_time(r, at, r->bounds.time_ns, &value->whole);
    case DUR:
        r->duration.at = at;
        at = read_time(r, at, r->bounds.duration_ns, &value->whole);
        r->duration.length = at && r->seen & BIT(PHASE) ? (size_t)(at - r->duration.at) : 0;
        if (at && r->is_plain && value->whole < 0)
            r->is_plain = false;
        return at;
    case FLOW_ID:
        at = read_whole(r, at, &n);
        value->whole = signed_digits(&n);
        return at;
    case PID:
    case TID:
        if (*at == '"')
            return read_place(r, column, at);
        at = read_whole(r, at, &n);
        if (at && r->is_plain)
            value->text = view_in_block(r, n.token);
        return at;
    default:
        return read_text(r, at, &value->text);
    }
}

/* The members of an event and its closing brace. */
static const char *read_members(Reader *r, const char *at)
{
    Token category = {NULL, 0};
    for (;;) {
        Token key;
        bool has_escapes;
        at = scan_key(r, at, &key, &has_escapes);
        if (!at)
            return NULL;
        int column = field_of(key);
        uint64_t bit = column >= 0            ? BIT(column)
                       : is_word(key, "args") ? ARGUMENTS
                       : is_word(key, "s")    ? SCOPE
                                              : 0;
        const char *value = at;
        /* RAW has what no column holds in the order of the file. */
        bool is_late = r->uid.length && bit & (SCOPE | BIT(BIND));
        if (r->is_plain && !has_escapes && !r->uid.length && is_word(key, "uid")) {
            Number n;
            at = read_whole(r, at, &n);
            if (at && r->is_plain)
                r->uid = n.token;
        } else if (!r->is_plain || has_escapes || !bit || r->seen & bit || is_late) {
            at = skip_unusual(r, at);
        } else if (bit == ARGUMENTS) {
            at = read_arguments(r, at);
        } else if (bit == SCOPE) {
            at = *at == '"' ? scan_string(r, at, &r->scope, &has_escapes) : skip_unusual(r, at);
            r->is_plain = r->is_plain && !has_escapes;
        } else {
            at = read_field(r, column, at);
        }
        if (!at)
            return NULL;
        if (r->is_plain)
            r->seen |= bit;
        if (r->is_plain && (column == PHASE || column == RAW_CATEGORY)) {
            Token inside = {value + 1, (size_t)(at - value) - 2};
            if (column == PHASE)
                r->phase = inside.length == 1 ? inside.at[0] : 0;
            else
                category = inside;
            if (memchr(inside.at, '\\', inside.length))
                r->is_plain = false;
            else if (r->seen & BIT(PHASE))
                r->kind = kind_of(r, category);
            if (r->stop == CATEGORY)
                return NULL;
        }
        at = skip_space(at);
        if (*at == '}')
            return at + 1;
        if (*at != ',')
            return stop(r, at, ODD);
        at = skip_space(at + 1);
    }
}

static bool has_text(const View *view, const char *expected)
{
    size_t length = strlen(expected);
    return (size_t)view->length == length && !memcmp(view->at.few, expected, length);
}

/* Whether the columns of its kind hold all of an event. */
static bool is_whole_event(Reader *r)
{
    if (!r->is_plain || r->kind == NO_KIND)
        return false;
    uint64_t fields = r->seen & (SCOPE | ARGUMENTS | (BIT(RAW) - 1)), must = MUST[r->kind];
    if (r->kind == MEMORY && r->phase == 'X')
        must ^= SCOPE | BIT(DUR);
    if ((fields & must) != must || fields & ~(must | MAY[r->kind]))
        return false;
    if (r->seen & BIT(RAW) && (r->uid.length || r->kind == MEMORY || r->kind == FLOW))
        return false;
    if (r->kind == MEMORY && r->phase == 'X')
        return has_text(&r->values[NAME].text, "[memory]") && r->duration.length && !r->uid.length;
    /* The full parse counts spans without a time or a duration. */
    if (r->kind == OTHER && r->phase == 'X' && (~r->seen & (BIT(TS) | BIT(DUR))))
        return false;
    if (r->kind == OTHER && r->seen & SCOPE) /* raw is for one of them, or for the usual scopes */
        return !(r->seen & BIT(RAW))
               && (!r->uid.length || is_word(r->scope, "g") || is_word(r->scope, "t"));
    if (r->kind == OTHER)
        return true;
    if (r->kind == MEMORY)
        return has_text(&r->values[NAME].text, "[memory]") && is_word(r->scope, "t");
    if (r->kind == FLOW)
        return !(r->seen & BIT(BIND)) || has_text(&r->values[BIND].text, "e");
    return !(r->seen & r->categories[r->category].without);
}

/* Append a list of numbers without its spaces. */
static bool append_compact(Bytes *bytes, Token list)
{
    if (!reserve(bytes, list.length))
        return false;
    for (size_t i = 0; i < list.length; i++)
        if (list.at[i] > ' ')
            bytes->data[bytes->length++] = list.at[i];
    return true;
}

/* Put the arguments that no column holds into REST, as an object. */
static bool write_rest(Reader *r)
{
    size_t from = r->beside.length;
    char before = '{';
    for (int i = 0; i < 2 * r->left_count; i++) {
        Token key = r->left[i % r->left_count].key, value = r->left[i % r->left_count].value;
        bool is_mark = !value.length; /* those come first */
        if (is_mark != (i < r->left_count))
            continue;
        if (!append(&r->beside, &before, 1) || !append(&r->beside, "\"", 1)
            || !append(&r->beside, key.at, key.length) || !append(&r->beside, "\":", 2))
            return false;
        if (is_mark)
            value = (Token){"null", 4};
        if (*value.at == '[' ? !append_compact(&r->beside, value)
                             : !append(&r->beside, value.at, value.length))
            return false;
        before = ',';
    }
    if (!append(&r->beside, "}", 1))
        return false;
    r->values[REST].text = view_beside(r, from);
    r->seen |= BIT(REST);
    return true;
}

/* Put the fields that no column holds into RAW. */
static bool write_left(Reader *r)
{
    if (r->kind == MEMORY && r->phase == 'X') /* lasts until the recording ends */
        return write_raw(r, "{\"ph\":\"X\",\"dur\":", r->duration, "}");
    if (r->uid.length) {
        const char *before = r->seen & BIT(BIND)      ? "{\"bp\":\"e\",\"uid\":"
                             : !(r->seen & SCOPE)     ? "{\"uid\":"
                             : is_word(r->scope, "t") ? "{\"s\":\"t\",\"uid\":"
                                                      : "{\"s\":\"g\",\"uid\":";
        return write_raw(r, before, r->uid, "}");
    }
    if (r->kind == OTHER && r->seen & SCOPE)
        return write_raw(r, "{\"s\":\"", r->scope, "\"}");
    return true;
}

static bool write_row(Reader *r)
{
    Kind *kind = &r->kinds[r->kind];
    size_t row = kind->rows;
    if (row == kind->capacity && !grow_rows(kind))
        return false;
    if (r->left_count && !write_rest(r))
        return false;
    if (!write_left(r))
        return false;
    r->values[ID].whole = r->events;
    r->seen |= BIT(ID);
    for (uint64_t left = kind->lists; left; left &= left - 1) {
        Column *column = &kind->columns[lowest(left)];
        column->ends[row + 1] = (int32_t)(column->items.length / width(column->type));
    }
    for (uint64_t left = r->seen & ~(SCOPE | ARGUMENTS | r->unheld); left; left &= left - 1) {
        int i = lowest(left);
        Column *column = &kind->columns[i];
        column->filled++;
        column->valid[row / 8] |= (unsigned char)(1 << row % 8);
        if (kind->lists & BIT(i))
            continue;
        if (width(column->type) == sizeof(View))
            ((View *)column->values)[row] = r->values[i].text;
        else
            ((int64_t *)column->values)[row] = r->values[i].whole;
    }
    kind->rows++;
    return true;
}

bool write_other(Reader *r, const char *text, size_t length)
{
    if (!append(&r->others, text, length))
        return false;
    int32_t end = (int32_t)r->others.length;
    return append(&r->other_ids, &r->events, sizeof r->events)
           && append(&r->other_ends, &end, sizeof end);
}

static void begin_event(Reader *r)
{
    r->stop = GOES_ON;
    r->is_plain = true;
    r->seen = r->unheld = 0;
    r->left_count = 0;
    r->uid.length = 0;
    r->kind = NO_KIND;
    r->phase = 0;
    r->beside_before = r->beside.length;
}

/* Remove what was written for an event that is not plain, or not complete. */
static void forget_values(Reader *r)
{
    r->beside.length = r->beside_before;
    if (r->kind == NO_KIND)
        return;
    Kind *kind = &r->kinds[r->kind];
    for (uint64_t left = r->seen & kind->lists; left; left &= left - 1) {
        Column *column = &kind->columns[lowest(left)];
        column->items.length = column->items_before;
    }
}

/* The event that starts at a brace. It counts if a comma and another event follow, or the bracket
 * that ends the events; returns where that is. */
static const char *read_event(Reader *r, const char *start)
{
    begin_event(r);
    const char *at = skip_space(start + 1);
    const char *after = *at == '}' ? skip_unusual(r, start) : read_members(r, at);
    at = after ? skip_space(after) : NULL;
    if (at && *at == ',') {
        at = skip_space(at + 1);
        at = *at == '{' ? at : stop(r, at, ODD);
    } else if (at && *at != ']') {
        at = stop(r, at, ODD);
    }
    if (!at) {
        forget_values(r);
        return NULL;
    }
    /* Instants are memory records by their name only. */
    uint64_t fields = SCOPE | ARGUMENTS | (BIT(FIRST_ARGUMENT) - 1);
    if (r->kind == MEMORY && !has_text(&r->values[NAME].text, "[memory]") && !(r->seen & ~fields))
        r->kind = OTHER;
    bool is_written;
    if (is_whole_event(r)) {
        is_written = write_row(r);
    } else {
        forget_values(r);
        is_written = write_other(r, start, (size_t)(after - start));
    }
    if (!is_written)
        return stop(r, start, NO_MEMORY);
    r->events++;
    return at;
}

const char *read_events(Reader *r, const char *at)
{
    const char *next = skip_space(at);
    while (next && *next == '{') {
        at = next;
        next = read_event(r, at);
    }
    if (!next)
        return at;
    stop(r, next, ODD);
    return next;
}
