/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a whole replay in this process and measures it. */
#ifndef MEMTOP_REPLAY_RUN_H
#define MEMTOP_REPLAY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "files/input.h"
#include "files/trace.h"
#include "replay/allocator.h"
#include "replay/replay.h"

/* Number of refused lines that are remembered. */
#define REPLAY_REFUSED_KEPT 5

#define REPLAY_UNKNOWN_BYTES UINT64_MAX

/* A record: all figures at one moment. */
struct replay_record {
    const struct replay_figures *figures;
    struct replay_slop slop;
    uint64_t rss;       /* memory resident because of the replay; or unknown */
    size_t told_count;
    struct allocator_figure told[ALLOCATOR_FIGURES_MAX]; /* figures reported by the
                                                            allocator */
};

struct replay_setup {
    struct input *input;           /* a munged log, or the output of a reader process */
    bool parsed; /* input holds struct logalloc_line (replay-trace.h) */
    struct replay_options options; /* its stats and context are ignored */
    struct allocator allocator;
    /* Receives the records.  It must not allocate. */
    void (*record)(const struct replay_record *record);
};

/* The outcome.  Plain data, so that a child process can send it to its parent. */
struct replay_result {
    char allocator[ALLOCATOR_NAME_MAX];
    struct replay_figures figures;
    struct replay_slop end;       /* blocks live at the end */
    uint64_t wall_ns, cpu_ns;     /* total, reading the log included */
    uint64_t faults;              /* page faults */
    uint64_t rss_peak, rss_end;   /* like rss in a record */
    struct trace_info read;     /* if a reader process read the log: what is missing from
                                   it; without its arrays */
    uint64_t refused;             /* number of refused lines */
    struct {                      /* the first ones */
        uint64_t number;
        enum replay_verdict why;
    } kept[REPLAY_REFUSED_KEPT];
};

/* Fills in a record as of now, without a replay.  Calling it once before the replay
   loads all that records need. */
void replay_run_record(const struct allocator *allocator, struct replay_record *record);

/* Returns 0, the -errno of reading the log, or -ENOMEM; *result then describes the part
   before. result->read is all zero. */
int replay_run(const struct replay_setup *setup, struct replay_result *result);

#endif
