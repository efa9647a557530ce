/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library that interposes functions that libmemtop might call, and allocates in them
   while it holds a lock. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void
meddle(void)
{
    pthread_mutex_lock(&mutex);
    free(malloc(77));
    pthread_mutex_unlock(&mutex);
}

int
open(const char *path, int flags, ...)
{
    meddle();
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}

int
openat(int directory, const char *path, int flags, ...)
{
    meddle();
    return (int)syscall(SYS_openat, directory, path, flags, 0600);
}

int close(int fd) { meddle(); return (int)syscall(SYS_close, fd); }
int ftruncate(int fd, off_t size)
{ meddle(); return (int)syscall(SYS_ftruncate, fd, size); }
int fstat(int fd, struct stat *st) { meddle(); return (int)syscall(SYS_fstat, fd, st); }
pid_t getpid(void) { meddle(); return (pid_t)syscall(SYS_getpid); }
uid_t geteuid(void) { meddle(); return (uid_t)syscall(SYS_geteuid); }
int madvise(void *at, size_t size, int how)
{ meddle(); return (int)syscall(SYS_madvise, at, size, how); }

void *
mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    meddle();
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

int munmap(void *at, size_t size) { meddle(); return (int)syscall(SYS_munmap, at, size); }

char *
getenv(const char *name)
{
    static char *(*next)(const char *);

    meddle();
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "getenv");
    return next(name);
}
