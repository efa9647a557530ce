/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lower bound: a preload library that only passes calls on.  Its cost is that of
 * interposing calls, which no library in front of malloc can avoid.
 */
#include "config.h"

#include <stddef.h>

/* glibc's own names for its allocator. */
void *__libc_malloc(size_t size);
void __libc_free(void *block);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

void *malloc(size_t size);
void free(void *block);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);

void *
malloc(size_t size)
{
    return __libc_malloc(size);
}

void
free(void *block)
{
    __libc_free(block);
}

void *
calloc(size_t count, size_t size)
{
    return __libc_calloc(count, size);
}

void *
realloc(void *block, size_t size)
{
    return __libc_realloc(block, size);
}
