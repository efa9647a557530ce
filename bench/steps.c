/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * steps PROGRAM ARG...
 *
 * Prints how many instructions PROGRAM executes between the two SIGWINCH that it
 * sends itself (without a tracer they do nothing).  The CPU executes one at a
 * time: no emulation, no sampling, and needing no counter of the hardware, which
 * virtual machines rarely have.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Lets it go on as request says, with a signal; the signal that stops it next, or
   -1 when it has ended. */
static int
resume(pid_t pid, int request, int signal)
{
    int status;

    if (ptrace(request, pid, 0, signal) < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFSTOPPED(status) ? WSTOPSIG(status) : -1;
}

/* Until the first mark at full speed. */
static int
run_to_mark(pid_t pid)
{
    int signal = 0;

    do
        signal = resume(pid, PTRACE_CONT, signal == SIGTRAP ? 0 : signal);
    while (signal >= 0 && signal != SIGWINCH);
    return signal;
}

int
main(int argc, char **argv)
{
    unsigned long count = 0;
    int status, signal = 0;
    pid_t pid;

    if (argc < 2)
        return 2;
    pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || run_to_mark(pid) < 0)
        return 1;
    while ((signal = resume(pid, PTRACE_SINGLESTEP, 0)) == SIGTRAP)
        count++;
    if (signal != SIGWINCH)
        return 1;
    printf("%lu\n", count);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return 0;
}
