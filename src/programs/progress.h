/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A line that tells how far the reading of a file is; only on a terminal, and only if
   it takes a while. */
#ifndef MEMTOP_APP_PROGRESS_H
#define MEMTOP_APP_PROGRESS_H

#include <stdint.h>

struct progress {
    const char *path;
    int64_t since_ns; /* < 0: no terminal */
    int shown;        /* percent, < 0 not yet */
};

void progress_begin(struct progress *progress, const char *path);

/* Of all (0: nobody knows) so much is read.  context is the struct progress. */
void progress_tell(void *context, uint64_t done, uint64_t all);

/* Takes the line away. */
void progress_end(const struct progress *progress);

#endif
