/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses lines of logs, see segment/logline.h.  Old logs have no TID; then it is set to
   the PID. */
#ifndef MEMTOP_LOGALLOC_H
#define MEMTOP_LOGALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "segment/logline.h"

enum logalloc_verdict {
    LOGALLOC_GOOD,
    LOGALLOC_MALFORMED, /* does not have the form of a line; nothing is set */
    LOGALLOC_UNKNOWN,   /* no such call; pid and tid are set, as below */
    LOGALLOC_MISFIT,    /* the arguments or the result do not fit this call */
};

/*
 * Parses one line without its newline.  It may hold any bytes; white space around it is
 * ignored.  An allocation without result is good, with has_result false.
 */
enum logalloc_verdict logalloc_parse(const char *text, size_t length,
                                     enum logalloc_form form,
                                     struct logalloc_line *line);

/* Does the call take a block as argument, or return one? */
bool logalloc_takes_block(enum logalloc_call call);
bool logalloc_returns_block(enum logalloc_call call);

#endif
