/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How far the reading of a long file is. */
#ifndef MEMTOP_PROGRESS_H
#define MEMTOP_PROGRESS_H

#include <stdint.h>

/* Told now and then: done of all, which is 0 if nobody knows (a pipe). */
struct trace_progress {
    void (*tell)(void *context, uint64_t done, uint64_t all);
    void *context;
};

#endif
