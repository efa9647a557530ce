/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a process has live. */
#ifndef MEMTOP_BASELINE_H
#define MEMTOP_BASELINE_H

#include <stdint.h>

#include "segment/layout.h"

struct mt_baseline {
    uint64_t bytes;
    uint64_t blocks;
    uint64_t usable;
    uint64_t mapped;
    uint64_t sizes[HISTOGRAM_COARSE];
    uint64_t custom, custom_bytes;  /* of the program's pools */
};

/* What a child forked now starts with; nothing if the process is asleep. */
void mt_baseline_sum(struct mt_baseline *baseline);

/* The same mod 2^64, even when asleep. */
void mt_live_sum(struct mt_baseline *live);

#endif
