/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The record of every call, as the command line asks for it. */
#ifndef MEMTOP_RECORDING_H
#define MEMTOP_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* Before the program starts: creates its files.  0, or the exit status to
   end with, having said why. */
int recording_open(struct run *run);

/* The program has been started; or was not, and nothing is to be left. */
void recording_start(struct run *run);
void recording_discard(struct run *run);

/* Works off what has come; returns in how many ns to be called again, 0 at
   once, INT64_MAX without a recording.  run is a struct run. */
int64_t recording_work(void *run);

/* The end: completes the files and says what is missing from them, once; then lets go
   of everything. */
void recording_finish(struct run *run);
void recording_free(struct run *run);

#endif
