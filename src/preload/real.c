/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finding the next allocator, and the arena that serves until it is found.
 *
 * dlsym() may itself call calloc before the real one is known, and the loader
 * allocates before libc is initialised; the arena answers.  It never takes
 * memory back.
 */
#include "config.h"

#include "preload/real.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "preload/compat.h"

MT_BIND_OLD(dlsym);
MT_BIND_OLD(dladdr);
MT_BIND(dladdr1, MT_DLADDR1_VERSION);

/* Not in every C library: a program of musl's would not start. */
extern __typeof__(dladdr1) dladdr1 __attribute__((weak));

struct mt_real mt_real;

/* ---- arena ---- */

_Alignas(4096) unsigned char mt_arena[MT_ARENA_SIZE];

static size_t arena_used;

/* Each block is preceded by its size. */
#define ARENA_PREFIX 16u

void *
mt_arena_allocate(size_t size, size_t alignment)
{
    size_t before = __atomic_load_n(&arena_used, __ATOMIC_RELAXED);
    size_t start, end;

    if (alignment < ARENA_PREFIX)
        alignment = ARENA_PREFIX;
    do {
        start = (before + ARENA_PREFIX + alignment - 1) & -alignment;
        end = start + size;
        if (end < size || end > MT_ARENA_SIZE)
            return NULL;
    } while (!__atomic_compare_exchange_n(&arena_used, &before, end, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    memcpy(mt_arena + start - sizeof size, &size, sizeof size);
    return mt_arena + start;
}

size_t
mt_arena_size(const void *block)
{
    size_t size;

    memcpy(&size, (const unsigned char *)block - sizeof size, sizeof size);
    return size;
}

/* ---- the next allocator ---- */

void *
mt_real_next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

size_t
mt_usable_size_asked(void *block)
{
    size_t usable = mt_real.malloc_usable_size(block);
    uint32_t doubts = __atomic_load_n(&mt_real.doubts, __ATOMIC_RELAXED);
    size_t head;

    if (doubts == 0 || doubts == HEADS_UNKNOWN)
        return usable;
    head = ((const size_t *)block)[-1];
    if ((head & HEAD_MAPPED) == 0)
        __atomic_store_n(&mt_real.doubts,
                         (head & ~HEAD_FLAGS) - sizeof head == usable ? doubts - 1
                                                                      : HEADS_UNKNOWN,
                         __ATOMIC_RELAXED);
    return usable;
}

bool
mt_object_of(const void *address, struct mt_object *found)
{
    return mt_real._dl_find_object != NULL
           && mt_real._dl_find_object((void *)(uintptr_t)address, found) == 0;
}

/* Where the object holding an address begins, or NULL; *name its file.  dladdr goes
   through all symbols of the object: with libc's it takes longer than all else that is
   done when a process starts. */
static void *
object_of(const void *address, const char **name)
{
    struct mt_object object;
    Dl_info info;

    if (address == NULL)
        return NULL;
    if (mt_object_of(address, &object)) {
        *name = object.map->l_name;
        return object.start;
    }
    if (dladdr(address, &info) == 0)
        return NULL;
    *name = info.dli_fname;
    return info.dli_fbase;
}

void *
mt_object_start(const void *address)
{
    const char *name;

    return object_of(address, &name);
}

/* dlsym returns data pointers; POSIX guarantees that they convert. */
#define RESOLVE(name) (*(void **)&mt_real.name = mt_real_next(#name))

void
mt_real_resolve(void)
{
    void *next = mt_real_next("malloc"), *libc;

    RESOLVE(free);
    RESOLVE(malloc_usable_size);
    RESOLVE(calloc);
    RESOLVE(realloc);
    RESOLVE(posix_memalign);
    RESOLVE(aligned_alloc);
    RESOLVE(memalign);
    RESOLVE(valloc);
    RESOLVE(mmap);
    RESOLVE(mremap);
    RESOLVE(munmap);
    RESOLVE(prctl);
    RESOLVE(execve);
    RESOLVE(execv);
    RESOLVE(execvp);
    RESOLVE(execvpe);
    RESOLVE(fexecve);
    RESOLVE(execveat);
    RESOLVE(posix_spawn);
    RESOLVE(posix_spawnp);
    RESOLVE(_dl_find_object);
    libc = mt_object_start(mt_real_next("gnu_get_libc_version"));
    mt_real.is_libcs = libc != NULL && mt_object_start(next) == libc;
    if (!mt_real.is_libcs)
        RESOLVE(jemalloc_stats); /* a name not found leaves a block: in the arena */
    *(void **)&mt_real.malloc = next; /* last: it tells that the table is complete */
}

/* Looked up once: dladdr takes the loader's lock, which a child by raw clone may
   find taken for ever. */
const char *
mt_real_allocator(void)
{
    static const char *name;

    if (name == NULL)
        object_of(*(void **)&mt_real.malloc, &name);
    return name != NULL ? name : "";
}

bool
mt_real_has(const char *name)
{
    void *allocator = mt_object_start(*(void **)&mt_real.malloc);

    return allocator != NULL && mt_object_start(mt_real_next(name)) == allocator;
}

bool
mt_real_is_special(void)
{
    /* jemalloc, tcmalloc, mimalloc, TBB, hardened_malloc, snmalloc. */
    static const char *const entries[] = {
        "sdallocx",       "nallocx",         "mallocx",         "tc_free_sized",
        "mi_free_size",   "scalable_malloc", "malloc_object_size",
        "sn_rust_alloc",
    };

    /* libc itself needs no questions, and a question answered with no leaves an
       allocated error message behind. */
    if (mt_real.is_libcs)
        return false;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (mt_real_has(entries[i]))
            return true;
    return false;
}

bool
mt_real_is_sanitizer(void)
{
    return !mt_real.is_libcs && mt_real_has("__sanitizer_get_allocated_size");
}

bool
mt_real_reached(void)
{
    void *first = dlsym(RTLD_DEFAULT, "malloc");
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (mt_object_start(first) == mt_object_start(&mt_real))
        return true;
    /* An executable at a fixed address that takes the address of malloc has an
       undefined symbol with a value: its PLT entry, which leads to us. */
    return dladdr1 != NULL
           && dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL
           && symbol->st_shndx == SHN_UNDEF;
}
