/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the counting core calls in the features that only some processes use: sites/,
 * ring/, log/ and memprof/.
 *
 *   core    includes this header and none of the features' (start.c, which starts them,
 *           is the exception); calls a hook only where it is rare, or where the feature
 *           costs far more than the call
 *   feature fills a constant table and attaches it when it starts (mt_hooks); it may use
 *           all of the core
 *
 * A table is attached before the flag that sends calls to it is set, and never detached:
 * a forked child has what its parent had, and a call that saw the flag just before it was
 * cleared still finds the table.  Without its flag a pointer may be NULL.
 */
#ifndef MEMTOP_HOOKS_H
#define MEMTOP_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMPROF_NO_STUBS
#include <memtop/memprof.h>

#include "preload/internal.h"
#include "preload/state.h"
#include "preload/table.h"
#include "segment/layout.h"
#include "segment/logline.h"

/* ---- events: with MODE_EVENTS ---- */

struct mt_event_hooks {
    /* malloc and free while the mode is MODE_RECORDED, entered by a jump; free with a
       block of the real allocator. */
    void *(*malloc)(size_t size);
    void (*free)(void *block);

    /* mt_count_made() and mt_count_freed() (account.h) together with the event, in one
       update of the shard if nothing is in the way.  alignment: asked for, or 0. */
    void (*made)(enum segment_function fn, const void *block, uint64_t size,
                 uint64_t usable, size_t alignment);
    void (*freed)(const void *block, uint64_t size, uint64_t usable);

    /* Writes an event and counts nothing.  A free calls this before the real free, an
       allocation after the real call: so an address never appears to be handed out
       twice.  Keeps errno. */
    void (*write)(unsigned kind, const void *address, uint64_t size);
};

/* ---- the sampler: with mt_guard.sites ---- */

/* A block that is followed, or was until it was taken.  The core keeps it during a
   realloc and looks at nothing in it. */
struct mt_followed {
    uint64_t size;
    uint64_t born_ns;
    uint64_t samples;
    double weight;   /* objects it stands for */
    uint32_t site;
    uint32_t thread;
    uint32_t function;
    bool ours;       /* an internal allocation (internal.h): the other fields are unset */
};

/* caller, here and below: the address that malloc or calloc returns to; NULL in other
   functions.  Flags are those of sizes.h.  All keep errno. */
struct mt_sampler_hooks {
    /* A thread has claimed that shard and has not used it yet. */
    void (*thread_begun)(unsigned shard);

    /* A call of fn made a block that is counted already: samples it if it is hit.
       Returns BLOCK_SAMPLED if the block is followed from now on, else 0. */
    unsigned (*made)(enum segment_function fn, const void *block, uint64_t size,
                     const void *caller);

    /* The same by the packed way, in two steps.  due is called in the update in which the
       space of the blocks that came has reached a limit (account.h): it returns how many
       words of the last block are hit (with the rate, for hit), and lowers *next, the
       space until the next such update, if it must look earlier.  hit is called after
       that update if any are. */
    uint64_t (*due)(const struct shard *shard, uint64_t size, uint64_t space,
                    uint64_t *next);
    unsigned (*hit)(enum segment_function fn, const void *block, uint64_t size,
                    uint64_t hits, const void *caller);

    /* A block that was marked BLOCK_SAMPLED is about to be freed. */
    void (*freed)(const void *block);

    /* Returns the flags of a block whose size is not kept, or which is about to be
       resized.  If it has any, it is not followed any more and is described in *taken,
       which gone or keep ends: the block is gone, or it is still there after all (returns
       BLOCK_SAMPLED, or 0 if there is no space to follow it). */
    unsigned (*take)(const void *block, struct mt_followed *taken);
    void (*gone)(const struct mt_followed *taken);
    unsigned (*keep)(const void *block, const struct mt_followed *taken);

    /* Marks an internal allocation whose size is not kept; false if there is no space. */
    bool (*mark_ours)(const void *block);

    /* A dormant process wakes: blocks made before are not followed any more. */
    void (*woken)(void);

    /* The process is about to shut itself in: later there will be no memory. */
    void (*shut_in)(void);
};

/* ---- the log: while it is attached ---- */

struct log_resize;

struct mt_log_hooks {
    /* Call after the real call, which returned block or NULL; other as in logline.h. */
    void (*made)(enum logalloc_call call, size_t other, size_t size, const void *block);

    /* Call before the real call. */
    void (*freed)(const void *block);

    /* Call before and after the real call; pass to end what begin returned. */
    struct log_resize *(*resize_begin)(const void *block);
    void (*resize_end)(struct log_resize *resize, const void *block, size_t size,
                       const void *result);

    /* Call after jemalloc_stats(). */
    void (*stats)(void);
};

/* ---- the program's own profiles: with MODE_PROFILED ---- */

/* What a resize remembers about the block. */
struct profile_resize {
    struct mt_place place;   /* if it was tracked */
    void *block;
    uint64_t size;           /* if it was not */
};

struct mt_profile_hooks {
    /* The program got a block.  A realloc or mremap that made no new block reports a
       resize instead. */
    void (*made)(enum memprof_source source, void *block, uint64_t size,
                 const void *caller);

    /* The program is about to free a block; any address may be passed. */
    void (*freed)(enum memprof_source source, void *block);

    /* Call before and after a block of size bytes is resized.  The end is told the
       outcome: to *made of size bytes; made NULL and size 0 means freed; made NULL
       otherwise means that the block is unchanged. */
    struct profile_resize (*resize_begin)(void *block, uint64_t size);
    void (*resize_end)(const struct profile_resize *resize, enum memprof_source source,
                       void *made, uint64_t size);

    /* The thread ends during a callback (mt_thread.in_profile), which is over. */
    void (*thread_ended)(void);
};

/* ---- what is attached ---- */

struct mt_hooks {
    const struct mt_event_hooks *events;
    const struct mt_sampler_hooks *sampler;
    const struct mt_log_hooks *log;
    const struct mt_profile_hooks *profile;
};

HIDDEN extern struct mt_hooks mt_hooks;

static inline bool
with_sites(void)
{
    return unlikely(mt_guard.sites);
}

/* Are calls logged, even if they are not counted? */
static inline bool
mt_logging(void)
{
    return unlikely(mt_hooks.log != NULL);
}

/* Does the program have a profile of its own?  Whoever sees that sees the table, too. */
static inline bool
mt_profiled(void)
{
    uint32_t mode = __atomic_load_n(&mt_guard.mode, __ATOMIC_ACQUIRE);

    return unlikely((mode & MODE_PROFILED) != 0) && !mt_is_ours();
}

#endif
