/* What a reader of events holds: the columns of each kind of plain events, and where it stands. */

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Where reading stops: the text ends, something is not JSON or nothing to go on from follows, a
 * category is not known yet, memory is out. */
typedef enum { GOES_ON, ENDS, ODD, CATEGORY, NO_MEMORY } Stop;

/* The kinds of events, in the order of plain.KINDS. */
enum { HOST, DEVICE, MEMORY, FLOW, OTHER, KINDS, NO_KIND = KINDS };

/* How a value is written, and what a column holds: whole numbers, doubles, true and false as 1 and
 * 0, texts, nested lists of whole numbers as compact JSON, lists of whole numbers, lists of texts,
 * and the text of a list of whole numbers as a list; nothing. */
typedef enum { WHOLE, DECIMAL, FLAG, TEXT, SHAPE, WHOLES, TEXTS, WHOLES_AS_TEXT, NO_TYPE } Type;

/* The columns that every kind has; those of the arguments follow. */
enum { ID, PHASE, RAW_CATEGORY, NAME, PID, TID, TS, DUR, FLOW_ID, BIND, REST, RAW, FIRST_ARGUMENT };

static const Type FIELD_TYPES[FIRST_ARGUMENT] = {
    [ID] = WHOLE, [PHASE] = TEXT, [RAW_CATEGORY] = TEXT, [NAME] = TEXT, [PID] = TEXT,  [TID] = TEXT,
    [TS] = WHOLE, [DUR] = WHOLE,  [FLOW_ID] = WHOLE,     [BIND] = TEXT, [REST] = TEXT, [RAW] = TEXT,
};

/* What was seen of an event is a bit each: its columns, the scope of an instant, its arguments. */
#define BIT(n) ((uint64_t)1 << (n))
#define MOST_COLUMNS 62
#define SCOPE BIT(62)
#define ARGUMENTS BIT(63)

#define PLACE (BIT(PHASE) | BIT(PID) | BIT(TID) | BIT(TS))
static const uint64_t MUST[KINDS] = {
    [HOST] = PLACE | BIT(RAW_CATEGORY) | BIT(NAME) | BIT(DUR),
    [DEVICE] = PLACE | BIT(RAW_CATEGORY) | BIT(NAME) | BIT(DUR),
    [MEMORY] = PLACE | BIT(NAME) | SCOPE,
    [FLOW] = PLACE | BIT(RAW_CATEGORY) | BIT(FLOW_ID),
    [OTHER] = BIT(PHASE) | BIT(NAME),
};
static const uint64_t MAY[KINDS] = {
    [HOST] = ARGUMENTS,
    [DEVICE] = ARGUMENTS,
    [MEMORY] = ARGUMENTS | BIT(RAW_CATEGORY),
    [FLOW] = BIT(NAME) | BIT(BIND),
    [OTHER] = PLACE | BIT(RAW_CATEGORY) | BIT(DUR) | SCOPE | ARGUMENTS,
};

/* Deeper values are left to others. */
#define MOST_DEPTH 64
/* So many digits always fit 64 bits without a sign. */
#define MOST_DIGITS 19
/* In ns. As is_time in event_kinds.sql has it, less what a double might round up to it; and lengths
 * that a double gives back exactly. */
#define MOST_TIME (UINT64_C(4000000000000000000) - 1000)
#define MOST_LENGTH UINT64_C(1000000000000000)
/* Numbers longer than that, and with larger exponents, may be beyond a double. */
#define MOST_NUMBER_DIGITS 300
#define MOST_EXPONENT_DIGITS 100
#define MOST_EXPONENT 200
#define MOST_CATEGORIES 256

typedef struct {
    char *data;
    size_t length, capacity;
} Bytes;

/* A string of Arrow: its bytes if they are few, else where they stand. */
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

