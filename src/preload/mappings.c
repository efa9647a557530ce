/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mmap family: passed on unchanged, and counted on request.  The loader and the
 * allocator map memory before anything has been looked up; those calls go directly to the
 * kernel.
 */
#include "config.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/account.h"
#include "preload/hooks.h"
#include "preload/public.h"
#include "preload/real.h"
#include "preload/state.h"

static enum segment_mapping
mapping_kind(int protection, int flags)
{
    if (flags & MAP_ANONYMOUS)
        return MAPPING_MMAP_A;
    return protection & PROT_WRITE ? MAPPING_MMAP_W : MAPPING_MMAP_R;
}

PUBLIC void *
mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    void *mapped;

    if (unlikely(mt_real.mmap == NULL))
        return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
    mapped = mt_real.mmap(address, length, protection, flags, fd, offset);
    if (unlikely(mt_guard.mappings)) {
        mt_count_mapping(mapping_kind(protection, flags), length, mapped == MAP_FAILED);
        if (mt_profiled() && mapped != MAP_FAILED)
            mt_hooks.profile->made(MEMPROF_MMAP, mapped, length, NULL);
    }
    return mapped;
}

PUBLIC void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

static void *
counted_mremap(void *address, size_t old_length, size_t length, int flags, void *wanted)
{
    bool profiled = mt_profiled();
    struct profile_resize resize = {.block = NULL};
    void *mapped;

    if (profiled)
        resize = mt_hooks.profile->resize_begin(address, old_length);
    mapped = mt_real.mremap(address, old_length, length, flags, wanted);
    mt_count_mremap(length > old_length ? length - old_length : 0, mapped == MAP_FAILED,
                    mapped == address, length < old_length);
    if (profiled)
        mt_hooks.profile->resize_end(&resize, MEMPROF_MMAP,
                                     mapped != MAP_FAILED ? mapped : NULL, length);
    return mapped;
}

PUBLIC void *
mremap(void *address, size_t old_length, size_t length, int flags, ...)
{
    void *wanted = NULL;

    if (flags & MREMAP_FIXED) {
        va_list arguments;
        va_start(arguments, flags);
        wanted = va_arg(arguments, void *);
        va_end(arguments);
    }
    if (unlikely(mt_real.mremap == NULL))
        return (void *)syscall(SYS_mremap, address, old_length, length, flags, wanted);
    if (unlikely(mt_guard.mappings))
        return counted_mremap(address, old_length, length, flags, wanted);
    return mt_real.mremap(address, old_length, length, flags, wanted);
}

PUBLIC int
munmap(void *address, size_t length)
{
    int result;

    if (unlikely(mt_real.munmap == NULL))
        return (int)syscall(SYS_munmap, address, length);
    if (unlikely(mt_guard.mappings) && mt_profiled())
        mt_hooks.profile->freed(MEMPROF_MMAP, address);
    result = mt_real.munmap(address, length);
    if (unlikely(mt_guard.mappings))
        mt_count_mapping(MAPPING_MUNMAP, length, result != 0);
    return result;
}
