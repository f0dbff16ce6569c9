#include "values.h"

#include <math.h>

const char *skip_unusual(Reader *r, const char *at)
{
    r->is_plain = false;
    return scan_value(r, at);
}

static View view(const char *base, int buffer, const char *at, size_t length)
{
    View v = {.length = (int32_t)length};
    if (length <= sizeof v.at.few) {
        memcpy(v.at.few, at, length);
    } else {
        memcpy(v.at.far.first, at, 4);
        v.at.far.buffer = buffer;
        v.at.far.offset = (int32_t)(at - base);
    }
    return v;
}

View view_beside(Reader *r, size_t from)
{
    return view(r->beside.data, BESIDE, r->beside.data + from, r->beside.length - from);
}

View view_in_block(Reader *r, Token token)
{
    return view(r->text, IN_BLOCK, token.at, token.length);
}

/* A text without its escapes. */
static bool unescaped(Reader *r, Token text, View *value)
{
    size_t from = r->beside.length;
    if (!reserve(&r->beside, text.length))
        return false;
    char *to = r->beside.data + from;
    for (const char *at = text.at, *end = text.at + text.length; at < end;) {
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        unsigned code;
        at = read_escape(r, at + 1, &code);
        if (code < 0x80) {
            *to++ = (char)code;
        } else if (code < 0x800) {
            *to++ = (char)(0xc0 | code >> 6);
            *to++ = (char)(0x80 | (code & 0x3f));
        } else if (code < 0x10000) {
            *to++ = (char)(0xe0 | code >> 12);
            *to++ = (char)(0x80 | (code >> 6 & 0x3f));
            *to++ = (char)(0x80 | (code & 0x3f));
        } else {
            *to++ = (char)(0xf0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3f));
            *to++ = (char)(0x80 | (code >> 6 & 0x3f));
            *to++ = (char)(0x80 | (code & 0x3f));
        }
    }
    r->beside.length = (size_t)(to - r->beside.data);
    *value = view_beside(r, from);
    return true;
}

const char *read_text(Reader *r, const char *at, View *value)
{
    Token text;
    bool has_escapes;
    if (*at != '"')
        return skip_unusual(r, at);
    at = scan_string(r, at, &text, &has_escapes);
    if (!at)
        return NULL;
    if (!has_escapes)
        *value = view_in_block(r, text);
    else if (!unescaped(r, text, value))
        return stop(r, at, NO_MEMORY);
    return at;
}

static const char *read_number(Reader *r, const char *at, Number *n)
{
    if (*at == '-' || is_digit(*at))
        return scan_number(r, at, n);
    *n = (Number){.has_exponent = true}; /* no whole number, nor any other */
    return skip_unusual(r, at);
}

const char *read_whole(Reader *r, const char *at, Number *n)
{
    at = read_number(r, at, n);
    if (at && !is_whole(n))
        r->is_plain = false;
    return at;
}

const char *read_time(Reader *r, const char *at, uint64_t most, int64_t *ns)
{
    static const unsigned SCALE[] = {1000, 100, 10, 1};
    Number n;
    at = read_number(r, at, &n);
    if (!at)
        return NULL;
    if (n.has_exponent || n.decimals > 3 || n.count > MOST_DIGITS
        || n.digits > most / SCALE[n.decimals])
        r->is_plain = false;
    else
        *ns = signed_digits(&n) * (int64_t)SCALE[n.decimals];
    return at;
}

const char *read_decimal(Reader *r, const char *at, double *value)
{
    static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    Number n;
    at = read_number(r, at, &n);
    if (!at || !r->is_plain)
        return at;
    if (!n.has_exponent && n.count <= MOST_DIGITS && n.digits <= BIT(53) && n.decimals <= 22) {
        /* Both are exact, so the quotient is rounded once. */
        *value = (double)n.digits / POWERS[n.decimals];
        if (n.is_negative)
            *value = -*value;
    } else if (r->is_point) {
        *value = strtod(n.token.at, NULL);
    } else {
        r->is_plain = false;
    }
    if (r->is_plain && fabs(*value) >= r->bounds.decimal)
        r->is_plain = false;
    return at;
}

