/* Strict JSON. Each function returns the byte after what it reads, or NULL after it set why reading
 * stops. */

#pragma once

#include <stddef.h>

#include "reader.h"

/* Values nested deeper are left to others. */
#define MOST_DEPTH 64
/* So many digits always fit 64 bits without a sign. */
#define MOST_DIGITS 19
/* A number with more digits, or with a larger exponent, may be beyond a double. */
#define MOST_NUMBER_DIGITS 300
#define MOST_EXPONENT_DIGITS 100
#define MOST_EXPONENT 200

/* Set why reading stops; returns NULL. */
const char *stop(Reader *r, const char *at, Stop why);

static inline const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')
        at++;
    return at;
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The character that an escape means, from behind its backslash. */
const char *read_escape(Reader *r, const char *at, unsigned *code);

/* A string, from its opening quote. `text` is what is between the quotes. */
const char *scan_string(Reader *r, const char *at, Token *text, bool *has_escapes);

typedef struct {
    Token token;
    uint64_t digits; /* all of them as one number, if there are MOST_DIGITS at most */
    int count, decimals;
    bool is_negative, has_exponent;
} Number;

const char *scan_number(Reader *r, const char *at, Number *n);

const char *scan_word(Reader *r, const char *at, const char *expected);

/* A key and its colon; what follows is the value. */
const char *scan_key(Reader *r, const char *at, Token *key, bool *has_escapes);

/* Any value: check that it is JSON. */
const char *scan_value(Reader *r, const char *at);
