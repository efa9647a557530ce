/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A library that records every call as Mozilla's logalloc does, for tests that
 * need logs of real programs: MALLOC_LOG is a descriptor or a file to append to,
 * with MALLOC_LOG_MINIMAL aligned blocks are recorded as memalign.  On glibc only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);
void *__libc_memalign(size_t alignment, size_t size);

static int log_fd = -1, minimal;

__attribute__((constructor)) static void
start(void)
{
    const char *target = getenv("MALLOC_LOG");

    if (target == NULL || *target == '\0')
        return;
    minimal = getenv("MALLOC_LOG_MINIMAL") != NULL;
    log_fd = *target >= '0' && *target <= '9'
                 ? atoi(target)
                 : open(target, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

/* "0x0" for NULL, too. */
#define ADDRESS "0x%jx"

static void
record(const char *format, ...)
{
    char text[256];
    int saved = errno, length;
    va_list arguments;

    if (log_fd < 0)
        return;
    length = snprintf(text, sizeof text, "%d %d ", getpid(), gettid());
    va_start(arguments, format);
    length += vsnprintf(text + length, sizeof text - length, format, arguments);
    va_end(arguments);
    text[length++] = '\n';
    if (write(log_fd, text, length) < 0)
        log_fd = -1;
    errno = saved;
}

void *
malloc(size_t size)
{
    void *block = __libc_malloc(size);

    record("malloc(%zu)=" ADDRESS, size, (uintmax_t)(uintptr_t)block);
    return block;
}

void *
calloc(size_t count, size_t size)
{
    void *block = __libc_calloc(count, size);

    record("calloc(%zu,%zu)=" ADDRESS, count, size, (uintmax_t)(uintptr_t)block);
    return block;
}

void *
realloc(void *block, size_t size)
{
    uintmax_t was = (uintptr_t)block;

    block = __libc_realloc(block, size);
    record("realloc(" ADDRESS ",%zu)=" ADDRESS, was, size, (uintmax_t)(uintptr_t)block);
    return block;
}

void
free(void *block)
{
    record("free(" ADDRESS ")", (uintmax_t)(uintptr_t)block);
    __libc_free(block);
}

static void *
aligned(const char *call, size_t alignment, size_t size)
{
    void *block = __libc_memalign(alignment, size);

    record("%s(%zu,%zu)=" ADDRESS, minimal ? "memalign" : call, alignment, size,
           (uintmax_t)(uintptr_t)block);
    return block;
}

void *
memalign(size_t alignment, size_t size)
{
    return aligned("memalign", alignment, size);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
    return aligned("aligned_alloc", alignment, size);
}

int
posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = aligned("posix_memalign", alignment, size);
    return *block != NULL ? 0 : ENOMEM;
}

void *
valloc(size_t size)
{
    void *block;

    if (minimal)
        return aligned("memalign", (size_t)getpagesize(), size);
    block = __libc_memalign((size_t)getpagesize(), size);
    record("valloc(%zu)=" ADDRESS, size, (uintmax_t)(uintptr_t)block);
    return block;
}

void
jemalloc_stats(void *stats, void *bins)
{
    record("jemalloc_stats()");
}
