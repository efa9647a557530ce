/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text log of all calls, for MALLOC_LOG (segment/logline.h): one line a call,
 * written at once.  The exception to the rules of state.h: it makes system calls
 * and holds a descriptor.  It allocates nothing, holds no lock, keeps errno, raises
 * no signal, and ends silently when it cannot be written any more: the segment has why.
 *
 * Lines tell what happened in an order in which it can have happened: a block that
 * was freed, by free or realloc, is not seen handed out before its going is.
 */
#ifndef MEMTOP_LOG_H
#define MEMTOP_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/state.h"
#include "segment/logline.h"

/* Where lines go, a descriptor of our own; -1: nowhere. */
HIDDEN extern int mt_log_descriptor;

static inline bool
mt_logging(void)
{
    return unlikely(mt_log_descriptor >= 0);
}

/*
 * Opens the log: TARGET is what MALLOC_LOG says, or NULL.  Up to four digits are an
 * open descriptor, of which a duplicate is made, so that lines never get into what
 * the program opens or puts there later; 0 is no log; all else is the name of a file
 * to append to.  minimal: aligned blocks are logged as memalign.
 */
void mt_log_start(const char *target, bool minimal);

/* After the real call, which returned block or NULL; other as in logline.h. */
void mt_log_made(enum logalloc_call call, size_t other, size_t size, const void *block);

/* Before the real call. */
void mt_log_free(const void *block);

/* Around the real call: what begin returns is for the end. */
struct log_resize;
struct log_resize *mt_log_resize_begin(const void *block);
void mt_log_resize_end(struct log_resize *resize, const void *block, size_t size,
                       const void *result);

/* jemalloc_stats(), after the call. */
void mt_log_stats(void);

#endif
