/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Watching a run with the display. */
#ifndef MEMTOP_DISPLAY_H
#define MEMTOP_DISPLAY_H

struct run;

enum display_outcome {
    DISPLAY_DONE,  /* the program has ended; a report follows */
    DISPLAY_LEFT,  /* the program runs on without memtop */
    DISPLAY_FAILED /* the display could not start; go on without it */
};

/* Starts the run's program, shows it, and after the display writes what the program has
   printed. *status is 0; if the program could not be started, an error is reported and
   *status is the exit status. */
enum display_outcome display_run(struct run *run, int *status);

#endif
