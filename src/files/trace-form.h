/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface between trace.c and the readers of the formats; not for others. */
#ifndef MEMTOP_TRACE_FORM_H
#define MEMTOP_TRACE_FORM_H

#include "files/input.h"
#include "files/trace.h"

/* The first line of a table of events. */
#define TRACE_CSV_HEAD "t_ms,op,addr,size"

struct trace_reader {
    /* Makes trace->state and sets what is known of trace->info.  Returns 0 or -errno;
       close() is called after a failure, too. */
    int (*open)(struct trace *trace);
    /* Like trace_read(), but the caller handles info.events and progress. */
    long (*read)(struct trace *trace, struct trace_event *events, size_t count);
    void (*close)(struct trace *trace);
};

extern const struct trace_reader trace_native, trace_csv, trace_log;

struct trace {
    const struct trace_reader *reader;
    void *state;              /* belongs to the reader */
    struct input input;       /* unread until open() */
    struct trace_info info;
    struct trace_process *processes; /* the same as info.process */
    size_t room;
    struct trace_progress progress;
    uint64_t size;            /* of the file; 0: not known */
};

/* Adds a process, all zero; NULL if memory is short. trace_close() frees its strings and
   thread ids, which must come from malloc(). */
struct trace_process *trace_add_process(struct trace *trace);

/* Adds a thread; its index is the former value of threads.  Returns false if there are
   too many, or memory is short. */
bool trace_add_thread(struct trace_process *process, uint64_t id);

#endif
