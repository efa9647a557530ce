/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parsers on given texts, the rest on this process and its children. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "system/procfs.h"

static int
parse_status(const char *text, struct procfs_memory *out)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    int result;

    assert_non_null(file);
    result = procfs_parse_status(file, out);
    fclose(file);
    return result;
}

static void
test_status(void **state)
{
    struct procfs_memory memory;

    (void)state;
    assert_int_equal(0, parse_status("Name:\tx\nState:\tT (stopped)\nVmHWM:\t  20 kB\n"
                                     "VmRSS:\t      12 kB\nRssAnon:\t 5 kB\n"
                                     "VmStk:\t 132 kB\nThreads:\t3\n",
                                     &memory));
    assert_int_equal(memory.state, 'T');
    assert_int_equal(memory.rss, 12 * 1024);
    assert_int_equal(memory.rss_anon, 5 * 1024);
    assert_int_equal(memory.rss_peak, 20 * 1024);
    assert_int_equal(memory.stack_size, 132 * 1024);
    assert_int_equal(memory.rss_file, 0);
    assert_int_equal(memory.threads, 3);
}

static void
test_hostile_status(void **state)
{
    struct procfs_memory memory = {.rss = 77};
    char text[9000];

    (void)state;
    assert_int_equal(-ESRCH, parse_status("no such thing\n", &memory));
    assert_int_equal(memory.rss, 77);
    assert_int_equal(0, parse_status("State:\tR\nVmRSS:\t-3 kB\nThreads:\tmany\n"
                                     "VmHWM:\t99999999999999999999999 kB\n"
                                     "RssAnon:\t18446744073709551615 kB",
                                     &memory));
    assert_int_equal(memory.rss, 0);
    assert_int_equal(memory.rss_peak, 0);
    assert_int_equal(memory.threads, 0);
    assert_true(memory.rss_anon == UINT64_MAX);
    /* A line longer than any buffer does not hide the lines after it, and its middle is
       not taken for a line. */
    memset(text, '7', sizeof text);
    memcpy(text, "Groups:\t", 8);
    for (size_t i = 200; i < 8900; i++)
        memcpy(text + i, "VmRSS:\t1 kB ", 12), i += 11;
    strcpy(text + sizeof text - 40, "\nState:\tS\nVmRSS:\t4 kB\n");
    assert_int_equal(0, parse_status(text, &memory));
    assert_int_equal(memory.rss, 4096);
}

static void
test_stat(void **state)
{
    struct procfs_stat stat;

    (void)state;
    assert_int_equal(0,
                     procfs_parse_stat("7 (a b) S 1) R 42 7 7 0 -1 4194560 1 2 3 4 5 6 "
                                       "7 8 20 0 1 0 123456 99 88\n",
                                       &stat));
    assert_int_equal(stat.state, 'R');
    assert_int_equal(stat.parent, 42);
    assert_int_equal(stat.start_ticks, 123456);
    assert_int_equal(-EPROTO, procfs_parse_stat("", &stat));
    assert_int_equal(-EPROTO, procfs_parse_stat("7 (x)", &stat));
    assert_int_equal(-EPROTO, procfs_parse_stat("7 (x) ", &stat));
    assert_int_equal(-EPROTO, procfs_parse_stat("7 (x) R", &stat));
    assert_int_equal(-EPROTO, procfs_parse_stat("7 (x) R 1 2 3 -", &stat));
    assert_int_equal(-EPROTO, procfs_parse_stat("7 (x) R 1 2 3 x 5 6 7 8", &stat));
}

static void
test_self(void **state)
{
    struct procfs_memory memory;
    uint64_t start, touched;
    uid_t real, effective;
    char program[4096], cut[8];

    (void)state;
    assert_int_equal(0, procfs_program(getpid(), program, sizeof program));
    assert_int_equal('/', program[0]);
    assert_string_equal("procfs", strrchr(program, '/') + 1);
    assert_int_equal(0, procfs_program(getpid(), cut, sizeof cut));
    assert_int_equal(sizeof cut - 1, strlen(cut));
    assert_int_equal(0, procfs_memory(getpid(), &memory));
    assert_true(memory.rss > 100 * 1024 && memory.rss_peak >= memory.rss / 2);
    assert_int_equal(memory.state, 'R');
    assert_int_equal(memory.threads, 1);
    assert_int_equal(0, procfs_start(getpid(), &start));
    assert_true(start > 0);
    assert_int_equal(0, procfs_uids(getpid(), &real, &effective));
    assert_int_equal(real, getuid());
    assert_int_equal(effective, geteuid());
    assert_int_equal(0, procfs_stack_touched(getpid(), &touched));
    assert_in_range(touched, 4096, memory.stack_size);
}

/* Writes to every page of a big frame below the caller's. */
__attribute__((noinline)) static void
touch_stack(size_t size)
{
    volatile char *frame = __builtin_alloca(size);

    for (size_t i = 0; i < size; i += 1024)
        frame[i] = 1;
}

static void
test_stack_grows(void **state)
{
    uint64_t before, after;

    (void)state;
    assert_int_equal(0, procfs_stack_touched(getpid(), &before));
    touch_stack(before + (1 << 20));
    assert_int_equal(0, procfs_stack_touched(getpid(), &after));
    assert_true(after >= before + (1 << 20));
    assert_true(after < before + (2 << 20));
}

