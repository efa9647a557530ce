/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Progress while a long file is read. */
#ifndef MEMTOP_PROGRESS_H
#define MEMTOP_PROGRESS_H

#include <stdint.h>

/* tell() is called now and then: `done` of `all` is read; all is 0 if not known (a
   pipe). */
struct trace_progress {
    void (*tell)(void *context, uint64_t done, uint64_t all);
    void *context;
};

#endif
