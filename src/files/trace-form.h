/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between trace.c and the readers of the forms; for nobody else. */
#ifndef MEMTOP_TRACE_FORM_H
#define MEMTOP_TRACE_FORM_H

#include "files/input.h"
#include "files/trace.h"

/* The first line of a table of events. */
#define TRACE_CSV_HEAD "t_ms,op,addr,size"

struct trace_reader {
    /* Makes trace->state and fills in what trace->info can say now.  0 or -errno;
       close() is called after a failure too. */
    int (*open)(struct trace *trace);
    /* As trace_read(); info.events and progress are the caller's business. */
    long (*read)(struct trace *trace, struct trace_event *events, size_t count);
    void (*close)(struct trace *trace);
};

extern const struct trace_reader trace_native, trace_csv, trace_log;

struct trace {
    const struct trace_reader *reader;
    void *state;              /* of the reader */
    struct input input;       /* nothing taken from it before open() */
    struct trace_info info;
    struct trace_process *processes; /* what info.process shows */
    size_t room;
    struct trace_progress progress;
    uint64_t size;            /* of the file; 0 unknown */
};

/* A process more, all zero, or NULL if memory is short.  Its strings and thread ids
   (malloc()) are freed by trace_close(). */
struct trace_process *trace_add_process(struct trace *trace);

/* A thread more, which has threads' former value as its index. */
bool trace_add_thread(struct trace_process *process, uint64_t id);

#endif
