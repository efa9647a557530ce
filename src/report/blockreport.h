/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports by block size: as text, in the words and bytes of the article, as JSON, as
   CSV. */
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
    const char *caption;      /* whose they are; may be of any bytes */
    const char *log_name;     /* of the log file, NULL: it was not asked for */
    const char *log_error;    /* why it could not be written, NULL if it was */
    bool pool;                /* blocks of the program's own pool, not malloc's */
    bool runs;                /* the program goes on: this is a moment of it */
};

/* What the time intervals are counted by: the parameters', or as the article's
   program does, which passes type, factor and base alone.  A count each for itself
   unless they are to be grouped. */
void blockreport_counts(const struct blockparams *params, bool compat,
                        struct counts *counts);

/* The reports params asks for.  Each returns false if memory is short or out
   failed. */
bool blockreport_text(FILE *out, const struct blockreport *report);
bool blockreport_compat(FILE *out, const struct blockreport *report);
bool blockreport_json(FILE *out, const struct blockreport *report);
bool blockreport_csv(FILE *out, const struct blockreport *report);

/* The places of the sizes in the order that sort asks for; by count: of blocks
   live at once if peaks, else of allocations.  blocksizes_count() of them, NULL if
   memory is short; the caller frees it. */
uint32_t *blockreport_order(const struct blocksizes *blocks, enum block_sort sort,
                            bool peaks);

#endif
