/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the command line to a running, watched program, and to its report. */
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

/* Opens made-up readings for --source; only a program for tests sets it.  False and
   errno. */
extern bool (*run_open_source)(const char *name, struct session_source *out);

/* One run of memtop. */
struct run {
    const struct options *options;
    struct output output;
    struct preflight preflight;
    struct launched launched;
    struct session *session;
    bool looked;           /* at what was read, in the display */
    struct tui_mark mark;  /* of what was read, or set in the display */
    struct trigger trigger; /* to be looked at after each poll of the session */
    struct record *record; /* of every call, or NULL */
    bool recorded;         /* it is complete */
    struct blocklive blocks; /* counted by size */
    struct blocksizes *read_blocks; /* of a trace that was read, or NULL */
    struct timeline *timeline;      /* of every call, for the picture, or NULL */
    struct textlog log;    /* of every call, as text */
    int64_t started_epoch_ns;
    bool metrics_failed;   /* to be written, the last time, and said so */
    bool displayed;        /* the terminal is the display's */
};

/*
 * What can be wrong before the program starts: its file, the output's, the
 * library.  Says it, and returns 0 or the exit status to end with; a program
 * that runs but cannot be observed is announced and is not wrong.
 */
int run_check(struct run *run, const struct options *options);

/* Starts the program, its terminal output captured on a terminal of so many
   rows and columns if rows is not 0, and watches it.  Returns 0 or the exit
   status, having said why. */
int run_start(struct run *run, int rows, int cols);

/* Says that the program runs on without memtop. */
void run_say_left(const struct run *run);

/* Saves the session and exports its allocation sites, as the options ask for it;
   capture may be NULL. */
void run_save(struct run *run, const struct capture *capture);

/* The report and the picture, as the options ask for them. */
void run_report(struct run *run);

/* What is to be done between two polls: recording, looking at sums.  How soon to call
   again, in ns; INT64_MAX: never, there is nothing.  context: the run. */
bool run_has_work(const struct run *run);
int64_t run_work(void *context);

/* Judges the budget, looks whether all files are whole, and frees everything.  The exit
   status: the program's if it failed, else STATUS_OUTPUT if a file is not whole, else the
   budget's, else 0, also for a program that was left running. */
int run_finish(struct run *run);

#endif
