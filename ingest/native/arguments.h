/* The arguments of an event. Those that have a column go there, whether under today's key or an
 * older one. The others stay as they are written. */

#pragma once

#include "values.h"

const char *read_arguments(Reader *r, const char *at);
