/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many blocks of each size were live, step by step: kept in a file without a
 * name while a program runs, then written as columns, or asked for to be drawn.
 */
#ifndef MEMTOP_BLOCKLOG_H
#define MEMTOP_BLOCKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/blocksizes.h"
#include "report/blockparams.h"

struct blocklog;

/* Keeps steps in an unlinked file in that directory: 16 bytes each.  Levels are those
   of params' counts if grouped, else the counts.  0 and *out, or -errno. */
int blocklog_new(const char *directory, const struct blockparams *params,
                 struct blocklog **out);
void blocklog_free(struct blocklog *log);

/* Only the sizes at these places (sorted) are kept; none: all of them. */
void blocklog_choose(struct blocklog *log, const uint32_t *places, size_t count);

/* To be set as the watch of the blocks; context is the blocklog. */
blocksizes_watch blocklog_watch;

/* Why steps are missing: -errno, 0 if none are. */
int blocklog_error(const struct blocklog *log);

/* Hands out a size's steps: its level becomes that. */
void blocklog_each(const struct blocklog *log, uint32_t place,
                   void (*take)(void *context, uint64_t time, uint64_t level),
                   void *context);

/* Whether a size's steps are kept, if there were any. */
bool blocklog_has(const struct blocklog *log, uint32_t place);

/* The level no block of a size is at. */
uint64_t blocklog_ground(const struct blocklog *log);

/*
 * Writes DIRECTORY/NAME.EXTENSION of all sizes, pairs of columns, or a file NAME_SIZE
 * each.  No file that exists is touched; of one that fails nothing is left.  0 or
 * -errno.  name gets the file's, with SIZE or * in place of the size if there are
 * several.
 */
struct blocklog_files {
    const struct blockparams *params;
    const char *directory;
    const char *name;   /* base name, without extension */
};
int blocklog_write(const struct blocklog *log, const struct blocksizes *blocks,
                   const struct blocklog_files *files);

/* Before there is anything to write: 0, or why it cannot be written, -errno, with path
   saying what.  Of one file a size those that are there already are looked for. */
int blocklog_check(const struct blocklog_files *files, char *path, size_t size);

/* The name it writes to, DIRECTORY/NAME.EXTENSION; with several NAME_*. */
void blocklog_name(const struct blocklog_files *files, char *path, size_t size);

#endif