static void
test_gone(void **state)
{
    struct procfs_memory memory = {.rss = 5};
    char program[16];
    uint64_t number;
    uid_t uid;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        _exit(0);
    assert_int_equal(pid, waitpid(pid, NULL, 0));
    assert_true(procfs_program(pid, program, sizeof program) < 0);
    assert_true(procfs_memory(pid, &memory) < 0);
    assert_int_equal(memory.rss, 5);
    assert_true(procfs_start(pid, &number) < 0);
    assert_true(procfs_stack_touched(pid, &number) < 0);
    assert_true(procfs_uids(pid, &uid, &uid) < 0);
}

/* A child that has a child of its own; both say so on the pipe and wait. */
static void
test_descendants(void **state)
{
    int ready[2];
    pid_t pids[8], few[1], child, grandchild;
    unsigned count;

    (void)state;
    assert_int_equal(0, pipe(ready));
    child = fork();
    if (child == 0) {
        grandchild = fork();
        if (grandchild)
            (void)!write(ready[1], &grandchild, sizeof grandchild);
        for (;;)
            pause();
    }
    assert_int_equal(sizeof grandchild, read(ready[0], &grandchild, sizeof grandchild));
    assert_int_equal(0, procfs_descendants(getpid(), pids, 8, &count));
    assert_int_equal(count, 2);
    assert_int_equal(pids[0], child);
    assert_int_equal(pids[1], grandchild);
    assert_int_equal(0, procfs_descendants(getpid(), few, 1, &count));
    assert_true(count >= 1);
    assert_int_equal(few[0], child);
    assert_int_equal(0, procfs_descendants(grandchild, pids, 8, &count));
    assert_int_equal(count, 0);
    kill(grandchild, SIGKILL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

/* Touching pages increases the resident memory by them, and all of it is counted. */
static void
test_resident(void **state)
{
    const size_t size = 8u << 20;
    const struct smaps_hints hints = {0};
    struct resident before, after;
    struct procfs_memory memory;
    struct rlimit limit;
    uint64_t stack;
    char *block;

    (void)state;
    assert_int_equal(0, procfs_resident(getpid(), &hints, &before));
    block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(block, MAP_FAILED);
    memset(block, 1, size);
    assert_int_equal(0, procfs_resident(getpid(), &hints, &after));
    assert_int_equal(0, procfs_memory(getpid(), &memory));
    assert_true(after.rss[REGION_ANON] >= before.rss[REGION_ANON] + size);
    assert_true(after.size[REGION_ANON] >= before.size[REGION_ANON] + size);
    assert_true(after.rss[REGION_STACK] > 0 && after.rss[REGION_PROGRAM] > 0);
    /* The kernel's own sum is late by some pages per processor. */
    assert_true(after.total < memory.rss + size && memory.rss < after.total + size);
    munmap(block, size);
    assert_int_equal(0, getrlimit(RLIMIT_STACK, &limit));
    assert_int_equal(0, procfs_stack_limit(getpid(), &stack));
    assert_int_equal(stack, limit.rlim_cur == RLIM_INFINITY ? 0 : limit.rlim_cur);
    assert_true(procfs_resident(-1, &hints, &after) < 0);
    assert_true(procfs_stack_limit(-1, &stack) < 0);
}

#define DEEP (100 * 1024)
#define SMALL_STACK (256 * 1024)

static void *
reach_deep(void *out)
{
    volatile char deep[DEEP];
    struct procfs_stack *stacks = out;

    for (size_t i = 0; i < sizeof deep; i += 1024) /* every page */
        deep[i] = 1;
    stacks[0].base = (uintptr_t)pthread_self();
    stacks[1].base = 16; /* of no thread */
    assert_int_equal(0, procfs_stacks(getpid(), stacks, 2));
    (void)deep[0];
    return NULL;
}

/* A thread's stack: its size as asked for, and touched to its deepest page. */
static void
test_stacks(void **state)
{
    struct procfs_stack stacks[2] = {0};
    pthread_attr_t attributes;
    pthread_t thread;

    (void)state;
    pthread_attr_init(&attributes);
    assert_int_equal(0, pthread_attr_setstacksize(&attributes, SMALL_STACK));
    assert_int_equal(0, pthread_create(&thread, &attributes, reach_deep, stacks));
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    assert_true(stacks[0].size > SMALL_STACK / 2);
    assert_true(stacks[0].touched > DEEP && stacks[0].touched <= stacks[0].size);
    assert_int_equal(stacks[1].size, 0);
    assert_int_equal(stacks[1].touched, 0);
    assert_true(procfs_stacks(-1, stacks, 2) < 0);
}

/* A program is not mistaken for another whose name begins with the same letters. */
static void
test_executes(void **state)
{
    char exe[512], other[600];

    (void)state;
    assert_int_equal(0, procfs_program(getpid(), exe, sizeof exe));
    assert_int_equal(1, procfs_executes(getpid(), exe));
    snprintf(other, sizeof other, "%sinfo", exe);
    assert_int_equal(0, procfs_executes(getpid(), other));
    exe[strlen(exe) - 1] = '\0';
    assert_int_equal(0, procfs_executes(getpid(), exe));
    assert_int_equal(-ENOENT, procfs_executes(INT32_MAX, exe));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),      cmocka_unit_test(test_hostile_status),
        cmocka_unit_test(test_stat),        cmocka_unit_test(test_self),
        cmocka_unit_test(test_stack_grows), cmocka_unit_test(test_gone),
        cmocka_unit_test(test_descendants),
        cmocka_unit_test(test_resident),
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_executes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
