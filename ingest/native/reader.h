/* The state of a reader: the columns of each kind of event, the block that it reads, and the event
 * that it is at. */

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Why reading stopped: the text ended, it is not JSON or no event follows, a category is not known
 * yet, or memory ran out. */
typedef enum { GOES_ON, ENDS, ODD, CATEGORY, NO_MEMORY } Stop;

/* The kinds of events that have plain ones. KIND_NAMES are their names in event_kinds.sql. */
enum { HOST, DEVICE, MEMORY, FLOW, OTHER, KINDS, NO_KIND = KINDS };

extern const char *const KIND_NAMES[KINDS];

/* What a column holds and how the file writes it: whole numbers, doubles, true and false as 1 and
 * 0, texts, nested lists of whole numbers as compact JSON, lists of whole numbers, lists of texts,
 * lists of whole numbers that the file writes as a text. NO_TYPE: it holds nothing. */
typedef enum { WHOLE, DECIMAL, FLAG, TEXT, SHAPE, WHOLES, TEXTS, WHOLES_AS_TEXT, NO_TYPE } Type;

/* The columns that every kind has. Those of its arguments follow. */
enum { ID, PHASE, RAW_CATEGORY, NAME, PID, TID, TS, DUR, FLOW_ID, BIND, REST, RAW, FIRST_ARGUMENT };

typedef struct {
    const char *name; /* as in event_kinds.sql */
    Type type;
} Field;

extern const Field FIELDS[FIRST_ARGUMENT];

/* What an event has is one bit each: its columns, the scope of an instant, any arguments. */
#define BIT(n) ((uint64_t)1 << (n))
#define MOST_COLUMNS 62
#define SCOPE BIT(62)
#define ARGUMENTS BIT(63)

/* What a plain event of each kind must have, and what else it may have. */
extern const uint64_t MUST[KINDS], MAY[KINDS];

#define MOST_CATEGORIES 256

typedef struct {
    char *data;
    size_t length, capacity;
} Bytes;

/* A string view of Arrow: the bytes of a short string, or where those of a long one are. */
typedef struct {
    int32_t length;
    union {
        char few[12];
        struct {
            char first[4];
            int32_t buffer, offset;
        } far;
    } at;
} View;

/* The buffers that views point into: the block, and beside it the texts that are not in the block
 * as they are meant, e.g. those with escapes. */
enum { IN_BLOCK, BESIDE };

typedef union {
    int64_t whole;
    double decimal;
    View text;
} Value;

typedef struct {
    const char *at;
    size_t length;
} Token;

typedef struct {
    Type type;
    char *key;
    size_t key_length;
    int64_t low, high;   /* an event with a value beyond these is not plain */
    int64_t least, most; /* a value beyond these stays in REST */
    int into;            /* this column, or the one that this older key fills */
    int follows;         /* the column whose key came after this one's the last time */
    size_t filled;       /* rows that have a value */
    void *values;
    unsigned char *valid;
    int32_t *ends; /* of lists, for rows + 1 */
    Bytes items;
    size_t items_before; /* the length of items before this event */
} Column;

typedef struct {
    Column *columns;
    int count, first;
    uint64_t lists; /* the columns that are lists */
    size_t rows, capacity;
} Kind;

typedef struct {
    char *word;
    size_t length;
    int kind;
    uint64_t without; /* columns that a plain event of this category leaves empty */
} Category;

/* The largest values of plain events, of either sign: see event_bounds in event_kinds.sql. */
typedef struct {
    uint64_t time_ns, duration_ns;
    double decimal;
} Bounds;

typedef struct {
    Kind kinds[KINDS];
    Bounds bounds;
    Category categories[MOST_CATEGORIES];
    int category_count, last_category;
    int64_t events; /* the position of the next one in the file */
    Bytes beside, others, other_ids, other_ends;
    bool is_point; /* the locale writes decimals with a dot, so strtod can be used */

    /* The block, and the event that is being read. */
    const char *text, *end;
    Stop stop;
    bool is_plain;
    uint64_t seen;
    int kind, category;
    char phase;
    size_t beside_before;
    Value values[MOST_COLUMNS];
    uint64_t unheld; /* columns that cannot hold their value */
    struct {
        Token key, value; /* without a value: a column has it, under today's key */
    } left[MOST_COLUMNS]; /* the arguments that go to REST */
    int left_count;
    Token scope, unknown;
    Token duration; /* as written; empty if the phase comes behind it */
    Token uid; /* the number that torch._inductor.profiler writes into each event; empty for none */
} Reader;

/* Make room for the rows of another block. */
void clear_rows(Reader *r);

bool grow_rows(Kind *kind);

void free_buffers(Reader *r);

bool grow(Bytes *bytes, size_t wanted);

/* The functions in these headers are called for every value or byte. */

static inline bool reserve(Bytes *bytes, size_t more)
{
    size_t wanted = bytes->length + more;
    return wanted <= bytes->capacity || grow(bytes, wanted);
}

static inline bool append(Bytes *bytes, const void *data, size_t length)
{
    if (!reserve(bytes, length))
        return false;
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
    return true;
}

static inline bool is_list(Type type)
{
    return type == WHOLES || type == TEXTS || type == WHOLES_AS_TEXT;
}

static inline size_t width(Type type)
{
    return type == TEXT || type == SHAPE || type == TEXTS ? sizeof(View) : sizeof(int64_t);
}

/* The position of the lowest bit. */
static inline int lowest(uint64_t bits)
{
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int position = 0;
    for (; !(bits & 1); bits >>= 1)
        position++;
    return position;
#endif
}
