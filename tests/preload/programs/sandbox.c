/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs with a filter that kills them for every system call that they do not need
   themselves. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "cases.h"

#define STATEMENT(code, value) ((struct sock_filter)BPF_STMT(code, value))
#define ALLOWED_MAX 24

/* The system calls that malloc, write and exit need. */
static const int basic[] = {SYS_write,  SYS_brk,   SYS_mmap,       SYS_munmap,
                            SYS_mremap, SYS_futex, SYS_getrandom, SYS_exit_group, -1};
static const int for_threads[] = {SYS_clone, SYS_clone3, SYS_mprotect, SYS_rseq,
                                  SYS_set_robust_list, SYS_rt_sigprocmask,
                                  SYS_madvise, SYS_rt_sigaction, SYS_exit, -1};
static const int for_children[] = {SYS_clone, SYS_clone3, SYS_wait4, SYS_set_robust_list,
                                   SYS_rt_sigprocmask, -1};

/* Makes a filter that kills for system calls in neither list.  code must have room for
   it. */
static struct sock_fprog
make_filter(struct sock_filter *code, const int *more)
{
    struct sock_fprog program = {.filter = code};
    const int *lists[2] = {basic, more};

    code[program.len++] =
        STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int list = 0; list < 2; list++)
        for (const int *number = lists[list]; number != NULL && *number >= 0; number++) {
            code[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                               (unsigned)*number, 0, 1);
            code[program.len++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        }
    code[program.len++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    return program;
}

static void
close_sandbox(const int *more)
{
    struct sock_filter code[2 * ALLOWED_MAX + 2];
    struct sock_fprog program = make_filter(code, more);

    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void
pairs(int count)
{
    for (int i = 0; i < count; i++)
        free(malloc((size_t)i));
}

static long
elapsed_ms(const struct timespec *since)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

/* Calls malloc and free for some slots of the flight recorder; prints the number of
   pairs. */
static void
pairs_for_a_while(const struct timespec *start)
{
    unsigned long long rounds = 0;

    do {
        pairs(1000);
        rounds++;
    } while (elapsed_ms(start) < 500);
    tell("pairs", rounds * 1000);
}

static void
alone(void)
{
    struct timespec start;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &start);
    close_sandbox(NULL);
    pairs_for_a_while(&start);
}

/* Sets the filter without prctl(), by a bare system call, as root may.  It ends by
   _exit(), since the library intercepts exit(). */
static void
raw(void)
{
    struct sock_filter code[2 * ALLOWED_MAX + 2];
    struct sock_fprog program = make_filter(code, NULL);
    struct timespec start;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &start);
    pairs(1000);
    REQUIRE(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
    pairs_for_a_while(&start);
    _exit(0);
}

static void *
body(void *argument)
{
    pairs(1000);
    return argument;
}

static void
threads(void)
{
    pthread_t ids[4];

    close_sandbox(for_threads);
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&ids[i], NULL, body, NULL) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(ids[i], NULL);
}

static void
children(void)
{
    close_sandbox(for_children);
    for (int i = 0; i < 3; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            pairs(1000);
            exit(0);
        }
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    }
    pairs(1000);
}

CASES
    CASE(alone) CASE(raw) CASE(threads) CASE(children)
END_CASES
