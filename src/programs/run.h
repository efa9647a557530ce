/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One run of memtop: from the command line to a running, watched program, and to its
   report. */
#ifndef MEMTOP_RUN_H
#define MEMTOP_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "programs/blocklive.h"
#include "programs/options.h"
#include "programs/output.h"
#include "programs/textlog.h"
#include "programs/trigger.h"
#include "system/capture.h"
#include "system/launch.h"
#include "system/preflight.h"
#include "monitor/session.h"
#include "monitor/source.h"
#include "tui/app.h"

/* Opens scripted readings for --source.  Set only by a program for tests.  Returns false
   and sets errno on failure. */
extern bool (*run_open_source)(const char *name, struct session_source *out);

/* One run of memtop. */
struct run {
    const struct options *options;
    struct output output;
    struct preflight preflight;
    struct launched launched;
    struct session *session;
    bool looked;           /* the display has shown the file that was read */
    struct tui_mark mark;  /* from the file that was read, or set in the display */
    struct trigger trigger; /* call trigger_look() after each poll of the session */
    struct record *record; /* record of every call, or NULL */
    bool recorded;         /* record is complete */
    struct blocklive blocks; /* counts of blocks by size */
    struct blocksizes *read_blocks; /* counts from a trace that was read, or NULL */
    struct timeline *timeline; /* values for the picture, at every call, or NULL */
    struct textlog log;    /* text log of every call */
    int64_t started_epoch_ns;
    bool metrics_failed;   /* the last attempt to write them failed, which was reported */
    bool displayed;        /* the display is using the terminal */
};

/*
 * Checks before the program starts what could go wrong: the program's file, output
 * files, the library.  Reports an error and returns the exit status, or returns 0.  A
 * program that can run but not be measured is announced and is no error.
 */
int run_check(struct run *run, const struct options *options);

/* Starts the program and watches it.  If rows is not 0, its terminal output is captured
   on a terminal of that size.  Returns 0, or reports an error and returns the exit
   status. */
int run_start(struct run *run, int rows, int cols);

/* Reports that the program runs on without memtop. */
void run_say_left(const struct run *run);

/* Saves the session and exports its allocation sites, as the options say. capture may be
   NULL. */
void run_save(struct run *run, const struct capture *capture);

/* Writes the report and the picture, as the options say. */
void run_report(struct run *run);

/* Work between two polls: recording, and checking sums against limits. run_work()
   returns after how many ns to call it again; INT64_MAX: never. context: the run. */
bool run_has_work(const struct run *run);
int64_t run_work(void *context);

/* Checks the limits, checks that all output is complete, and frees everything.  Returns
   the exit status: the program's if not 0, otherwise STATUS_OUTPUT if output is missing,
   otherwise that of the limits.  It is 0 for a program left running if nothing else
   failed. */
int run_finish(struct run *run);

/* ---- without the display (batch.c) ---- */

/*
 * Watches the program until it ends; writes a line per interval if asked to.  Returns 0,
 * or the signal for which memtop leaves before the program's end.
 */
int batch_run(struct run *run);

/* ---- with the display (display.c) ---- */

enum display_outcome {
    DISPLAY_DONE,  /* the program has ended; a report follows */
    DISPLAY_LEFT,  /* the program runs on without memtop */
    DISPLAY_FAILED /* the display could not start; go on without it */
};

/* Starts the run's program, shows it, and after the display writes what the program has
   printed. *status is 0; if the program could not be started, an error is reported and
   *status is the exit status. */
enum display_outcome display_run(struct run *run, int *status);

/* ---- the record of every call (recording.c) ---- */

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
