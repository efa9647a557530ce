/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The layout's lists of functions as tables of names: a function added there has its name
 * everywhere.
 */
#include "config.h"

#include "segment/functions.h"

const char *const report_function_names[FN_COUNT] = {
#define X(id, name) name,
    SEGMENT_FUNCTIONS(X)
#undef X
};

const char *const report_mapping_names[MAPPING_COUNT] = {
#define X(id, name) name,
    SEGMENT_MAPPINGS(X)
#undef X
};
