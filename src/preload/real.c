/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the next allocator; a static arena serves calls until it is found.
 *
 * Objects initialised before this library may allocate before libc is ready; the arena
 * serves them.  It never reuses memory.
 */
#include "config.h"

#include "preload/real.h"

#include <string.h>

#include "preload/lookup.h"
#include "preload/operators.h"

struct mt_real mt_real;

/* The object that holds the next malloc. */
static struct link_map *allocator;

/* ---- arena ---- */

_Alignas(4096) unsigned char mt_arena[MT_ARENA_SIZE];

static size_t arena_used;

/* Each block's size is stored in front of it. */
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
    return mt_lookup_next(name).address;
}

bool
mt_object_of(const void *address, struct mt_object *found)
{
    return mt_real._dl_find_object != NULL
           && mt_real._dl_find_object((void *)(uintptr_t)address, found) == 0;
}

/* POSIX guarantees that data pointers convert. */
#define RESOLVE(name) (*(void **)&mt_real.name = mt_real_next(#name))

void
mt_real_resolve(void)
{
    struct mt_symbol next;

    mt_lookup_start();
    next = mt_lookup_next("malloc");
    allocator = next.map;
    mt_real.is_libcs = allocator != NULL && next.address == mt_lookup_libc("malloc");
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
    RESOLVE(syscall);
    RESOLVE(execve);
    RESOLVE(execv);
    RESOLVE(execvp);
    RESOLVE(execvpe);
    RESOLVE(fexecve);
    RESOLVE(execveat);
    RESOLVE(posix_spawn);
    RESOLVE(posix_spawnp);
    RESOLVE(_dl_find_object);
    RESOLVE(dlclose);
    RESOLVE(jemalloc_stats);
    mt_operators_resolve(allocator);
    *(void **)&mt_real.malloc =
        next.address; /* last: a set malloc means that the table is complete */
}

const char *
mt_real_allocator(void)
{
    return allocator != NULL ? allocator->l_name : "";
}

bool
mt_real_has(const char *name)
{
    return allocator != NULL && mt_lookup_next(name).map == allocator;
}

bool
mt_real_is_special(void)
{
    /* jemalloc, tcmalloc, mimalloc, TBB, hardened_malloc, snmalloc. */
    static const char *const entries[] = {
        "sdallocx",           "nallocx",       "mallocx",
        "tc_free_sized",      "mi_free_size",  "scalable_malloc",
        "malloc_object_size", "sn_rust_alloc",
    };

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
    return mt_lookup_first("malloc").map == mt_lookup_own();
}
