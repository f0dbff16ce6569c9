#include "json.h"

const char *stop(Reader *r, const char *at, Stop why)
{
    r->stop = at >= r->end && why == ODD ? ENDS : why; /* a NUL stands behind the text */
    return NULL;
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The first byte that is a quote, a backslash, a control character or not ASCII. */
static inline const char *plain_text(const char *at, const char *end)
{
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        uint64_t quote = word ^ EACH('"'), slash = word ^ EACH('\\');
        uint64_t found = ((quote - EACH(1)) & ~quote) | ((slash - EACH(1)) & ~slash)
                         | ((word - EACH(' ')) & ~word) | word;
        if (found & EACH(0x80))
            break;
        at += 8;
    }
    while ((unsigned char)*at >= ' ' && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return at;
}

/* One character of more than one byte, as Unicode allows them. */
static const char *wide_character(Reader *r, const char *at)
{
    unsigned char first = (unsigned char)*at, low = 0x80, high = 0xbf;
    int more;
    if (first >= 0xc2 && first <= 0xdf) {
        more = 1;
    } else if (first >= 0xe0 && first <= 0xef) {
        more = 2;
        low = first == 0xe0 ? 0xa0 : low;
        high = first == 0xed ? 0x9f : high;
    } else if (first >= 0xf0 && first <= 0xf4) {
        more = 3;
        low = first == 0xf0 ? 0x90 : low;
        high = first == 0xf4 ? 0x8f : high;
    } else {
        return stop(r, at, ODD);
    }
    for (at++; more; more--, at++) {
        if ((unsigned char)*at < low || (unsigned char)*at > high)
            return stop(r, at, ODD);
        low = 0x80;
        high = 0xbf;
    }
    return at;
}

static const char *four_digits(Reader *r, const char *at, unsigned *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, at++) {
        char c = *at;
        char letter = (char)(c | ' ');
        if (!is_digit(c) && !(letter >= 'a' && letter <= 'f'))
            return stop(r, at, ODD);
        *code = *code << 4 | (unsigned)(is_digit(c) ? c - '0' : letter - 'a' + 10);
    }
    return at;
}

const char *read_escape(Reader *r, const char *at, unsigned *code)
{
    static const char LETTERS[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    if (*at == 'u') {
        at = four_digits(r, at + 1, code);
        if (!at || *code < 0xd800 || *code > 0xdfff)
            return at;
        if (*code > 0xdbff || at[0] != '\\')
            return stop(r, at, ODD);
        if (at[1] != 'u')
            return stop(r, at + 1, ODD);
        unsigned low;
        const char *after = four_digits(r, at + 2, &low);
        if (!after)
            return NULL;
        if (low < 0xdc00 || low > 0xdfff)
            return stop(r, at, ODD);
        *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
        return after;
    }
    const char *letter = *at ? strchr(LETTERS, *at) : NULL;
    if (!letter)
        return stop(r, at, ODD);
    *code = (unsigned char)MEANT[letter - LETTERS];
    return at + 1;
}

const char *scan_string(Reader *r, const char *at, Token *text, bool *has_escapes)
{
    text->at = ++at;
    *has_escapes = false;
    for (;;) {
        at = plain_text(at, r->end);
        if (*at == '"') {
            text->length = (size_t)(at - text->at);
            return at + 1;
        }
        if (*at == '\\') {
            unsigned code;
            *has_escapes = true;
            at = read_escape(r, at + 1, &code);
            if (at && !code)
                r->is_plain = false; /* a NUL in a text */
        } else if ((unsigned char)*at >= 0x80) {
            at = wide_character(r, at);
        } else {
            return stop(r, at, ODD);
        }
        if (!at)
            return NULL;
    }
}

const char *scan_number(Reader *r, const char *at, Number *n)
{
    n->token.at = at;
    n->digits = 0;
    n->decimals = 0;
    n->has_exponent = false;
    n->is_negative = *at == '-';
    at += n->is_negative;
    const char *first = at;
    if (!is_digit(*at))
        return stop(r, at, ODD);
    for (; is_digit(*at); at++)
        n->digits = 10 * n->digits + (uint64_t)(*at - '0');
    if (*first == '0' && at > first + 1)
        return stop(r, first, ODD);
    ptrdiff_t count = at - first;
    if (*at == '.') {
        const char *decimals = ++at;
        if (!is_digit(*at))
            return stop(r, at, ODD);
        for (; is_digit(*at); at++)
            n->digits = 10 * n->digits + (uint64_t)(*at - '0');
        count += at - decimals;
        n->decimals =
            at - decimals > MOST_NUMBER_DIGITS ? MOST_NUMBER_DIGITS : (int)(at - decimals);
    }
    if (*at == 'e' || *at == 'E') {
        long exponent = 0;
        n->has_exponent = true;
        at++;
        bool is_small = *at == '-';
        at += is_small || *at == '+';
        if (!is_digit(*at))
            return stop(r, at, ODD);
        for (; is_digit(*at); at++)
            exponent = exponent > MOST_EXPONENT ? exponent : 10 * exponent + (*at - '0');
        if (!is_small && (exponent > MOST_EXPONENT || count > MOST_EXPONENT_DIGITS))
            return stop(r, first, ODD);
    }
    if (count > MOST_NUMBER_DIGITS)
        return stop(r, first, ODD);
    n->count = (int)count;
    n->token.length = (size_t)(at - n->token.at);
    return at;
}

const char *scan_word(Reader *r, const char *at, const char *expected)
{
    for (; *expected; at++, expected++)
        if (*at != *expected)
            return stop(r, at, ODD);
    return at;
}

const char *scan_key(Reader *r, const char *at, Token *key, bool *has_escapes)
{
    if (*at != '"')
        return stop(r, at, ODD);
    at = scan_string(r, at, key, has_escapes);
    if (!at)
        return NULL;
    at = skip_space(at);
    return *at == ':' ? skip_space(at + 1) : stop(r, at, ODD);
}

const char *scan_value(Reader *r, const char *at)
{
    char closing[MOST_DEPTH];
    int depth = 0;
    Token text;
    Number n;
    bool has_escapes;
    for (;;) {
        switch (*at) {
        case '{':
        case '[':
            if (depth == MOST_DEPTH)
                return stop(r, r->text, ODD);
            closing[depth++] = (char)(*at + 2); /* ASCII has each pair two apart */
            at = skip_space(at + 1);
            if (*at == closing[depth - 1])
                break;
            if (closing[depth - 1] == '}')
                goto key;
            continue;
        case '"':
            at = scan_string(r, at, &text, &has_escapes);
            break;
        case 't':
            at = scan_word(r, at, "true");
            break;
        case 'f':
            at = scan_word(r, at, "false");
            break;
        case 'n':
            at = scan_word(r, at, "null");
            break;
        default:
            at = scan_number(r, at, &n);
        }
        if (!at)
            return NULL;
        for (;;) {
            if (!depth)
                return at;
            at = skip_space(at);
            if (*at != closing[depth - 1])
                break;
            at++;
            depth--;
        }
        if (*at != ',')
            return stop(r, at, ODD);
        at = skip_space(at + 1);
        if (closing[depth - 1] != '}')
            continue;
    key:
        at = scan_key(r, at, &text, &has_escapes);
        if (!at)
            return NULL;
    }
}
