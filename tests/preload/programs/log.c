/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs for the text log and for traces. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cases.h"

void jemalloc_stats(void *stats, void *bins) __attribute__((weak));

/* volatile, because a compiler warns if it knows the value */
static volatile size_t too_much = (size_t)PTRDIFF_MAX + 1;

/* Makes every kind of line that a log can have, and the calls that have no kind of their
   own. */
static void
every(void)
{
    void *block = malloc(11);

    REQUIRE(block != NULL && jemalloc_stats != NULL);
    free(realloc(block, 2000));
    free(calloc(3, 13));
    REQUIRE(posix_memalign(&block, 64, 14) == 0);
    free(block);
    free(memalign(128, 15));
    free(aligned_alloc(256, 256));
    free(valloc(16));
    free(pvalloc(17));
    jemalloc_stats(NULL, NULL);
    free(realloc(NULL, 18));
    block = malloc(19);
    REQUIRE(realloc(block, too_much) == NULL && errno == ENOMEM);
    REQUIRE(realloc(block, 0) == NULL);
    free(NULL);
    REQUIRE(malloc(too_much) == NULL && calloc(too_much, 2) == NULL);
    free(reallocarray(NULL, 4, 5));
}

static void
work(void)
{
    for (size_t i = 0; i < 1000; i++) {
        errno = 77;
        free(realloc(malloc(i + 1), i + 100));
        REQUIRE(errno == 77);
    }
}

/* A parent and its child, with eight threads each.  The threads of a process exchange
   blocks and enlarge them, so addresses are used again soon and by other threads. */
#define THREADS 8
#define SLOTS   64

static void *slots[SLOTS];

static void *
exchange(void *seed)
{
    unsigned random = (unsigned)(uintptr_t)seed;

    for (unsigned i = 0; i < 3000; i++) {
        random = random * 1103515245 + 12345;
        void *block = __atomic_exchange_n(&slots[(random >> 8) % SLOTS], NULL,
                                          __ATOMIC_ACQ_REL);
        block =
            random & 1 ? realloc(block, 16 + (random >> 20)) : (free(block), malloc(40));
        free(
            __atomic_exchange_n(&slots[(random >> 16) % SLOTS], block, __ATOMIC_ACQ_REL));
    }
    return NULL;
}

static void
in_two_processes(void *(*work_of)(void *seed))
{
    pthread_t threads[THREADS];
    pid_t child;

    mallopt(M_ARENA_MAX, 1);
    child = fork();
    for (unsigned i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work_of, (void *)(uintptr_t)(i + 1))
                == 0);
    for (unsigned i = 0; i < THREADS; i++)
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    if (child == 0)
        exit(0);
    int status;
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

static void
crowd(void)
{
    in_two_processes(exchange);
}

/* The same, and each thread prints what it did with blocks of CENSUS_MIN bytes or more:
   call, number, bytes.  (The C library's own blocks are smaller, or much larger.) */
#define CENSUS_MIN 10000

struct tally {
    unsigned long times, bytes;
};

enum { MALLOC, CALLOC, REALLOC, FREE, MEMALIGN, CALLS };

static size_t
tallied(struct tally *tally, size_t size)
{
    tally->times++;
    tally->bytes += size;
    return size;
}

/* Writes the size of a block into its beginning. */
static void *
made(void *block, size_t size)
{
    REQUIRE(block != NULL);
    *(size_t *)block = size;
    return block;
}

static void *
one_more(void *block, unsigned random, struct tally tally[CALLS])
{
    size_t size = CENSUS_MIN + (random >> 8) % 5000;

    if (block != NULL && random % 4 != 0)
        return made(realloc(block, tallied(&tally[REALLOC], size)), size);
    if (block != NULL) {
        tallied(&tally[FREE], *(size_t *)block);
        free(block);
    }
    switch (random >> 4 & 3) {
    case 0:
        return made(calloc(1, tallied(&tally[CALLOC], size)), size);
    case 1:
        REQUIRE(posix_memalign(&block, 64, tallied(&tally[MEMALIGN], size)) == 0);
        return made(block, size);
    default:
        return made(malloc(tallied(&tally[MALLOC], size)), size);
    }
}

static void *
counted(void *seed)
{
    static const char *const names[CALLS] = {"malloc", "calloc", "realloc-to", "free",
                                             "posix_memalign"};
    struct tally tally[CALLS] = {0};
    unsigned random = (unsigned)(uintptr_t)seed;

    for (unsigned i = 0; i < 3000; i++) {
        size_t *block;

        random = random * 1103515245 + 12345;
        block =
            __atomic_exchange_n(&slots[(random >> 8) % SLOTS], NULL, __ATOMIC_ACQ_REL);
        block = __atomic_exchange_n(&slots[(random >> 16) % SLOTS],
                                    one_more(block, random, tally), __ATOMIC_ACQ_REL);
        if (block != NULL)
            tallied(&tally[FREE], *block);
        free(block);
    }
    for (int call = 0; call < CALLS; call++) {
        char line[128];
        int length = snprintf(line, sizeof line, "%ld %s %lu %lu\n", (long)gettid(),
                              names[call], tally[call].times, tally[call].bytes);

        REQUIRE(write(1, line, (size_t)length) == length);
    }
    return NULL;
}

static void
census(void)
{
    in_two_processes(counted);
}

/* Closes every descriptor, and uses all numbers for a file of the program. */
static void
descriptors_taken(void)
{
    struct stat st;
    int fd;

    work();
    for (fd = 3; fd < 1024; fd++)
        close(fd);
    fd = open("own", O_RDWR | O_CREAT, 0600);
    REQUIRE(fd == 3);
    for (int other = 4; other < 1024; other++)
        dup2(fd, other);
    work();
    REQUIRE(fstat(fd, &st) == 0 && st.st_size == 0);
}

/* The child of vfork() shares the memory but not the descriptors. */
static void
vforked(void)
{
    pid_t child;
    int status;

    work();
    child = vfork();
    if (child == 0) {
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
        free(malloc(1));
        _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    work();
}

/* Replaces standard output by a file, as a shell does. */
static void
output_redirected(void)
{
    struct stat st;

    work();
    int fd = open("own", O_RDWR | O_CREAT, 0600);
    REQUIRE(fd >= 0 && dup2(fd, 1) == 1);
    work();
    REQUIRE(fstat(fd, &st) == 0 && st.st_size == 0);
}

static volatile sig_atomic_t caught;

static void
count(int signal)
{
    (void)signal;
    caught++;
}

/* The log cannot be written; the program gets no signal. */
static void
unwritable(void)
{
    signal(SIGPIPE, count);
    signal(SIGXFSZ, count);
    work();
    REQUIRE(caught == 0);
}

static void
limited(void)
{
    struct rlimit limit = {10000, 10000};

    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    unwritable();
}

/* A pending signal of the program's own stays pending. */
static void
pending(void)
{
    sigset_t set;

    signal(SIGPIPE, count);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGPIPE);
    work();
    REQUIRE(caught == 0);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    REQUIRE(caught == 1);
}

CASES
    CASE(every) CASE(work) CASE(crowd) CASE(census) CASE(descriptors_taken) CASE(vforked)
    CASE(output_redirected) CASE(unwritable) CASE(limited) CASE(pending)
END_CASES
