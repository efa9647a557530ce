/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recorded calls from any kind of file: memtop's own traces (native.h, doc/TRACE),
 * allocation logs (logalloc.h) and tables of events (CSV with the columns
 * t_ms,op,addr,size).  They are read once from beginning to end, also from pipes, in
 * bounded memory, and nothing in them is trusted.
 */
#ifndef MEMTOP_TRACE_H
#define MEMTOP_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/layout.h"
#include "files/input.h"
#include "files/kind.h"

struct trace;

/* Kinds of events that are not calls, in addition to enum event_kind of
   segment/layout.h. */
enum trace_kind {
    TRACE_LOST = 64,  /* `size` events were not recorded here */
    TRACE_BEGAN = 65, /* the process appears; size: bytes that are live already */
    TRACE_ENDED = 66, /* the process has ended, and all its blocks are gone */
};

/* The limit of times, so that their differences do not overflow. */
#define TRACE_TIME_MAX ((uint64_t)INT64_MAX)

/* Readers must ignore unknown kinds. */
struct trace_event {
    uint64_t time_ns; /* since the trace began; never goes back.  If the source has no
                         times (trace_info.has_time), the number of the event */
    uint64_t address;
    uint64_t size;    /* of a freed block (FN_FREE, EVENT_REALLOC_FROM): 0 unless the
                         source knows it */
    uint32_t process; /* index in trace_info.process */
    uint32_t thread;  /* index in trace_process.thread; calls only */
    uint32_t depth;   /* of the thread's stack; 0: not known */
    uint8_t kind;     /* enum event_kind: FN_* that allocate a block, FN_FREE;
                         EVENT_REALLOC_FROM, followed in the same thread by _TO, _FREED
                         or _KEPT; or enum trace_kind */
    uint8_t alignment; /* log2 of the alignment asked for; 0: none, or not known */
};

/* A process image.  By exec a process gets another one. */
struct trace_process {
    uint64_t pid;    /* 0: not known; in a munged log its number */
    uint64_t parent; /* pid, or 0 */
    uint32_t generation;      /* number of earlier images */
    uint32_t threads;         /* seen so far */
    const uint64_t *thread;   /* ids of the threads */
    char *program;            /* NULL: not known */
    char *args;               /* args_size bytes, each argument ends with NUL; or NULL */
    size_t args_size;
    char *allocator;          /* name of its file; NULL: not known */
    uint32_t accounting;      /* enum segment_accounting */
    uint64_t began_ns, ended_ns; /* since the trace began; ended_ns 0: not known */
    uint64_t baseline_bytes;  /* bytes live when it began */
    bool ended;
};

/* What is known of the trace so far. lost and refused count what is not in the events.
   Names and ids arrive with the first event of a process or thread. */
struct trace_info {
    enum file_kind kind;
    bool has_time;            /* otherwise only the order is known */
    bool has_depth;
    bool sizes_of_freed;      /* freed blocks have their sizes */
    int64_t began_epoch_ns;   /* CLOCK_REALTIME at its beginning; 0: not known */
    uint64_t ended_ns;        /* its end; 0: not known yet */
    const struct trace_process *process;
    uint32_t processes;
    uint64_t events;          /* events passed on, of all kinds */
    uint64_t lost;            /* calls known to be missing */
    uint64_t refused;         /* lines that are not calls */
    uint64_t refused_first;   /* number of the first of them, from 1 */
    bool cut;                 /* at the end: the trace was not completed */
    uint64_t damaged;         /* bytes that could not be used */
};

/*
 * Opens path, "-" being the standard input, and finds out its kind. progress, or NULL,
 * is called with bytes while the trace is read.  Returns 0 and sets *out, or -errno:
 * -ENOEXEC for another kind, -ENODATA for an empty file, -EPROTONOSUPPORT for a later
 * version.
 */
int trace_open(const char *path, const struct trace_progress *progress,
               struct trace **out);

/* The same; also sets *kind to the file's kind if it could be read, whether it fits or
   not. */
int trace_open_any(const char *path, const struct trace_progress *progress,
                   enum file_kind *kind, struct trace **out);

/* The same for an input from which nothing was taken yet.  The input is copied;
   trace_close() closes its descriptor, as this function does on failure. */
int trace_open_input(const struct input *input, struct trace **out);

/* Reads up to count events, in order.  Returns their number, 0 at the end, or -errno of
   the read or -ENOMEM.  Damaged parts are skipped and counted. */
long trace_read(struct trace *trace, struct trace_event *events, size_t count);

/* What is known of the trace.  Borrowed; its arrays are valid until the next
   trace_read(). */
const struct trace_info *trace_about(const struct trace *trace);

void trace_close(struct trace *trace);

/* ---- one process of many ---- */

/* Selects the events of one process from a trace of many: the first process, or the one
   with a given pid.  What it becomes by exec belongs to it. */
struct follow {
    uint64_t pid; /* 0: the first process.  The caller sets this and zeroes the rest */
    bool begun;
    uint32_t process; /* its present image */
};

enum followed {
    FOLLOW_OTHER, /* event of another process */
    FOLLOW_NEW,   /* first event of one of its images */
    FOLLOW_ON,    /* another event of the same image */
};

enum followed follow_take(struct follow *follow, const struct trace_info *info,
                          const struct trace_event *event);

#endif
