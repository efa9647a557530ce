/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What reader.c and reader-recorder.c share. */
#ifndef MEMTOP_READER_PRIVATE_H
#define MEMTOP_READER_PRIVATE_H

#include "segment/mapping.h"

struct reader {
    struct mapping mapping;
    uint64_t odd_sequence[SHARD_COUNT]; /* seen at the last poll, 0: it was even */
};

#endif
