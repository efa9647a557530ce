/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * If the loader cannot preload a library it goes on without it.  So the child has to
 * check which allocator it really has: --expect.  It sends its struct replay_result
 * through a pipe; child and parent are the same program.
 *
 * The user's LD_PRELOAD stays in front, so memtop can watch all replays.
 */
#include "config.h"

#include "programs/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 16

const char *const compare_known[] = {"glibc", "jemalloc", "tcmalloc", "mimalloc", NULL};

/* Library names of each allocator; the first that exists is used. */
static const struct {
    const char *name, *libraries[4];
} known[] = {
    {"glibc", {""}},
    {"jemalloc", {"libjemalloc.so.2", "libjemalloc.so"}},
    {"tcmalloc", {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4", "libtcmalloc.so"}},
    {"mimalloc", {"libmimalloc.so.3", "libmimalloc.so.2", "libmimalloc.so"}},
};

static void
set_preload(const char *library)
{
    const char *others = getenv("LD_PRELOAD");
    char *value;

    if (*library == '\0')
        return;
    if (others == NULL || *others == '\0')
        setenv("LD_PRELOAD", library, 1);
    else if (asprintf(&value, "%s:%s", others, library) > 0)
        setenv("LD_PRELOAD", value, 1);
}

static _Noreturn void
become_replay(const char *allocator, const char *library, int log, int result,
              char *const words[])
{
    char expect[512], figures[32], from[32], *argv[WORDS_MAX + 4] = {"memtop-replay"};
    size_t count = 1;
    int nothing = open("/dev/null", O_WRONLY), fd;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_preload(library);
    /* Open it again, so that the child starts at its beginning with its own file
       offset. */
    snprintf(from, sizeof from, "/proc/self/fd/%d", log);
    fd = open(from, O_RDONLY);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0 ||
        dup2(nothing, STDERR_FILENO) < 0)
        _exit(2);
    fcntl(result, F_SETFD, 0);
    snprintf(expect, sizeof expect, "--expect=%s", allocator);
    snprintf(figures, sizeof figures, "--result=%d", result);
    argv[count++] = expect;
    argv[count++] = figures;
    while (*words != NULL && count < WORDS_MAX)
        argv[count++] = *words++;
    execv("/proc/self/exe", argv);
    _exit(2);
}

static bool
read_result(int fd, struct replay_result *result)
{
    ssize_t count;

    do
        count = read(fd, result, sizeof *result);
    while (count < 0 && errno == EINTR);
    /* The child writes it at once, which is atomic up to PIPE_BUF. */
    _Static_assert(sizeof *result <= 4096, "PIPE_BUF");
    result->allocator[sizeof result->allocator - 1] = '\0';
    return count == (ssize_t)sizeof *result;
}

static enum compare_verdict
run_library(const char *allocator, const char *library, int fd, char *const words[],
            struct replay_result *result, int *status)
{
    int ends[2];
    pid_t child;
    bool got;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return COMPARE_ERROR;
    child = fork();
    if (child == 0)
        become_replay(allocator, library, fd, ends[1], words);
    close(ends[1]);
    got = child > 0 && read_result(ends[0], result);
    close(ends[0]);
    if (child < 0)
        return COMPARE_ERROR;
    while (waitpid(child, status, 0) < 0 && errno == EINTR)
        ;
    if (got)
        return COMPARE_DONE;
    return WIFEXITED(*status) && WEXITSTATUS(*status) == COMPARE_ABSENT ? COMPARE_MISSING
                                                                        : COMPARE_FAILED;
}

enum compare_verdict
compare_run(const char *allocator, int fd, char *const words[],
            struct replay_result *result, int *status)
{
    enum compare_verdict verdict = COMPARE_MISSING;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, allocator) != 0)
            continue;
        for (size_t j = 0; known[i].libraries[j] != NULL && verdict == COMPARE_MISSING;
             j++)
            verdict = run_library(allocator, known[i].libraries[j], fd, words, result,
                                  status);
        return verdict;
    }
    /* The loader would take these for separators. */
    if (*allocator == '\0' || strpbrk(allocator, ": ") != NULL)
        return COMPARE_NAME;
    return run_library(allocator, allocator, fd, words, result, status);
}
