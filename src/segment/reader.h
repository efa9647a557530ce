/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a segment.  Nothing in it is trusted: sizes and offsets must be exactly those of
 * this version, every sum saturates, a truncated file (SIGBUS) is an error like any
 * other, and strings are NUL-terminated (but unsanitised: see base/textwidth.h before
 * printing them to a terminal).
 */
#ifndef MEMTOP_READER_H
#define MEMTOP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/layout.h"

struct reader;

/* Identity of the process image; constant once state has left SEGMENT_PREPARED. */
struct identity {
    enum segment_state state;
    enum segment_origin origin;
    enum segment_accounting accounting;
    enum segment_reason reason;
    uint32_t flags;              /* SEGMENT_FLAG_* */
    enum sites_state sites_state; /* at that time; see sites_state() */
    pid_t pid;                   /* in the process's own pid namespace */
    pid_t parent;
    pid_t keeper;                /* the memtop that unlinks it, or 0 */
    uint64_t pid_namespace;      /* inode, 0 if unknown */
    uint32_t generation;         /* of exec, from 0 */
    uint64_t created_ns;         /* CLOCK_MONOTONIC */
    uint64_t created_boottime_ns;
    char allocator[SEGMENT_ALLOCATOR_LEN];
    char program[SEGMENT_PROGRAM_LEN];
    char options[SEGMENT_OPTIONS_LEN];
    size_t args_size;            /* bytes of args, each argument ends in NUL */
    bool args_cut;
    char args[SEGMENT_ARGS_LEN];
};

/* Cumulative counters of the whole process and what is derived from them. */
struct snapshot {
    uint64_t calls[FN_COUNT];
    uint64_t bytes[FN_COUNT];         /* successful calls only; see layout.h */
    uint64_t failed[FN_COUNT];
    uint64_t failed_bytes[FN_COUNT];
    uint64_t realloc_inplace;         /* memusage's nomove */
    uint64_t realloc_dec;
    uint64_t realloc_freed;           /* memusage's free: in the realloc row */
    uint64_t free_null;
    uint64_t unmatched;
    uint64_t not_counted;             /* allocations of blocks that are not counted, for
                                         want of memory for their sizes */
    uint64_t mapping_calls[MAPPING_COUNT];
    uint64_t mapping_bytes[MAPPING_COUNT];
    uint64_t mapping_failed[MAPPING_COUNT];
    uint64_t mremap_inplace;
    uint64_t mremap_dec;

    uint64_t live_bytes;              /* baseline + allocated - freed, >= 0 */
    uint64_t live_blocks;
    uint64_t usable_bytes;            /* usable bytes of the live blocks */
    uint64_t mapped_bytes;            /* part of it in blocks with mappings of their own;
                                         glibc with requested sizes only */
    uint64_t total_bytes;             /* ever allocated, without failed calls */
    uint64_t peak_bytes;              /* >= live_bytes */
    uint64_t stack_now;               /* deepest of the live threads */
    uint64_t stack_peak;
    uint64_t threads;                 /* have called and not ended */
    uint64_t threads_started;
    uint64_t threads_merged;          /* that shared shards because all were taken */
    unsigned torn;                    /* number of shards stuck inside an update */
    unsigned inconsistent;            /* of shards whose figures may mix two calls: their
                                         threads were inside an update all the time */
    uint64_t updates_left;            /* by jumps out of signal handlers: a part of what
                                         they were to count may be missing */

    /* Blocks of the program's own pools (memprof(3)), not included in other figures. */
    uint64_t custom_made;
    uint64_t custom_made_bytes;
    uint64_t custom_freed;
    uint64_t custom_freed_bytes;
    uint64_t custom_unmatched;        /* reported as freed, but unknown */
    uint64_t custom_live;
    uint64_t custom_live_bytes;
    uint64_t profile_lost;            /* program's own profiles: samples for which there
                                         was no space */

    /* A dormant process counts only while it is watched (control.h): what it does in
       between is in no counter.  In other processes wakes is 0. */
    bool asleep;                      /* now */
    uint32_t wakes;                   /* awake periods so far */
    uint64_t awake_since_ns;          /* since created_ns: live_* count blocks made since
                                         then; with usable accounting at least that
                                         many */
};

