/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of libmemtop share inside the process.
 *
 * Rules for everything in this folder, because it runs inside every call of malloc of a
 * program that is not ours, from any thread, from signal handlers on small stacks,
 * between fork and exec, before main and after exit:
 *   - nothing is allocated, printed, localised or waited for; no lock is held across a
 *     call-out; errno stays as it was;
 *   - no system call except when a thread or a process starts or ends, when a signal
 *     handler has left a call by a jump, and once for each part of the segment when it
 *     is needed: a page of a shard's cells, a level of the flight recorder, that is each
 *     time it doubles its reach;
 *   - no page of the segment is touched before mt_make_present() has succeeded for it:
 *     if the file system is full that is a SIGBUS;
 *   - libc functions only if they can neither allocate nor lock; others that programs
 *     can interpose are replaced by syscall();
 *   - if anything fails, calls are passed through and the segment says why.
 */
#ifndef MEMTOP_STATE_H
#define MEMTOP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "segment/layout.h"

/* For declarations: avoids the detour over the GOT (-fvisibility covers only
   definitions). */
#define HIDDEN __attribute__((visibility("hidden")))

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

/*
 * Read at every call, and wiped by the kernel in a child made by fork or clone
 * (MADV_WIPEONFORK), but not in a vfork child, which shares our memory: mode = 0 then
 * sends the child's first call to mt_wake().  It has a page of its own.
 */
struct mt_guard {
    _Alignas(4096) uint32_t mode; /* enum segment_accounting, MODE_*; 0: not
                                     started */
    uint32_t mappings;     /* count the mmap family */
    uint32_t exact;        /* fold at every call */
    bool drop;             /* an event that finds its ring full is lost at once */
    bool sites;            /* blocks are sampled (hooks.h) */
    bool shadow;           /* sizes are in the shadow (sizes.h) */
    uint32_t padding;      /* bytes that blocks are made larger: for a trailer, or 0 */
    bool packed;           /* malloc and free may count by the packed way (account.h) */
    uint64_t packed_limit; /* they do so for sizes below this: 0 unless packed, and the
                              mode is ACCOUNTING_REQUESTED */
    uint64_t ring_capacity;
    struct ring *rings;    /* of the segment, if it has any */
    uint64_t awake_period; /* dormant: the number of this awake period; else 0 */
    const uint64_t *lease;     /* dormant: awake until then ... */
    uint64_t lease_seen;       /* ... asleep while it is this */
    uint64_t ring_mask;        /* ring_capacity less 1 */
    char rest[4096 - 80];
};
_Static_assert(sizeof(struct mt_guard) == 4096, "the guard is one page");

HIDDEN extern struct mt_guard mt_guard;

/* Bits of mode beside the accounting, which never changes.  EVENTS: calls are written to
   rings; TSC: with the TSC as their clock; SITES: blocks are sampled in a mode that the
   fast paths are not for; ASLEEP: calls are passed on uncounted (dormant.c); LOGGED:
   calls are logged too; PROFILED: the program has a profile of its own (both: hooks.h).
   The last two send all wrappers to their slow paths.  Changed by
   mt_mode_change() only. */
#define MODE_PROFILED   128u
#define MODE_LOGGED     64u
#define MODE_ASLEEP     32u
#define MODE_SITES      16u
#define MODE_TSC        8u
#define MODE_EVENTS     4u
#define MODE_ACCOUNTING 3u
#define MODE_RECORDED   (ACCOUNTING_REQUESTED | MODE_EVENTS | MODE_TSC)

/* Malloc and free count sizes below this by the packed way without looking whether their
   cell is present. */
#define PACKED_LIMIT ((uint64_t)CELLS_A_PAGE * HISTOGRAM_CELL_BYTES)

/* Computes packed_limit from the mode and packed. */
static inline void
mt_packed_limit_set(void)
{
    uint32_t mode;

    do {
        mode = __atomic_load_n(&mt_guard.mode, __ATOMIC_SEQ_CST);
        __atomic_store_n(&mt_guard.packed_limit,
                         mode == ACCOUNTING_REQUESTED && mt_guard.packed ? PACKED_LIMIT
                                                                         : 0,
                         __ATOMIC_SEQ_CST);
    } while (mode != __atomic_load_n(&mt_guard.mode, __ATOMIC_SEQ_CST));
}

static inline void
mt_mode_change(uint32_t set, uint32_t clear)
{
    uint32_t seen = __atomic_load_n(&mt_guard.mode, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(&mt_guard.mode, &seen, (seen & ~clear) | set,
                                        false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
    mt_packed_limit_set();
}

/* The mapped segment; all NULL while there is none.  Shards beyond the first few, and the
   events of rings, are mapped when they are needed (windows.h). */
struct mt_segment {
    struct segment_header *header;
    struct segment_process *process;
    uint32_t *directory;
    unsigned char *recorder;
    unsigned char *rings;     /* NULL without */
};

HIDDEN extern struct mt_segment mt_segment;

/* State of a thread, in initial-exec TLS, because any other kind allocates. */
enum mt_thread_state {
    THREAD_NEW = 0,     /* has not made a call yet */
    THREAD_COUNTED,     /* owns shard */
    THREAD_SHARED,      /* no shard was free: counts in shard 0 */
    THREAD_ENDED        /* its destructors ran: counts in shard 0 */
};

struct mt_thread {
    struct shard *shard;      /* mt_no_shard unless THREAD_COUNTED */
    uintptr_t stack_lowest;   /* lowest of the stack pointers believed so far */
    uintptr_t stack_base;     /* 0 until the first call */
    struct event *events;     /* of the shard's ring */
    uint64_t looked_ns;       /* when the thread last fed the flight recorder ... */
    uint64_t looked_calls;    /* ... and the calls counted in its shard then */
    void *last_block;         /* last one counted, with usable accounting (cxx.c) */
    uint32_t stack_limit;
    uint16_t ring_place;      /* of the shard's ring, in bytes */
    uint8_t state : 4;        /* enum mt_thread_state */
    bool internal : 1;            /* inside an internal call (internal.h) */
    bool sampling : 1;            /* writes to the tables of samples (sites.c) */
    uint8_t limit_checks : 4; /* times stack_limit was looked up again */
    bool is_main : 1;         /* tid is pid */
    bool forking : 1;         /* this thread summed the baseline */
    bool event_written : 1;   /* for the deletion under way, also its log line (cxx.c) */
    bool in_profile : 1;      /* samples nothing for the program's profiles (profile.c) */
};
_Static_assert(sizeof(struct mt_thread) <= 64, "static TLS is scarce");

HIDDEN extern __thread struct mt_thread mt_thread;

/* Stands in for the shard of a thread that has none: its sequence is odd, as during an
   update, and something is always due, which leads to the slow path. */
HIDDEN extern struct shard_hot mt_no_shard;
#define MT_NO_SHARD_INIT                                                                 \
    {                                                                                    \
        .sequence = 1, .top = INT64_MAX, .came_space = INT64_MAX / 2,                    \
        .gone_space = INT64_MAX / 2                                                      \
    }
#define MT_NO_SHARD ((struct shard *)(void *)&mt_no_shard)

/* Are calls counted, with nothing else to do for them? */
static inline bool
mt_only_counting(void)
{
    return likely(mt_guard.mode - 1u < MODE_ASLEEP - 1u);
}

/* The program has sandboxed itself since it started (sandbox.c): no system calls. */
HIDDEN extern bool mt_sandboxed;

/* The program has forbidden itself the TSC, which the exact clocks read. */
HIDDEN extern bool mt_tsc_forbidden;

#endif