const char *read_flag(Reader *r, const char *at, int64_t *value)
{
    *value = *at == 't';
    return *at == 't'   ? scan_word(r, at, "true")
           : *at == 'f' ? scan_word(r, at, "false")
                        : skip_unusual(r, at);
}

const char *read_shape(Reader *r, const char *at, View *value)
{
    const char *start = at;
    size_t from = r->beside.length;
    int depth = 0;
    Number n;
    if (*at != '[')
        return skip_unusual(r, at);
    do {
        /* At a bracket, or where a number should be. */
        if (*at == '[') {
            if (++depth == MOST_DEPTH)
                return skip_unusual(r, start);
            if (!append(&r->beside, at, 1))
                return stop(r, at, NO_MEMORY);
            at = skip_space(at + 1);
            if (*at != ']')
                continue;
        } else if (*at == '-' || is_digit(*at)) {
            at = scan_number(r, at, &n);
            if (!at)
                return NULL;
            if (!is_whole(&n))
                return skip_unusual(r, start);
            if (!append(&r->beside, n.token.at, n.token.length))
                return stop(r, at, NO_MEMORY);
            at = skip_space(at);
        } else {
            return skip_unusual(r, start);
        }
        for (; *at == ']' && depth; depth--) {
            if (!append(&r->beside, at, 1))
                return stop(r, at, NO_MEMORY);
            at = depth == 1 ? at + 1 : skip_space(at + 1);
        }
        if (depth) {
            if (*at != ',')
                return skip_unusual(r, start);
            if (!append(&r->beside, at, 1))
                return stop(r, at, NO_MEMORY);
            at = skip_space(at + 1);
        }
    } while (depth);
    *value = view_beside(r, from);
    return at;
}

const char *read_list(Reader *r, const char *at, Column *column)
{
    const char *start = at;
    if (*at != '[')
        return skip_unusual(r, at);
    at = skip_space(at + 1);
    if (*at == ']')
        return at + 1;
    for (;;) {
        bool was_added;
        if (column->type == TEXTS) {
            View text;
            if (*at != '"')
                return skip_unusual(r, start);
            at = read_text(r, at, &text);
            was_added = !at || append(&column->items, &text, sizeof text);
        } else {
            Number n;
            at = read_whole(r, at, &n);
            int64_t value = signed_digits(&n);
            r->is_plain = r->is_plain && fits(column, value);
            was_added = !at || append(&column->items, &value, sizeof value);
        }
        if (!at)
            return NULL;
        if (!was_added)
            return stop(r, at, NO_MEMORY);
        at = skip_space(at);
        if (*at == ']')
            return at + 1;
        if (*at != ',')
            return stop(r, at, ODD);
        at = skip_space(at + 1);
    }
}

const char *read_list_in_text(Reader *r, const char *at, Column *column)
{
    Token text;
    bool has_escapes;
    if (*at != '"')
        return skip_unusual(r, at);
    const char *after = scan_string(r, at, &text, &has_escapes);
    if (!after)
        return NULL;
    const char *end = text.at + text.length - 1;
    at = text.at;
    bool is_read = text.length >= 2 && *at == '[' && *end == ']';
    at++;
    for (bool is_first = true; is_read && at < end; is_first = false) {
        Number n;
        if (!is_first) {
            is_read = at[0] == ',' && at[1] == ' ';
            at += 2;
        }
        if (is_read && (*at == '-' || is_digit(*at))) {
            at = scan_number(r, at, &n);
            if (!at) { /* the text is sound all the same */
                r->stop = GOES_ON;
                is_read = false;
            } else {
                int64_t value = signed_digits(&n);
                is_read = is_whole(&n) && fits(column, value);
                if (!append(&column->items, &value, sizeof value))
                    return stop(r, at, NO_MEMORY);
            }
        } else {
            is_read = false;
        }
    }
    if (!is_read || at != end)
        r->is_plain = false;
    return after;
}
