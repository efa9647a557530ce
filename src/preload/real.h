/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The real allocator: the next definition of each function after ours in the loader's
 * search order, so that jemalloc and others are honoured.  Until it is known a small
 * arena serves calls; its blocks are recognised in every entry point and never reach the
 * real allocator.
 */
#ifndef MEMTOP_REAL_H
#define MEMTOP_REAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/state.h"

struct link_map;

/* The first fields of what glibc's _dl_find_object() fills in (<bits/dl_find_object.h>)
   about a loaded object: tables is its .eh_frame_hdr, rest the remainder. */
struct mt_object {
    unsigned long long flags;
    void *start, *end;
    struct link_map *map;
    void *tables;
    void *rest[7];
};

/* syscall(2), as the calling convention passes its arguments. */
typedef long mt_syscall_function(long number, long a, long b, long c, long d, long e,
                                 long f);

struct mt_real {
    void *(*malloc)(size_t);
    void (*free)(void *);
    size_t (*malloc_usable_size)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    int (*munmap)(void *, size_t);
    int (*prctl)(int, ...);
    mt_syscall_function *syscall;
    int (*execve)(const char *, char *const *, char *const *);
    int (*execv)(const char *, char *const *);
    int (*execvp)(const char *, char *const *);
    int (*execvpe)(const char *, char *const *, char *const *);
    int (*fexecve)(int, char *const *, char *const *);
    int (*execveat)(int, const char *, char *const *, char *const *, int);
    int (*posix_spawn)(pid_t *, const char *, const void *, const void *, char *const *,
                       char *const *);
    int (*posix_spawnp)(pid_t *, const char *, const void *, const void *, char *const *,
                        char *const *);
    int (*dlclose)(void *); /* NULL if the program was loaded without it */
    void (*jemalloc_stats)(void *, void *); /* Mozilla's; most often NULL */
    int (*_dl_find_object)(void *, struct mt_object *); /* since glibc 2.35, or NULL */
    bool is_libcs;   /* malloc is glibc's own */
    uint32_t doubts; /* answers to compare before heads are read: see mt_usable_size */
};

HIDDEN extern struct mt_real mt_real;

/* Where the answer of malloc_usable_size may be read from the head of a block: see
   mt_usable_size(). */
#define HEAD_DOUBTS    16u
#define HEADS_UNKNOWN  UINT32_MAX
#define HEAD_FLAGS     ((size_t)7)
#define HEAD_BYTES     sizeof(size_t)
#if defined __x86_64__ && defined __LP64__
#define HEADS_READABLE 1
#else
#define HEADS_READABLE 0
#endif
#define HEAD_MAPPED    ((size_t)2)

/* Reads it there.  Returns false if malloc_usable_size must be called: the block may have
   a mapping of its own. */
static inline bool
mt_usable_size_read(const void *block, size_t *usable)
{
#if HEADS_READABLE
    if (likely(mt_real.doubts == 0)) {
        size_t head = ((const size_t *)block)[-1];
        *usable = (head & ~HEAD_FLAGS) - sizeof head;
        return likely((head & HEAD_MAPPED) == 0);
    }
#endif
    return false;
}

/* Looks up the functions (lookup.h) and the operators of C++ (operators.h), once, when
   the library starts. */
void mt_real_resolve(void);

/* Finds the loaded object that holds an address, without taking a lock of the loader's.
   Returns false if there is none or glibc is too old. */
bool mt_object_of(const void *address, struct mt_object *found);

/* The file name of the object that holds the next malloc, or "" if unknown. */
const char *mt_real_allocator(void);

/* Does the object of the next malloc define NAME too? */
bool mt_real_has(const char *name);

/* Does the allocator have a sized or non-standard entry point that makes trailers
   dangerous? */
bool mt_real_is_special(void);

/* Is it a sanitizer's allocator?  A trailer, or asking it for sizes, would falsify its
   findings. */
bool mt_real_is_sanitizer(void);

/* Do calls of malloc reach this library, or does the program's own malloc come first? */
bool mt_real_reached(void);

/* The next definition of NAME, or NULL.  Call only when the library starts. */
void *mt_real_next(const char *name);

/* The arena: zeroed blocks, 16-byte aligned or as asked (a power of two up to a
   page); NULL when it is full.  Pages nobody touched cost nothing. */
#define MT_ARENA_SIZE (1u << 18)
HIDDEN extern unsigned char mt_arena[MT_ARENA_SIZE];
void *mt_arena_allocate(size_t size, size_t alignment);
size_t mt_arena_size(const void *block);

static inline bool
mt_arena_holds(const void *block)
{
    return (uintptr_t)block - (uintptr_t)mt_arena < MT_ARENA_SIZE;
}

#endif
