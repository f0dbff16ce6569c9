/* The events of a block, read in one pass: plain ones into columns, the texts of others as they
 * are.
 *
 * Nearly every event of a trace holds only keys that have columns, each with a value of the
 * column's type that the column gives back exactly. Those are plain. The text of any other event is
 * passed on to the full parse in SQL, which handles all cases, so nothing here interprets unusual
 * values. Reading stops before what is not strict JSON. */

#pragma once

#include "arguments.h"

/* Add the text of an event that is not plain. */
bool write_other(Reader *r, const char *text, size_t length);

/* Read events as long as one follows another; returns the first byte that was not read. */
const char *read_events(Reader *r, const char *at);
