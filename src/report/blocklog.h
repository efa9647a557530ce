/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many blocks of each size were live, step by step.  Steps are kept in an unnamed
 * file while a program runs, then written as columns, or read to be drawn.
 */
#ifndef MEMTOP_BLOCKLOG_H
#define MEMTOP_BLOCKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/blocksizes.h"
#include "report/blockparams.h"

struct blocklog;

/* Keeps steps in an unlinked file in that directory, 16 bytes each.  Levels are those of
   params' counts if grouped, otherwise the counts themselves.  Returns 0 and *out, or
   -errno. */
int blocklog_new(const char *directory, const struct blockparams *params,
                 struct blocklog **out);
void blocklog_free(struct blocklog *log);

/* Keeps only the sizes with these indices (sorted); if there are none, all. */
void blocklog_choose(struct blocklog *log, const uint32_t *places, size_t count);

/* To be set as the watch of the blocks, with the blocklog as context. */
blocksizes_watch blocklog_watch;

/* Returns the -errno for which steps are missing, 0 if none are. */
int blocklog_error(const struct blocklog *log);

/* Calls take for each of a size's steps: at time its level becomes level. */
void blocklog_each(const struct blocklog *log, uint32_t place,
                   void (*take)(void *context, uint64_t time, uint64_t level),
                   void *context);

/* Are a size's steps kept, if there were any? */
bool blocklog_has(const struct blocklog *log, uint32_t place);

/* Returns the level for no blocks of a size. */
uint64_t blocklog_ground(const struct blocklog *log);

/*
 * Writes DIRECTORY/NAME.EXTENSION for all sizes, as pairs of columns, or a file NAME_SIZE
 * each.  No existing file is touched, and a file that failed is removed.  Returns 0 or
 * -errno.  name gets the file's name, with SIZE or * instead of the size if there are
 * several.
 */
struct blocklog_files {
    const struct blockparams *params;
    const char *directory;
    const char *name;   /* base name, without extension */
};
int blocklog_write(const struct blocklog *log, const struct blocksizes *blocks,
                   const struct blocklog_files *files);

/* Checks before there is anything to write: returns 0, or -errno with the path that
   cannot be written.  With one file per size, existing ones are searched for. */
int blocklog_check(const struct blocklog_files *files, char *path, size_t size);

/* The name it writes to, DIRECTORY/NAME.EXTENSION, or NAME_* if there are several. */
void blocklog_name(const struct blocklog_files *files, char *path, size_t size);

#endif
