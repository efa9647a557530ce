/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the cost of starting processes.
 *
 *   spawn exec COUNT [MIB]   COUNT times posix_spawn (vfork) of /bin/true
 *   spawn fork COUNT [MIB]   COUNT times fork; the child ends at once
 *
 * Prints "BEST MEDIAN" microseconds from the start of a child until it has been waited
 * for.  MIB megabytes in blocks of 1000 bytes are live meanwhile.
 */
#include "config.h"

#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES 1000

static double
now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static pid_t
by_exec(void)
{
    char *const argv[] = {(char *)"true", NULL};
    pid_t pid;

    return posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0 ? pid : -1;
}

static pid_t
by_fork(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return pid;
}

static int
compare(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;

    return (difference > 0) - (difference < 0);
}

int
main(int argc, char **argv)
{
    pid_t (*start)(void) = argc > 1 && strcmp(argv[1], "fork") == 0 ? by_fork : by_exec;
    int count = argc > 2 ? atoi(argv[2]) : 0;
    int blocks = argc > 3 ? atoi(argv[3]) * (1 << 20) / BLOCK_BYTES : 0;
    double *times;

    if (count < 1 || (times = calloc((size_t)count, sizeof *times)) == NULL) {
        fprintf(stderr, "usage: spawn exec|fork COUNT [MIB]\n");
        return 2;
    }
    while (blocks-- > 0)
        memset(malloc(BLOCK_BYTES), 1, BLOCK_BYTES);
    for (int i = 0; i < count; i++) {
        double before = now_us();
        pid_t pid = start();
        if (pid < 0 || waitpid(pid, NULL, 0) != pid)
            return 1;
        times[i] = now_us() - before;
    }
    qsort(times, (size_t)count, sizeof *times, compare);
    printf("%.1f %.1f\n", times[0], times[count / 2]);
    return 0;
}
