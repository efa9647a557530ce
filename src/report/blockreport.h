/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports by block size: as text, exactly as the article's program writes them, as JSON,
   as CSV. */
#ifndef MEMTOP_BLOCKREPORT_H
#define MEMTOP_BLOCKREPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "monitor/blocksizes.h"
#include "report/blockparams.h"

struct blockreport {
    const struct blocksizes *blocks;
    const struct blockparams *params;
    const char *caption;      /* what they are about; may hold any bytes */
    const char *log_name;     /* of the log file; NULL: none was asked for */
    const char *log_error;    /* why it could not be written, NULL if it was */
    bool pool;                /* blocks of the program's own pool, not malloc's */
    bool runs;                /* the program is still running */
};

/* How the time intervals count: by the parameters, or as the article's program does,
   which uses only type, factor and base.  Without grouping each count is separate. */
void blockreport_counts(const struct blockparams *params, bool compat,
                        struct counts *counts);

/* Write the reports that params asks for.  Each returns false if memory is short or out
   failed. */
bool blockreport_text(FILE *out, const struct blockreport *report);
bool blockreport_compat(FILE *out, const struct blockreport *report);
bool blockreport_json(FILE *out, const struct blockreport *report);
bool blockreport_csv(FILE *out, const struct blockreport *report);

/* Returns the indices of the sizes in the order that sort asks for; by count means the
   most blocks live at once if peaks, otherwise allocations.  There are blocksizes_count()
   of them; NULL if memory is short.  The caller frees the array. */
uint32_t *blockreport_order(const struct blocksizes *blocks, enum block_sort sort,
                            bool peaks);

#endif
