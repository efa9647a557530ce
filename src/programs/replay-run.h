/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A whole replay in this process, and what it came to. */
#ifndef MEMTOP_REPLAY_RUN_H
#define MEMTOP_REPLAY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "files/input.h"
#include "files/trace.h"
#include "replay/allocator.h"
#include "replay/replay.h"

/* So many of the refused lines are remembered. */
#define REPLAY_REFUSED_KEPT 5

#define REPLAY_UNKNOWN_BYTES UINT64_MAX

/* A record: what there is to say at one moment. */
struct replay_record {
    const struct replay_figures *figures;
    struct replay_slop slop;
    uint64_t rss;       /* that the replay has caused; or unknown */
    size_t told_count;
    struct allocator_figure told[ALLOCATOR_FIGURES_MAX]; /* by the allocator */
};

struct replay_setup {
    struct input *input;           /* the log, or what comes from its reader */
    bool parsed; /* it is of struct logalloc_line (replay-trace.h) */
    struct replay_options options; /* its stats and context are not used */
    struct allocator allocator;
    /* Gets the records.  It must not allocate. */
    void (*record)(const struct replay_record *record);
};

/* Plain data: a child process can send it to its parent. */
struct replay_result {
    char allocator[ALLOCATOR_NAME_MAX];
    struct replay_figures figures;
    struct replay_slop end;       /* of the blocks that are live in the end */
    uint64_t wall_ns, cpu_ns;     /* of all of it, reading the log included */
    uint64_t faults;              /* of pages */
    uint64_t rss_peak, rss_end;   /* as in the record */
    struct trace_info read;     /* of a log with a reader: what is missing from it; its
                                   arrays are not there */
    uint64_t refused;             /* lines; */
    struct {                      /* the first ones */
        uint64_t number;
        enum replay_verdict why;
    } kept[REPLAY_REFUSED_KEPT];
};

/* Fills in a record as of now, without a replay: what it needs to be written is
   loaded then. */
void replay_run_record(const struct allocator *allocator, struct replay_record *record);

/* 0; or -errno of reading the log, or -ENOMEM: result is of what came before.  Its read
   is all zero. */
int replay_run(const struct replay_setup *setup, struct replay_result *result);

#endif
