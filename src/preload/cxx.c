/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * operator new and delete, all forms of C++17 (Itanium ABI names).
 *
 * libstdc++'s operators call malloc and free and are counted there.  jemalloc, tcmalloc
 * and mimalloc bring their own, which do not: if the next operator new lives in the same
 * object as the next malloc, calls are counted here.  Sizes are usable sizes then (such
 * an allocator is never given trailers), and sized deletes are forwarded to unsized ones.
 * Some of their operators do call our malloc or free (jemalloc's slow paths); last_block
 * tells that a block is counted already.
 *
 * Built with -fexceptions: bad_alloc passes through our frames.
 */
#include "config.h"

#include <stdlib.h>

#include "preload/account.h"
#include "preload/hooks.h"
#include "preload/lookup.h"
#include "preload/operators.h"
#include "preload/public.h"
#include "preload/real.h"
#include "preload/sizes.h"
#include "preload/start.h"
#include "preload/state.h"

typedef void *(*new_function)(size_t);
typedef void *(*new_aligned_function)(size_t, size_t);
typedef void *(*new_nothrow_function)(size_t, const void *);
typedef void *(*new_aligned_nothrow_function)(size_t, size_t, const void *);
typedef void (*delete_function)(void *);
typedef void (*delete_aligned_function)(void *, size_t);

/*
 * The fallback if there is no next definition: a C program opened a C++ plugin, which
 * finds our operators first.  The plugin's runtime may be visible to the plugin alone and
 * may be unloaded with it, so no pointer into it is kept.  It would call malloc too, so
 * malloc is called directly; the runtime is asked only if that fails, because then its
 * new_handler must be called or bad_alloc thrown.  The plugin that is calling keeps it
 * loaded.
 */
static void *
of_runtime(const char *name)
{
    static const char *const runtimes[] = {"libstdc++.so.6", "libc++abi.so.1",
                                           "libc++.so.1"};
    struct mt_loaded runtime;

    for (size_t i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++)
        if (mt_lookup_loaded(runtimes[i], name, &runtime))
            return mt_lookup_in(&runtime, name);
    return NULL;
}

static void *
plain_new(size_t size)
{
    void *block = malloc(size != 0 ? size : 1);
    new_function other;

    if (block != NULL)
        return block;
    other = (new_function)of_runtime("_Znwm");
    if (other == NULL)
        abort(); /* nothing here can throw bad_alloc */
    return other(size);
}

static void *
plain_new_aligned(size_t size, size_t alignment)
{
    void *block = aligned_alloc(alignment, size);
    new_aligned_function other;

    if (block != NULL)
        return block;
    other = (new_aligned_function)of_runtime("_ZnwmSt11align_val_t");
    if (other == NULL)
        abort();
    return other(size, alignment);
}

/* Before it gives up, the runtime calls the program's new_handler. */
static void *
plain_new_nothrow(size_t size, const void *tag)
{
    void *block = malloc(size != 0 ? size : 1);
    new_nothrow_function other =
        block == NULL ? (new_nothrow_function)of_runtime("_ZnwmRKSt9nothrow_t") : NULL;

    return other != NULL ? other(size, tag) : block;
}

static void *
plain_new_aligned_nothrow(size_t size, size_t alignment, const void *tag)
{
    void *block = aligned_alloc(alignment, size);
    new_aligned_nothrow_function other =
        block == NULL
            ? (new_aligned_nothrow_function)of_runtime(
                "_ZnwmSt11align_val_tRKSt9nothrow_t")
            : NULL;

    return other != NULL ? other(size, alignment, tag) : block;
}

static void
plain_delete_aligned(void *block, size_t alignment)
{
    (void)alignment;
    free(block);
}

static bool
bypass_malloc(void)
{
    return mt_operators.bypass && mt_counting()
           && (mt_guard.mode & MODE_ACCOUNTING) == ACCOUNTING_USABLE;
}

static void
before_new(void)
{
    mt_thread.last_block = NULL;
}

/* alignment 0 means the default alignment. */
static void *
after_new(void *block, size_t alignment, size_t size)
{
    if (block != NULL && bypass_malloc() && mt_thread.last_block != block) {
        size_t usable = mt_usable_size(block);
        mt_count_made(FN_MALLOC, usable, usable);
        if (mt_guard.mode & MODE_EVENTS)
            mt_hooks.events->write(FN_MALLOC, block, usable);
        if (with_sites())
            mt_hooks.sampler->made(FN_MALLOC, block, usable, NULL);
        if (mt_logging())
            mt_hooks.log->made(alignment == 0 ? LOGALLOC_MALLOC : LOGALLOC_MEMALIGN,
                               alignment, size, block);
        if (mt_profiled())
            mt_hooks.profile->made(alignment == 0 ? MEMPROF_NORMAL : MEMPROF_ALIGNED,
                                   block, size, NULL);
    }
    return block;
}

/* Stops following a sampled block that is about to be freed. */
static void
leave_sites(const void *block)
{
    struct mt_followed taken;

    if (with_sites() && mt_hooks.sampler->take(block, &taken) == BLOCK_SAMPLED)
        mt_hooks.sampler->gone(&taken);
}

/* Returns whether this deletion must be counted here, and the block's usable size. */
static bool
before_delete(void *block, size_t *usable)
{
    mt_thread.last_block = NULL;
    if (block == NULL || mt_arena_holds(block) || !bypass_malloc())
        return false;
    *usable = mt_usable_size(block);
    leave_sites(block); /* before the block can be reused */
    if (mt_guard.mode & MODE_EVENTS) {
        /* before the block can be reused */
        mt_hooks.events->write(FN_FREE, block, *usable);
        mt_thread.event_written = true;
    }
    if (mt_logging()) {
        mt_hooks.log->freed(block);
        mt_thread.event_written = true;
    }
    if (mt_profiled())
        mt_hooks.profile->freed(MEMPROF_NORMAL, block);
    return true;
}

static void
after_delete(void *block, bool ours, size_t usable)
{
    mt_thread.event_written = false;
    if (ours && mt_thread.last_block != block)
        mt_count_freed(usable, usable);
}

#define NEXT(type, symbol, otherwise)                                          \
    void *known = mt_operators.next[NEXT_##symbol];                            \
    type next = likely(known != NULL) ? (type)known : (otherwise)

#define DEFINE_NEW(symbol)                                                     \
    PUBLIC void *symbol(size_t size);                                          \
    PUBLIC void *symbol(size_t size)                                           \
    {                                                                          \
        NEXT(new_function, symbol, plain_new);                                \
        before_new();                                                          \
        return after_new(next(size), 0, size);                                 \
    }

#define DEFINE_NEW_NOTHROW(symbol)                                             \
    PUBLIC void *symbol(size_t size, const void *tag);                         \
    PUBLIC void *symbol(size_t size, const void *tag)                          \
    {                                                                          \
        NEXT(new_nothrow_function, symbol, plain_new_nothrow);                \
        before_new();                                                          \
        return after_new(next(size, tag), 0, size);                            \
    }

#define DEFINE_NEW_ALIGNED(symbol)                                             \
    PUBLIC void *symbol(size_t size, size_t alignment);                        \
    PUBLIC void *symbol(size_t size, size_t alignment)                         \
    {                                                                          \
        NEXT(new_aligned_function, symbol, plain_new_aligned);                \
        before_new();                                                          \
        return after_new(next(size, alignment), alignment, size);              \
    }

#define DEFINE_NEW_ALIGNED_NOTHROW(symbol)                                     \
    PUBLIC void *symbol(size_t size, size_t alignment, const void *tag);       \
    PUBLIC void *symbol(size_t size, size_t alignment, const void *tag)        \
    {                                                                          \
        NEXT(new_aligned_nothrow_function, symbol, plain_new_aligned_nothrow); \
        before_new();                                                          \
        return after_new(next(size, alignment, tag), alignment, size);         \
    }

/* Every delete without an alignment goes to the unsized one, UNSIZED. */
#define DEFINE_DELETE(symbol, unsized, ...)                                    \
    PUBLIC void symbol(void *block __VA_ARGS__);                               \
    PUBLIC void symbol(void *block __VA_ARGS__)                                \
    {                                                                          \
        NEXT(delete_function, unsized, free);                                 \
        size_t usable = 0;                                                     \
        bool ours = before_delete(block, &usable);                             \
        next(block);                                                           \
        after_delete(block, ours, usable);                                     \
    }

#define DEFINE_DELETE_ALIGNED(symbol, unsized, ...)                            \
    PUBLIC void symbol(void *block __VA_ARGS__, size_t alignment);             \
    PUBLIC void symbol(void *block __VA_ARGS__, size_t alignment)              \
    {                                                                          \
        NEXT(delete_aligned_function, unsized, plain_delete_aligned);         \
        size_t usable = 0;                                                     \
        bool ours = before_delete(block, &usable);                             \
        next(block, alignment);                                                \
        after_delete(block, ours, usable);                                     \
    }

#define SIZED   , __attribute__((unused)) size_t size
#define NOTHROW , __attribute__((unused)) const void *tag

DEFINE_NEW(_Znwm)
DEFINE_NEW(_Znam)
DEFINE_NEW_NOTHROW(_ZnwmRKSt9nothrow_t)
DEFINE_NEW_NOTHROW(_ZnamRKSt9nothrow_t)
DEFINE_NEW_ALIGNED(_ZnwmSt11align_val_t)
DEFINE_NEW_ALIGNED(_ZnamSt11align_val_t)
DEFINE_NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t)
DEFINE_NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t)

