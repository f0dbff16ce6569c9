/* The values of columns, one function for each type. An event with a value of another form is not
 * plain; that value is only checked to be JSON. */

#pragma once

#include "json.h"

/* Check that a value is JSON; it makes the event not plain. */
const char *skip_unusual(Reader *r, const char *at);

/* What was appended to `beside` from this position on. */
View view_beside(Reader *r, size_t from);

View view_in_block(Reader *r, Token token);

const char *read_text(Reader *r, const char *at, View *value);

/* Whether a number is written as a whole number that 64 bits hold. */
static inline bool is_whole(const Number *n)
{
    return !n->has_exponent && !n->decimals && n->count <= MOST_DIGITS && n->digits <= INT64_MAX
           && !(n->is_negative && !n->digits);
}

static inline int64_t signed_digits(const Number *n)
{
    return (int64_t)(n->is_negative ? 0 - n->digits : n->digits);
}

const char *read_whole(Reader *r, const char *at, Number *n);

/* Microseconds with three decimals at most, in nanoseconds. */
const char *read_time(Reader *r, const char *at, uint64_t most, int64_t *ns);

const char *read_decimal(Reader *r, const char *at, double *value);

const char *read_flag(Reader *r, const char *at, int64_t *value);

/* Nested lists of whole numbers, without the spaces. */
const char *read_shape(Reader *r, const char *at, View *value);

static inline bool fits(const Column *column, int64_t value)
{
    return value >= column->low && value <= column->high;
}

const char *read_list(Reader *r, const char *at, Column *column);

/* A text like "[0, 1]", which is how the profiler writes some lists. */
const char *read_list_in_text(Reader *r, const char *at, Column *column);
