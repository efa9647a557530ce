/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An allocator that never takes memory back.  A signal handler may interrupt each of its
   functions and call it again.  With -DBLIND (blind.c) it has no malloc_usable_size. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM ((size_t)1 << 32)

static unsigned char *arena;
static size_t used;

__attribute__((constructor)) static void
prepare(void)
{
    if (arena == NULL)
        arena = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void *
take(size_t alignment, size_t size)
{
    size_t room = size + alignment + 32, start;

    prepare();
    if (size > ROOM / 2) {
        errno = ENOMEM;
        return NULL;
    }
    start = __atomic_fetch_add(&used, room, __ATOMIC_RELAXED);
    if (start + room > ROOM)
        used = start = 0; /* their owners have freed them long ago */
    start = ((uintptr_t)arena + start + 16 + alignment - 1) & -alignment;
    ((size_t *)start)[-1] = size;
    return (void *)start;
}

void *malloc(size_t size) { return take(16, (size + 15) & -(size_t)16); }
void free(void *block) { (void)block; }
void *memalign(size_t alignment, size_t size) { return take(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return take(alignment, size); }
void *valloc(size_t size) { return take(4096, size); }
void *pvalloc(size_t size) { return take(4096, (size + 4095) & -(size_t)4096); }

int
posix_memalign(void **out, size_t alignment, size_t size)
{
    *out = take(alignment, size);
    return *out != NULL ? 0 : ENOMEM;
}

void *
calloc(size_t count, size_t size)
{
    void *block = malloc(count * size);

    return block != NULL ? memset(block, 0, count * size) : NULL;
}

void *
realloc(void *block, size_t size)
{
    void *moved = malloc(size);
    size_t old = block != NULL ? ((size_t *)block)[-1] : 0;

    return moved != NULL && block != NULL ? memcpy(moved, block, old < size ? old : size)
                                          : moved;
}

#ifndef BLIND
size_t
malloc_usable_size(void *block)
{
    return block != NULL ? ((size_t *)block)[-1] : 0;
}
#endif
