/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run without display. */
#ifndef MEMTOP_BATCH_H
#define MEMTOP_BATCH_H

struct run;

/*
 * Watches the started program until it ends, writing a line an interval if
 * that was asked for.  Returns 0, or the signal for which memtop leaves before
 * the program's end.
 */
int batch_run(struct run *run);

#endif
