/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs that close descriptors, enter sandboxes and give up privileges while the
   library is loaded, and check that everything is as it would be without it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "cases.h"

static void
work(void)
{
    for (size_t i = 0; i < 1000; i++)
        free(malloc(i));
}

static void
descriptors(void)
{
    work();
    for (int fd = 0; fd < 1000; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0)
            printf("%d %o\n", fd, (unsigned)st.st_mode);
    }
}

static long
elapsed_ms(const struct timespec *since)
{
    struct timespec now;

    /* The vdso answers this call without the TSC, which strict mode forbids as well. */
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

/* From here on any system call but read, write, exit and sigreturn kills the program.
   It runs long enough for the flight recorder to reach its fourth level. */
static void
strict(void)
{
    void *kept = malloc(100);
    struct timespec start;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &start);
    REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
    do
        work();
    while (elapsed_ms(&start) < 1300);
    free(kept);
    tell("still", 1);
    syscall(SYS_exit, 0);
}

static void
fork_and_work(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        work();
        exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

/* From here on, reading the TSC is a crash, in children too. */
static void
no_tsc(void)
{
    work();
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    work();
    fork_and_work();
}

static void
close_all(void)
{
    int fd;

    work();
    REQUIRE(syscall(SYS_close_range, 3u, ~0u, 0u) == 0);
    fd = open("/dev/zero", O_RDWR);
    REQUIRE(fd == 3);
    work();
    REQUIRE(lseek(fd, 0, SEEK_CUR) == 0);
}

/* Allocates at each of depth frames, so that there are stacks that the library has not
   seen yet. */
static __attribute__((noinline)) void
work_deep(unsigned depth)
{
    void *volatile block = malloc(depth * 8);

    if (depth > 0)
        work_deep(depth - 1);
    free(block);
}

/* Closes all inherited descriptors, as a daemon does, and opens others with the same
   numbers.  Nothing but the program's own data may pass through them. */
static void
numbers_used_again(void)
{
    char name[] = "/tmp/memtop-test-XXXXXX", read_back[16];
    int pair[2], file;

    work();
    REQUIRE(syscall(SYS_close_range, 3u, ~0u, 0u) == 0);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0 && pair[0] == 3
            && pair[1] == 4);
    file = mkstemp(name);
    REQUIRE(file == 5 && write(file, "mine", 4) == 4 && unlink(name) == 0);
    for (unsigned round = 0; round < 300; round++)
        work_deep(round % 60);
    REQUIRE(read(pair[0], read_back, 1) < 0 && errno == EAGAIN);
    REQUIRE(read(pair[1], read_back, 1) < 0 && errno == EAGAIN);
    REQUIRE(write(pair[0], "word", 4) == 4 && read(pair[1], read_back, 16) == 4
            && memcmp(read_back, "word", 4) == 0);
    REQUIRE(pread(file, read_back, 16, 0) == 4 && memcmp(read_back, "mine", 4) == 0);
}

/* Prints the number of the first file that the program opens.  (The test may have closed
   standard input.) */
static void
first_number(void)
{
    char byte;
    int file;

    work_deep(30);
    file = open("/dev/null", O_RDWR);
    tell("first", (unsigned long long)file);
    work_deep(50);
    REQUIRE(read(file, &byte, 1) == 0); /* nobody has written to it */
}

static void
in_chroot(void)
{
    work();
    REQUIRE(chroot(case_argv[2]) == 0 && chdir("/") == 0);
    work();
    fork_and_work();
}

static void
dropped(void)
{
    work();
    REQUIRE(setgid(65534) == 0 && setuid(65534) == 0);
    work();
    fork_and_work();
}

/* Uses the memory of the environment for something else, as setproctitle does. */
static void
new_environment(void)
{
    static char *none[] = {NULL};

    for (char **entry = environ; *entry != NULL; entry++)
        memset(*entry, 'x', strlen(*entry));
    environ = none;
    work();
    fork_and_work();
}

static void
preload_left(void)
{
    const char *left = getenv("LD_PRELOAD");

    printf("[%s]\n", left != NULL ? left : "unset");
    fflush(stdout);
    REQUIRE(system("exit 0") == 0);
}

/* Works for ten slots of the flight recorder, with a peak before them.  A slot in which
   nothing happens, because the machine is busy, does not count. */
static void
for_a_while(void)
{
    struct timespec start;
    long slots = 0, latest = -1;

    free(malloc(10000000));
    errno = 4242; /* must stay, even if the recorder's calls fail */
    clock_gettime(CLOCK_MONOTONIC_COARSE, &start);
    while (slots < 10) {
        long slot = elapsed_ms(&start) / 125;
        slots += slot != latest;
        latest = slot;
        work();
    }
    REQUIRE(errno == 4242);
}

static void
wait_for_clock(void)
{
    const struct timespec tick = {.tv_nsec = 1000000};
    struct timespec start;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &start);
    while (elapsed_ms(&start) < 3)
        nanosleep(&tick, NULL);
}

/* Allocates small blocks, far below the peak; the clock advances after each. */
static void
slowly(void)
{
    free(malloc(10000000));
    for (int i = 0; i < 400; i++) {
        REQUIRE(malloc(8) != NULL);
        wait_for_clock();
    }
}

/* The same in a cycle of 64 calls: 32 mallocs and 32 frees.  Calls before the cycle, and
   in the middle of the run, shift it by half its length. */
static void
slowly_by_turns(void)
{
    void *blocks[32];

    free(malloc(10000000));
    for (int i = 0; i < 32; i++)
        free(NULL);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 32; i++) {
            REQUIRE((blocks[i] = malloc(8)) != NULL);
            wait_for_clock();
        }
        for (int i = 0; i < 32; i++) {
            free(blocks[i]);
            wait_for_clock();
        }
        for (int i = 0; round == 4 && i < 32; i++)
            free(NULL);
    }
}

/* Holds a block until its input ends. */
static void
held(void)
{
    void *volatile block = malloc(1234567);
    char byte;

    REQUIRE(block != NULL && write(1, "held\n", 5) == 5);
    while (read(0, &byte, 1) > 0)
        ;
}

/* The same with a child that also holds a block. */
static void
held_family(void)
{
    int ready[2];
    char byte;
    pid_t child;

    REQUIRE(pipe(ready) == 0);
    child = fork();
    if (child == 0) {
        void *volatile block = malloc(7654321);

        REQUIRE(block != NULL && write(ready[1], "x", 1) == 1);
        while (read(0, &byte, 1) > 0)
            ;
        _exit(0);
    }
    REQUIRE(child > 0 && read(ready[0], &byte, 1) == 1);
    held();
    waitpid(child, NULL, 0);
}

CASES
CASE(work)
CASE(held) CASE(held_family) CASE(descriptors) CASE(strict) CASE(no_tsc) CASE(close_all)
    CASE(numbers_used_again) CASE(first_number) CASE(in_chroot) CASE(dropped)
        CASE(new_environment) CASE(preload_left) CASE(for_a_while) CASE(slowly)
            CASE(slowly_by_turns) END_CASES
