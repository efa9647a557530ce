/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recorded calls, whatever the file they come from: memtop's own traces
 * (trace-native.h, doc/TRACE), allocation logs (logalloc.h) and tables of events
 * (CSV with the columns t_ms,op,addr,size).  They are read once from beginning to
 * end, from pipes too, in bounded memory, and nothing in them is trusted.
 */
#ifndef MEMTOP_TRACE_H
#define MEMTOP_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/layout.h"
#include "files/input.h"
#include "files/kind.h"
#include "files/progress.h"

struct trace;

/* Kinds that are no calls, beside enum event_kind of segment/layout.h. */
enum trace_kind {
    TRACE_LOST = 64,  /* here size events were not recorded */
    TRACE_BEGAN = 65, /* the process appears; size: bytes live in it already */
    TRACE_ENDED = 66, /* the process is gone, and all its blocks with it */
};

/* No time is later: times may be subtracted from each other. */
#define TRACE_TIME_MAX ((uint64_t)INT64_MAX)

/* Whoever reads passes over kinds that he does not know. */
struct trace_event {
    uint64_t time_ns; /* since the trace began; never back.  Where the source has no
                         time (trace_info.has_time) the number of the event */
    uint64_t address;
    uint64_t size;    /* of a block that goes (FN_FREE, EVENT_REALLOC_FROM): if the
                         source knows it, else 0 */
    uint32_t process; /* index of trace_info.process */
    uint32_t thread;  /* index of trace_process.thread; of calls only */
    uint32_t depth;   /* of the thread's stack; 0 unknown */
    uint8_t kind;     /* enum event_kind: a function of FN_* made a block, FN_FREE;
                         EVENT_REALLOC_FROM, next by that thread _TO, _FREED or _KEPT;
                         or enum trace_kind */
    uint8_t alignment; /* log2 of the alignment asked for; 0: none, or not known */
};

/* A process image: what a process becomes by exec is another one. */
struct trace_process {
    uint64_t pid;    /* 0: not known; of a munged log its number */
    uint64_t parent; /* pid, or 0 */
    uint32_t generation;      /* how many images the process had before */
    uint32_t threads;         /* seen so far */
    const uint64_t *thread;   /* their ids */
    char *program;            /* NULL: not known */
    char *args;               /* args_size bytes, each ended by NUL; or NULL */
    size_t args_size;
    char *allocator;          /* the file that holds it; NULL: not known */
    uint32_t accounting;      /* enum segment_accounting */
    uint64_t began_ns, ended_ns; /* since the trace began; ended 0: not known */
    uint64_t baseline_bytes;  /* live when it began */
    bool ended;
};

/* What is known of the trace so far.  lost and refused count what events do not show;
   names and numbers come with the first event of a process or thread. */
struct trace_info {
    enum file_kind kind;
    bool has_time;            /* else the order alone is known */
    bool has_depth;
    bool sizes_of_freed;      /* blocks that go have their size */
    int64_t began_epoch_ns;   /* CLOCK_REALTIME when it began; 0: not known */
    uint64_t ended_ns;        /* its end, once it is known; else 0 */
    const struct trace_process *process;
    uint32_t processes;
    uint64_t events;          /* handed out, all kinds */
    uint64_t lost;            /* calls known to be missing */
    uint64_t refused;         /* lines that are none */
    uint64_t refused_first;   /* number of the first of them, from 1 */
    bool cut;                 /* at the end: it was not completed */
    uint64_t damaged;         /* bytes that could not be used */
};

/*
 * Opens path, "-" the standard input, and finds out its kind.  progress is told of
 * bytes while it is read; or NULL.  0 and *out, or -errno: -ENOEXEC if it is of another
 * kind, -ENODATA if it is empty, -EPROTONOSUPPORT if it is a later version.
 */
int trace_open(const char *path, const struct trace_progress *progress,
               struct trace **out);

/* The same; *kind is what it is, once it could be read, whether it can be used or not. */
int trace_open_any(const char *path, const struct trace_progress *progress,
                   enum file_kind *kind, struct trace **out);

/* The same of an input of which nothing has been taken, only looked at; it is copied,
   and its descriptor is closed by trace_close(), or by this if it fails. */
int trace_open_input(const struct input *input, struct trace **out);

/* Up to count events, in order; 0 at the end.  -errno: of the read, or -ENOMEM.  What
   is damaged is passed over, and counted. */
long trace_read(struct trace *trace, struct trace_event *events, size_t count);

/* Borrowed; the arrays in it until the next trace_read(). */
const struct trace_info *trace_about(const struct trace *trace);

void trace_close(struct trace *trace);

#endif
