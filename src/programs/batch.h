/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Watching a run without a display. */
#ifndef MEMTOP_BATCH_H
#define MEMTOP_BATCH_H

struct run;

/*
 * Watches the program until it ends; writes a line per interval if asked to.  Returns 0,
 * or the signal for which memtop leaves before the program's end.
 */
int batch_run(struct run *run);

#endif
