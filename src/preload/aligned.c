/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interposed functions that allocate aligned blocks; like those in wrappers.c. */
#include "config.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/blocks.h"
#include "preload/public.h"
#include "preload/real.h"
#include "preload/start.h"
#include "preload/state.h"
#include "preload/uncounted.h"

static inline __attribute__((always_inline)) int
counted_posix_memalign(void **out, size_t alignment, size_t size)
{
    int error = mt_real.posix_memalign(out, alignment, padded(size));

    mt_made(FN_POSIX_MEMALIGN, error == 0 ? *out : NULL, size, alignment);
    return error;
}

static __attribute__((noinline)) int
posix_memalign_rarely(void **out, size_t alignment, size_t size)
{
    int error = mt_wake() ? counted_posix_memalign(out, alignment, size)
                          : mt_uncounted_posix_memalign(out, alignment, size);

    told(LOGALLOC_POSIX_MEMALIGN, alignment, size, error == 0 ? *out : NULL);
    return error;
}

PUBLIC int
posix_memalign(void **out, size_t alignment, size_t size)
{
    return mt_only_counting() ? counted_posix_memalign(out, alignment, size)
                              : posix_memalign_rarely(out, alignment, size);
}

static size_t
page_size(void)
{
    return (size_t)getpagesize();
}

static size_t
whole_pages(size_t size)
{
    size_t whole = (size + page_size() - 1) & -page_size();

    return whole < size ? size : whole;
}

static inline __attribute__((always_inline)) void *
counted_aligned(enum segment_function fn, size_t alignment, size_t size)
{
    if (fn == FN_ALIGNED_ALLOC)
        return mt_made(fn, mt_real.aligned_alloc(alignment, padded(size)), size,
                       alignment);
    if (fn == FN_VALLOC)
        return mt_made(fn, mt_real.valloc(padded(size)), size, page_size());
    /* The program may use all of the last page, so a trailer lies behind it.  memalign
       is called because the next pvalloc may be libc's while another allocator is in use,
       and that allocator could not free libc's blocks. */
    if (fn == FN_PVALLOC)
        return mt_made(fn, mt_real.memalign(page_size(), padded(whole_pages(size))), size,
                       page_size());
    return mt_made(fn, mt_real.memalign(alignment, padded(size)), size, alignment);
}

/* valloc and pvalloc pass a page as the alignment. */
static __attribute__((noinline)) void *
aligned_rarely(enum segment_function fn, size_t alignment, size_t size)
{
    bool counted = mt_wake();
    size_t whole = fn == FN_PVALLOC ? whole_pages(size) : size;
    void *block = counted ? counted_aligned(fn, alignment, size)
                          : mt_uncounted_aligned(alignment, whole);

    if (fn == FN_ALIGNED_ALLOC)
        return told(LOGALLOC_ALIGNED_ALLOC, alignment, size, block);
    if (fn == FN_MEMALIGN)
        return told(LOGALLOC_MEMALIGN, alignment, size, block);
    return told(LOGALLOC_VALLOC, 0, whole, block); /* the log has no line for pvalloc */
}

PUBLIC void *
aligned_alloc(size_t alignment, size_t size)
{
    return mt_only_counting() ? counted_aligned(FN_ALIGNED_ALLOC, alignment, size)
                              : aligned_rarely(FN_ALIGNED_ALLOC, alignment, size);
}

PUBLIC void *
memalign(size_t alignment, size_t size)
{
    return mt_only_counting() ? counted_aligned(FN_MEMALIGN, alignment, size)
                              : aligned_rarely(FN_MEMALIGN, alignment, size);
}

PUBLIC void *
valloc(size_t size)
{
    return mt_only_counting() ? counted_aligned(FN_VALLOC, 0, size)
                              : aligned_rarely(FN_VALLOC, page_size(), size);
}

PUBLIC void *
pvalloc(size_t size)
{
    return mt_only_counting() ? counted_aligned(FN_PVALLOC, 0, size)
                              : aligned_rarely(FN_PVALLOC, page_size(), size);
}
