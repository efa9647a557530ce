/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a file is given for, and which kinds (files/kind.h) fit: one table for all
 * programs, and one message for a file that does not fit.
 *
 *             session  trace  csv  log  munged  dat
 *   show         x       x     x    x     x      x    memtop -r
 *   draw                 x     x    x     x      x    memtopstat's picture
 *   calls                x     x    x     x           --export=csv and so on, --report
 *   sites        x                                    --export=folded and so on
 *   munge                           x                 memtop-munge
 *   replay               x     x    x     x           memtop-replay
 *
 * A data file has neither addresses nor sizes, so its calls can neither be exported nor
 * reported by size.
 */
#ifndef MEMTOP_USES_H
#define MEMTOP_USES_H

#include <stdbool.h>

#include "files/kind.h"

enum file_use { USE_SHOW, USE_DRAW, USE_CALLS, USE_SITES, USE_MUNGE, USE_REPLAY };

bool use_fits(enum file_use use, enum file_kind kind);

/* The file's name in messages; "-" and NULL are the standard input. */
const char *use_name(const char *path);

/* Reports in one line what the file is, why it does not fit, and what could use it.  For
   a kind that fits: that it cannot be read from a pipe. */
void use_refuse(const char *path, enum file_kind kind, enum file_use use);

/* Finds out the file's kind.  Reports an error and returns false if it cannot be read or
   does not fit.  KIND_STREAM is accepted, because its kind is not known yet. */
bool use_file(const char *path, enum file_use use, enum file_kind *kind);

#endif
