#include "reader.h"

const char *const KIND_NAMES[KINDS] = {
    [HOST] = "host", [DEVICE] = "device", [MEMORY] = "memory", [FLOW] = "flow", [OTHER] = "other",
};

const Field FIELDS[FIRST_ARGUMENT] = {
    [ID] = {"event_id", WHOLE}, [PHASE] = {"phase", TEXT}, [RAW_CATEGORY] = {"raw_category", TEXT},
    [NAME] = {"name", TEXT},    [PID] = {"pid", TEXT},     [TID] = {"tid", TEXT},
    [TS] = {"ts_ns", WHOLE},    [DUR] = {"dur_ns", WHOLE}, [FLOW_ID] = {"flow_id", WHOLE},
    [BIND] = {"bind", TEXT},    [REST] = {"args", TEXT},   [RAW] = {"raw", TEXT},
};

#define PLACE (BIT(PHASE) | BIT(PID) | BIT(TID) | BIT(TS))
const uint64_t MUST[KINDS] = {
    [HOST] = PLACE | BIT(RAW_CATEGORY) | BIT(NAME) | BIT(DUR),
    [DEVICE] = PLACE | BIT(RAW_CATEGORY) | BIT(NAME) | BIT(DUR),
    [MEMORY] = PLACE | BIT(NAME) | SCOPE,
    [FLOW] = PLACE | BIT(RAW_CATEGORY) | BIT(FLOW_ID),
    [OTHER] = BIT(PHASE) | BIT(NAME),
};
const uint64_t MAY[KINDS] = {
    [HOST] = ARGUMENTS,
    [DEVICE] = ARGUMENTS,
    [MEMORY] = ARGUMENTS | BIT(RAW_CATEGORY),
    [FLOW] = BIT(NAME) | BIT(BIND),
    [OTHER] = PLACE | BIT(RAW_CATEGORY) | BIT(DUR) | SCOPE | ARGUMENTS,
};

bool grow(Bytes *bytes, size_t wanted)
{
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

bool grow_rows(Kind *kind)
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
void clear_rows(Reader *r)
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

void free_buffers(Reader *r)
{
    for (Kind *kind = r->kinds; kind < r->kinds + KINDS; kind++) {
        for (Column *column = kind->columns; column < kind->columns + kind->count; column++) {
            free(column->key);
            free(column->values);
            free(column->valid);
            free(column->ends);
            free(column->items.data);
        }
        free(kind->columns);
    }
    for (int i = 0; i < r->category_count; i++)
        free(r->categories[i].word);
    free(r->beside.data);
    free(r->others.data);
    free(r->other_ids.data);
    free(r->other_ends.data);
}
