/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run with the display. */
#ifndef MEMTOP_DISPLAY_H
#define MEMTOP_DISPLAY_H

struct run;

enum display_outcome {
    DISPLAY_DONE,  /* the program has ended: report */
    DISPLAY_LEFT,  /* it runs on, without memtop */
    DISPLAY_FAILED /* there was no display: go on as without */
};

/* Starts the program of the run, shows it, and when the display ends prints
   what the program printed meanwhile.  *status is the exit status if it could
   not be started, which has been said, else 0. */
enum display_outcome display_run(struct run *run, int *status);

#endif
