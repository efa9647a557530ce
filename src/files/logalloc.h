/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads lines of logs, see segment/logline.h.  Old logs have no TID: it is the PID
   then. */
#ifndef MEMTOP_LOGALLOC_H
#define MEMTOP_LOGALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "segment/logline.h"

enum logalloc_verdict {
    LOGALLOC_GOOD,
    LOGALLOC_MALFORMED, /* not the form of a line; nothing of it is known */
    LOGALLOC_UNKNOWN,   /* no such call; pid and tid are known, as below */
    LOGALLOC_MISFIT,    /* arguments or a result that this call does not have */
};

/*
 * Reads one line without its newline, any bytes; white space around it does not
 * matter.  An allocation without result is good: has_result is false.
 */
enum logalloc_verdict logalloc_parse(const char *text, size_t length,
                                     enum logalloc_form form,
                                     struct logalloc_line *line);

/* What a call does: is it given a block, does it return one? */
bool logalloc_takes_block(enum logalloc_call call);
bool logalloc_returns_block(enum logalloc_call call);

#endif
