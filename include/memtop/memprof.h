/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memprof: statistical profiles of a program's own memory, after OCaml's Gc.Memprof.
 *
 * Every word that the program allocates is sampled with a probability that the program
 * chooses.  A block with a sampled word is handed to the program's tracker, with its call
 * stack, and is followed until it is freed.
 *
 *     static void *
 *     on_alloc(const struct memprof_allocation *block, void *ctx) { ... }
 *     ...
 *     static const struct memprof_tracker tracker = {on_alloc, NULL, on_dealloc};
 *     memprof_t *profile = memprof_start(1e-4, -1, &tracker, NULL);
 *
 * This header is all that is needed: nothing is linked.  The functions work in a
 * program that runs under memtop(1) or with libmemtop.so in LD_PRELOAD (libmemtop(7)).
 * In any other program they do nothing and fail with ENOSYS.  memprof(3) has the details.
 *
 * A word is sizeof(void *) bytes; a block of size bytes counts as
 * memprof_words(size) words, one of them for the header that allocators keep, so that
 * blocks of no bytes can be sampled too.  The number of its samples is binomial,
 * n_samples ~ B(memprof_words(size), sampling_rate).  Sums of these over the sampled
 * blocks are unbiased estimates for all blocks:
 *     words    n_samples / sampling_rate
 *     bytes    n_samples * size / (sampling_rate * memprof_words(size))
 *     blocks   n_samples / (sampling_rate * memprof_words(size))
 */
#ifndef MEMTOP_MEMPROF_H
#define MEMTOP_MEMPROF_H

#include <stddef.h>
#include <stdint.h>

#ifndef MEMPROF_NO_STUBS
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Where a block comes from. */
enum memprof_source {
    MEMPROF_NORMAL,  /* malloc, calloc, realloc, operator new */
    MEMPROF_ALIGNED, /* posix_memalign, aligned_alloc, memalign, valloc, pvalloc */
    MEMPROF_MMAP,    /* mmap, where memtop counts that (memtop -m) */
    MEMPROF_CUSTOM   /* memprof_custom_alloc() */
};

/* A sampled block.  It is the library's, and valid until the callback returns. */
struct memprof_allocation {
    size_t n_samples; /* at least 1; after a realloc that shrank it perhaps 0 */
    size_t size;      /* bytes asked for */
    int source;       /* enum memprof_source */
    void *ptr;
    const void *const *callstack; /* return addresses, innermost first */
    int n_frames;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
};

/*
 * The functions that are called for a sampled block, with the ctx of memprof_start().
 *
 *   alloc    is called in the thread that allocates, just before it gets the block.  What
 *            it returns is the block's data; if that is NULL, the block is not tracked,
 *            and nothing more is called for it.
 *   resize   is called after a realloc of a tracked block, whether it moved or not.
 *            Returns its data from now on, or NULL to track it no longer.
 *   dealloc  is called in the thread that frees, just before the block goes back.
 *
 * Each may be NULL: without alloc no block is tracked; without resize the data stay as
 * they are; without dealloc nothing is called.
 *
 * Callbacks may allocate, free, and call all functions below: sampling is suspended in
 * a thread while it runs one.  (If they free a tracked block, its dealloc is called when
 * they have returned.)  Callbacks of several threads run at the same time.  They must
 * return: no longjmp, no exception, no end of the thread.
 */
struct memprof_tracker {
    void *(*alloc)(const struct memprof_allocation *block, void *ctx);
    void *(*resize)(void *data, const struct memprof_allocation *block, void *ctx);
    void (*dealloc)(void *data, void *ctx);
};

/* A profile: sampling, then stopped, then discarded.  The program never frees it. */
typedef struct memprof memprof_t;

/* The number of words that a block of size bytes counts as. */
static inline size_t
memprof_words(size_t size)
{
    return 1 + size / sizeof(void *) + (size % sizeof(void *) != 0);
}

#ifdef MEMPROF_NO_STUBS
/* As libmemtop.so exports them: for the library itself and for bindings. */
extern const struct memprof_tracker memprof_null_tracker;
memprof_t *memprof_start(double sampling_rate, int callstack_size,
                         const struct memprof_tracker *tracker, void *ctx);
int memprof_stop(void);
int memprof_discard(memprof_t *profile);
void *memprof_custom_alloc(void *ptr, size_t size);
void memprof_custom_free(void *ptr);
#else

/* ---- not for use: how the library is found ---- */

/* The value for a name that was not found. */
static inline void *
memprof_absent_(void)
{
    static char absent;

    return &absent;
}

/* The library's function of that name, looked up once (for each source file), or
   NULL.  A weak reference would not work: in an executable at a fixed address the linker
   sets it to NULL for ever. */
