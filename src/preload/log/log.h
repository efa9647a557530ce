/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text log of all calls, for MALLOC_LOG (segment/logline.h): one line a call, written
 * at once.  It is the exception to the rules of state.h: it makes system calls and holds
 * a descriptor.  It allocates nothing, holds no lock, keeps errno, raises no signal, and
 * ends silently when it can no longer be written; the segment says why.
 *
 * Lines are in an order in which the calls can have happened: a block that was freed, by
 * free or realloc, does not appear as allocated again before the line that frees it.
 */
#ifndef MEMTOP_LOG_H
#define MEMTOP_LOG_H

#include <stdbool.h>

/*
 * Opens the log.  target is the value of MALLOC_LOG, or NULL.  Up to four digits are an
 * open descriptor, which is duplicated, so that lines never get into a file the program
 * opens under that number later; 0 is no log; anything else is the name of a file to
 * append to.  minimal: aligned blocks are logged as memalign.  Attaches the log
 * (hooks.h), if there is one.
 */
void mt_log_start(const char *target, bool minimal);

#endif
