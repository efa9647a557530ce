/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How counting starts, in the process and in its children. */
#ifndef MEMTOP_START_H
#define MEMTOP_START_H

#include <stdbool.h>

#include "preload/state.h"

/*
 * Slow path of every wrapper: starts counting if this is the first call, gives a
 * forked child its own segment, wakes a dormant process that is watched.  False:
 * the call must be passed through uncounted.  Keeps errno.
 */
bool mt_wake(void);

/* Must this call be counted?  A wrapper asks once a call: the process may fall asleep
   during it, but whatever depends on the accounting stays as it is. */
static inline bool
mt_counting(void)
{
    return mt_only_counting() || mt_wake();
}

#endif