/* Texts stand in the block, or beside it where they were written in another way there. */
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
    int64_t low, high;   /* what fits; else the event is not plain */
    int64_t least, most; /* what the column holds; what is beyond goes to REST */
    int into;            /* this column, or the one that an older key of its fills */
    int follows;         /* the column whose key came after this one's, last time */
    size_t filled;       /* rows */
    void *values;
    unsigned char *valid;
    int32_t *ends; /* of lists: rows + 1 */
    Bytes items;
    size_t items_before; /* this event */
} Column;

typedef struct {
    Column *columns;
    int count, first;
    uint64_t lists; /* a bit for each column that is one */
    size_t rows, capacity;
} Kind;

typedef struct {
    char *word;
    size_t length;
    int kind;
    uint64_t without; /* arguments that an event of this category must not have */
} Category;

typedef struct {
    Kind kinds[KINDS];
    Category categories[MOST_CATEGORIES];
    int category_count, last_category;
    int64_t events; /* the position of the next one in the file */
    Bytes beside, others, other_ids, other_ends;
    bool is_point; /* decimals have a dot: strtod asks the locale */

    /* The block, and the event that is being read. */
    const char *text, *end;
    Stop stop;
    bool is_plain;
    uint64_t seen;
    int kind, category;
    char phase;
    size_t beside_before;
    Value values[MOST_COLUMNS];
    uint64_t unheld; /* columns that cannot hold what was seen for them */
    struct {
        Token key, value; /* without a value: a column has it, under today's key */
    } left[MOST_COLUMNS]; /* what goes to REST */
    int left_count;
    bool is_place_text;
    Token scope, unknown;
} Reader;

static bool reserve(Bytes *bytes, size_t more)
{
    size_t wanted = bytes->length + more;
    if (wanted <= bytes->capacity)
        return true;
    size_t capacity = bytes->capacity ? bytes->capacity : 4096;
    while (capacity < wanted)
        capacity *= 2;
    char *data = realloc(bytes->data, capacity);
    if (!data)
        return false;
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

static bool append(Bytes *bytes, const void *data, size_t length)
{
    if (!reserve(bytes, length))
        return false;
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
    return true;
}

static bool is_list(Type type)
{
    return type == WHOLES || type == TEXTS || type == WHOLES_AS_TEXT;
}

static size_t width(Type type)
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

static bool grow_rows(Kind *kind)
{
    size_t capacity = kind->capacity ? 2 * kind->capacity : 1024;
    for (int i = 0; i < kind->count; i++) {
        Column *column = &kind->columns[i];
        unsigned char *valid = realloc(column->valid, capacity / 8);
        if (!valid)
            return false;
        column->valid = valid;
        memset(valid + kind->capacity / 8, 0, (capacity - kind->capacity) / 8);
        if (is_list(column->type)) {
            int32_t *ends = realloc(column->ends, (capacity + 1) * sizeof *ends);
            if (!ends)
                return false;
            column->ends = ends;
            ends[0] = 0;
        } else {
            size_t size = width(column->type);
            void *values = realloc(column->values, capacity * size);
            if (!values)
                return false;
            column->values = values;
            memset((char *)values + kind->capacity * size, 0, (capacity - kind->capacity) * size);
        }
    }
    kind->capacity = capacity;
    return true;
}

/* Make room for the next block. */
static void clear_rows(Reader *r)
{
    for (Kind *kind = r->kinds; kind < r->kinds + KINDS; kind++) {
        for (Column *column = kind->columns; column < kind->columns + kind->count; column++) {
            if (column->filled) {
                memset(column->valid, 0, (kind->rows + 7) / 8);
                /* Whoever reads views before asking whether there is a value finds sound ones. */
                if (!is_list(column->type))
                    memset(column->values, 0, kind->rows * width(column->type));
            }
            column->filled = column->items.length = 0;
        }
        kind->rows = 0;
    }
    r->beside.length = r->others.length = r->other_ids.length = r->other_ends.length = 0;
}
