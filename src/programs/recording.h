/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording every call, as the command line asks for it. */
#ifndef MEMTOP_RECORDING_H
#define MEMTOP_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* Call it before the program starts.  Creates the files.  Returns 0, or reports an error
   and returns the exit status. */
int recording_open(struct run *run);

/* Call recording_start() when the program has been started, recording_discard() if it
   could not be started: it removes the files. */
void recording_start(struct run *run);
void recording_discard(struct run *run);

/* Records what has happened.  Returns after how many ns to call it again: 0 at once,
   INT64_MAX if nothing is recorded. run is a struct run. */
int64_t recording_work(void *run);

/* recording_finish() completes the files and reports what is missing from them; calling
   it again does nothing. recording_free() frees everything. */
void recording_finish(struct run *run);
void recording_free(struct run *run);

#endif