DEFINE_DELETE(_ZdlPv, _ZdlPv)
DEFINE_DELETE(_ZdaPv, _ZdaPv)
DEFINE_DELETE(_ZdlPvm, _ZdlPv, SIZED)
DEFINE_DELETE(_ZdaPvm, _ZdaPv, SIZED)
DEFINE_DELETE(_ZdlPvRKSt9nothrow_t, _ZdlPv, NOTHROW)
DEFINE_DELETE(_ZdaPvRKSt9nothrow_t, _ZdaPv, NOTHROW)
DEFINE_DELETE_ALIGNED(_ZdlPvSt11align_val_t, _ZdlPvSt11align_val_t)
DEFINE_DELETE_ALIGNED(_ZdaPvSt11align_val_t, _ZdaPvSt11align_val_t)
DEFINE_DELETE_ALIGNED(_ZdlPvmSt11align_val_t, _ZdlPvSt11align_val_t, SIZED)
DEFINE_DELETE_ALIGNED(_ZdaPvmSt11align_val_t, _ZdaPvSt11align_val_t, SIZED)

#define DEFINE_DELETE_ALIGNED_NOTHROW(symbol, unsized)                         \
    PUBLIC void symbol(void *block, size_t alignment, const void *tag);        \
    PUBLIC void symbol(void *block, size_t alignment, const void *tag)         \
    {                                                                          \
        NEXT(delete_aligned_function, unsized, plain_delete_aligned);         \
        size_t usable = 0;                                                     \
        (void)tag;                                                             \
        bool ours = before_delete(block, &usable);                             \
        next(block, alignment);                                                \
        after_delete(block, ours, usable);                                     \
    }

DEFINE_DELETE_ALIGNED_NOTHROW(_ZdlPvSt11align_val_tRKSt9nothrow_t, _ZdlPvSt11align_val_t)
DEFINE_DELETE_ALIGNED_NOTHROW(_ZdaPvSt11align_val_tRKSt9nothrow_t, _ZdaPvSt11align_val_t)
