/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * display ROWS COLUMNS SECONDS MEMTOP ARG...
 *
 * Runs memtop on a terminal of its own and prints
 *   FRAME_MS CPU_PERCENT RSS_KIB BYTES_A_SECOND ANSWER_MS
 * FRAME_MS is the time from exec to the first complete picture.  CPU_PERCENT is its share
 * of a processor, and BYTES_A_SECOND what it writes, both measured for SECONDS after the
 * first second.  RSS_KIB is its memory at the end, ANSWER_MS the longest time that a key
 * waited for its answer.
 */
#include "config.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A picture is complete when nothing more has come for this long. */
#define QUIET_MS 30

static double
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* The number after KEY in a file of /proc/PID; -1 if there is none. */
static long
status_number(pid_t pid, const char *key)
{
    char path[64], line[256];
    long value = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            value = atol(line + strlen(key));
    if (file != NULL)
        fclose(file);
    return value;
}

/* User and system time in seconds, from the scheduler's nanoseconds. */
static double
cpu_seconds(pid_t pid)
{
    char path[64];
    double nanoseconds = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%lf", &nanoseconds) != 1)
            nanoseconds = 0;
        fclose(file);
    }
    return nanoseconds / 1e9;
}

static pid_t
start(int master, const struct winsize *size, char **argv)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    setsid();
    int slave = open(ptsname(master), O_RDWR);
    ioctl(slave, TIOCSWINSZ, size);
    for (int fd = 0; fd < 3; fd++)
        dup2(slave, fd);
    setenv("TERM", "xterm-256color", 1);
    execv(argv[0], argv);
    _exit(127);
}

/* Reads for ms milliseconds, or until nothing has come for quiet_ms after the
   first bytes.  Returns the time at which the last bytes came; *bytes is their number. */
static double
drain(int master, double ms, int quiet_ms, long *bytes)
{
    struct pollfd watched = {.fd = master, .events = POLLIN};
    double end = now_ms() + ms, last = 0;
    char buffer[65536];

    *bytes = 0;
    while (now_ms() < end) {
        int wait = *bytes > 0 ? quiet_ms : (int)(end - now_ms()) + 1;
        if (poll(&watched, 1, wait) <= 0)
            break;
        ssize_t got = read(master, buffer, sizeof buffer);
        if (got <= 0)
            break;
        *bytes += got;
        last = now_ms();
    }
    return last;
}

/* The longest time from a key to the first bytes of the answer, in ms, of some keys at
   different moments between the frames. */
static double
answer_time(int master)
{
    double worst = 0;
    long bytes;

    for (int i = 0; i < 20; i++) {
        drain(master, 37 + 13 * (i % 5), 10, &bytes);
        double asked = now_ms();

        if (write(master, i % 2 == 0 ? "l" : "e", 1) != 1)
            return -1;
        struct pollfd watched = {.fd = master, .events = POLLIN};

        if (poll(&watched, 1, 1000) > 0 && now_ms() - asked > worst)
            worst = now_ms() - asked;
    }
    return worst;
}

int
main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    const struct winsize size = {.ws_row = (unsigned short)atoi(argv[1]),
                                 .ws_col = (unsigned short)atoi(argv[2])};
    double seconds = atof(argv[3]);
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    long bytes;

    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        return 1;
    double began = now_ms();
    pid_t pid = start(master, &size, argv + 4);
    double frame = drain(master, 2000, QUIET_MS, &bytes) - began;
    drain(master, 1000, 1000, &bytes);
    double cpu = cpu_seconds(pid);
    double from = now_ms();
    drain(master, seconds * 1e3, 1000, &bytes);
    double elapsed = (now_ms() - from) / 1e3;
    cpu = cpu_seconds(pid) - cpu;
    long rss = status_number(pid, "VmRSS:");
    double answer = answer_time(master);
    kill(pid, SIGTERM);
    close(master);
    waitpid(pid, NULL, 0);
    if (rss <= 0)
        return 1;
    printf("%.1f %.2f %ld %.0f %.1f\n", frame, cpu / elapsed * 100, rss,
           (double)bytes / elapsed, answer);
    return 0;
}