/* What the image executed (layout.h, struct segment_exec). */
struct executed {
    bool replaced;               /* the process itself called exec: without a newer
                                    segment, what runs now, or ran last, is not
                                    measured */
    bool preload_removed;        /* the new environment does not preload the library */
    char path[EXEC_PATH_LEN];    /* what it executed, as named in the call; "" unknown */
    uint64_t spawned;            /* programs executed by children without a segment */
    struct {
        pid_t pid;               /* in the process's own pid namespace; 0: none */
        char name[EXEC_NAME_LEN];
    } recent[EXEC_RECENT];       /* the latest of these */
};

/* Does the program report its pools? */
static inline bool
snapshot_has_custom(const struct snapshot *snapshot)
{
    return (snapshot->custom_made | snapshot->custom_freed | snapshot->custom_live
            | snapshot->custom_unmatched) != 0;
}

/* Blocks by size.  allocated: every call that allocates, including failed ones and
   reallocs (memusage's histogram), by cell.  live: blocks alive now, by coarse bucket. */
struct histogram {
    uint64_t allocated[HISTOGRAM_CELLS];
    uint64_t live[HISTOGRAM_COARSE];
};

/* One thread that has called and has not ended.  Threads that owned its shard before are
   included in calls and bytes; owners is how many there were, with this one. */
struct thread_counters {
    pid_t tid;                   /* in the process's own pid namespace */
    unsigned owners;
    uint64_t calls;
    uint64_t allocated;          /* bytes */
    uint64_t freed;
    uint64_t stack_now;          /* at the last call; 0 if on another stack */
    uint64_t stack_peak;
    uint64_t stack_limit;        /* size of the stack, 0 unknown */
    uint64_t stack_base;         /* address where it begins, 0 unknown */
    unsigned place;              /* index of its shard, from 1 */
};

/* A period of the flight recorder; times are ns since created_ns. */
struct recorded {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t calls;
    uint64_t heap_last;
    uint64_t heap_max;
    uint64_t stack_max;
    bool asleep;     /* nothing was measured: all figures are 0 */
};

/*
 * Opens the segment PATH, which must be a regular file owned by one of the uids
 * owner_real and owner_effective, of the right size and version.  Returns 0 and *out
 * (close with reader_close), or -errno: -EPROTO not a segment, -EPROTONOSUPPORT another
 * version, -EMSGSIZE cut short, -EPERM another owner, otherwise open's errors.
 */
int reader_open(const char *path, uid_t owner_real, uid_t owner_effective,
                struct reader **out);
void reader_close(struct reader *reader);

/* Each returns 0, -EMSGSIZE if the file was cut short meanwhile, or -EPROTO if its header
   now makes no sense.  reader_state reads the state alone. */
int reader_state(struct reader *reader, enum segment_state *state);
int reader_identity(struct reader *reader, struct identity *identity);
int reader_snapshot(struct reader *reader, struct snapshot *snapshot);
int reader_histogram(struct reader *reader, struct histogram *histogram);

int reader_executed(struct reader *reader, struct executed *executed);

/* The errno with which the process's text log ended; 0 if it did not. */
int reader_log_error(struct reader *reader, int *error);

/* The process's last sign of life, in ns since created_ns: its exit(), otherwise the end
   of the last recorder slot in which it called; 0 unknown. */
int reader_life(struct reader *reader, uint64_t *life_ns);

/* The threads, at most capacity of them; *count is how many there are. */
int reader_threads(struct reader *reader, struct thread_counters *out, size_t capacity,
                   size_t *count);

/* The flight recorder, oldest first, each time once and at the finest grain kept.  *out
   is malloc'ed (caller frees); *count may be 0. */
int reader_recorded(struct reader *reader, struct recorded **out, size_t *count);

/*
 * The newest slots of the recorder that end after since_ns, oldest first, at most
 * capacity (older ones are left out) and never more than 512 at the finest grain.  The
 * open slot is included if its time was over at now_ns (CLOCK_MONOTONIC), because a
 * program that makes no calls does not close it.  For polling: allocates nothing.
 */
int reader_recent(struct reader *reader, uint64_t since_ns, uint64_t now_ns,
                  struct recorded *out, size_t capacity, size_t *count);

/* One English line, marked for translation, for a segment_reason or a negative error of
   reader_open. */
const char *segment_reason_text(enum segment_reason reason);
const char *reader_error_text(int error);

#endif