static inline void *
memprof_find_(void **place, const char *name)
{
    void *found = __atomic_load_n(place, __ATOMIC_ACQUIRE);

    if (found == NULL) {
        int saved_errno = errno;

        found = dlsym((void *)0 /* RTLD_DEFAULT */, name);
        if (found == NULL)
            found = memprof_absent_();
        __atomic_store_n(place, found, __ATOMIC_RELEASE);
        errno = saved_errno;
    }
    return found != memprof_absent_() ? found : NULL;
}

/* Declares a pointer to the library's function, or NULL.  (ISO C has no cast from
   what dlsym returns.) */
#define MEMPROF_FIND_(pointer, name, result, parameters)                       \
    static void *memprof_place_;                                               \
    void *memprof_found_ = memprof_find_(&memprof_place_, name);               \
    result(*pointer) parameters;                                               \
    memcpy(&pointer, &memprof_found_, sizeof memprof_found_)

static inline void *
memprof_null_alloc_(const struct memprof_allocation *block, void *ctx)
{
    (void)block;
    (void)ctx;
    return NULL;
}

static inline void *
memprof_null_resize_(void *data, const struct memprof_allocation *block, void *ctx)
{
    (void)data;
    (void)block;
    (void)ctx;
    return NULL;
}

static inline void
memprof_null_dealloc_(void *data, void *ctx)
{
    (void)data;
    (void)ctx;
}

/* ---- the functions ---- */

/* Tracks nothing; a copy of it is a start for a tracker of your own. */
static const struct memprof_tracker memprof_null_tracker __attribute__((unused)) = {
    memprof_null_alloc_, memprof_null_resize_, memprof_null_dealloc_
};

/*
 * Starts a profile and samples from now on, in all threads, with probability
 * sampling_rate a word (1e-4 is usual).  callstack_size is the greatest number of frames
 * wanted, or -1 for all (at most 1024).  *tracker is copied.  On failure returns NULL,
 * and sets errno to
 *   EINVAL   the rate is not within 0 and 1, callstack_size below -1, no tracker
 *   EBUSY    a profile is sampling already: one at a time in a process
 *   EAGAIN   the process is dormant and asleep; or 32 profiles are not discarded yet
 *   ENOMEM   there is not enough memory
 *   ENOTSUP  the library is there, but does not count in this process
 *   ENOSYS   the library is not there
 */
static inline memprof_t *
memprof_start(double sampling_rate, int callstack_size,
              const struct memprof_tracker *tracker, void *ctx)
{
    MEMPROF_FIND_(start, "memprof_start", memprof_t *,
                  (double, int, const struct memprof_tracker *, void *));

    if (start == NULL) {
        errno = ENOSYS;
        return NULL;
    }
    return start(sampling_rate, callstack_size, tracker, ctx);
}

/*
 * Ends sampling in all threads.  Blocks that are tracked stay so: their resize and
 * dealloc are still called.  Returns 0, or -1 with errno ESRCH (no profile samples)
 * or ENOSYS.
 */
static inline int
memprof_stop(void)
{
    MEMPROF_FIND_(stop, "memprof_stop", int, (void));

    if (stop == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return stop();
}

/*
 * Ends a stopped profile.  It waits for callbacks that other threads are running.  When
 * it returns, no callback of the profile runs, and none ever will, so that ctx and the
 * blocks' data may be freed.  Returns 0, or -1 with errno set to
 *   EBUSY    the profile samples: stop it first
 *   EALREADY it is discarded, or belongs to the process this one was forked from
 *   EDEADLK  called from within a callback, for which it would have to wait
 *   EINVAL   not a profile
 *   ENOSYS   the library is not there
 */
static inline int
memprof_discard(memprof_t *profile)
{
    MEMPROF_FIND_(discard, "memprof_discard", int, (memprof_t *));

    if (discard == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return discard(profile);
}

/*
 * Report that a pool of the program's own has handed out a block, and, just before it
 * does, that it takes one back.  Profiles sample such blocks (MEMPROF_CUSTOM), and memtop
 * counts them separately from those of malloc.  ptr only has to differ from those of the
 * pools' other live blocks; NULL is ignored.  memprof_custom_alloc() always returns ptr.
 * Both keep errno.
 */
static inline void *
memprof_custom_alloc(void *ptr, size_t size)
{
    MEMPROF_FIND_(alloc, "memprof_custom_alloc", void *, (void *, size_t));

    return alloc != NULL ? alloc(ptr, size) : ptr;
}

static inline void
memprof_custom_free(void *ptr)
{
    MEMPROF_FIND_(give_back, "memprof_custom_free", void, (void *));

    if (give_back != NULL)
        give_back(ptr);
}

#undef MEMPROF_FIND_

#endif /* MEMPROF_NO_STUBS */

#ifdef __cplusplus
}
#endif

#endif
