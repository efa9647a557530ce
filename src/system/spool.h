/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps bytes in an unlinked temporary file: the first half of its capacity and the
 * latest half; what lies between is dropped and counted.
 */
#ifndef MEMTOP_SPOOL_H
#define MEMTOP_SPOOL_H

#include <stddef.h>
#include <stdint.h>

struct spool;

/* room is the capacity in bytes, at least 2.  Returns NULL if memory is short; without a
   file everything is dropped. */
struct spool *spool_new(uint64_t room);
void spool_free(struct spool *spool);

void spool_append(struct spool *spool, const char *bytes, size_t count);

/* Gives everything kept, in order, to write; gap is called at the position of what was
   dropped.  Stops at the first nonzero result and returns it. */
struct spool_reader {
    int (*write)(void *context, const char *bytes, size_t count);
    int (*gap)(void *context, uint64_t bytes);
    void *context;
};
int spool_read(struct spool *spool, const struct spool_reader *reader);

#endif
