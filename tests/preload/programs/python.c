/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into a Python interpreter by tests/preload/python.sh: the library's walker of
 * Python frames, and functions by which a script asks it (ctypes):
 *
 *  - walker_here() walks now, and returns what it saw;
 *  - walker_arm(SIZE) walks at this thread's next allocation of SIZE bytes or more, and
 *    walker_taken() returns what was seen there;
 *  - walker_every(N) walks at each Nth allocation of all threads, and describes all
 *    frames; the variable MEMTOP_TEST_EVERY=N does so from the start;
 *  - walker_steps(ON) walks after each instruction of this thread, in a signal handler;
 *    false if that cannot be done on this machine;
 *  - walker_answers(A) returns how many of these walks had the answer A; at the end they
 *    are written to the file that the variable MEMTOP_TEST_ANSWERS names;
 *  - walker_cost(N, D) walks N times and, if D, describes the innermost frame.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/lookup.h"
#include "preload/sites/python.h"
#include "preload/state.h"

#define FRAMES_MAX 4096
#define ANSWERS (PYTHON_HIDDEN + 1)

extern void *__libc_malloc(size_t size), *__libc_calloc(size_t count, size_t size),
    *__libc_realloc(void *block, size_t size);
extern void *__libc_stack_end;

__thread struct mt_thread mt_thread;

static __thread size_t armed;
static __thread bool walking;
static __thread char *taken;
static unsigned long every, calls, answers[ANSWERS];
static bool started;

/* ---- walking ---- */

static void
know_stack(void)
{
    if (mt_thread.stack_base == 0)
        mt_thread.stack_base = getpid() == gettid() ? (uintptr_t)__libc_stack_end
                                                    : (uintptr_t)pthread_self();
}

/* Walks into memory of libc's own, and writes a line for each frame. */
static void
take(void)
{
    struct mt_python_frame *frames =
        __libc_malloc(FRAMES_MAX * sizeof(struct mt_python_frame));
    enum python_answer answer;
    size_t size = FRAMES_MAX * 640, used = 0, count;

    know_stack();
    if (taken == NULL)
        taken = __libc_malloc(size);
    count = mt_python_frames(frames, FRAMES_MAX, &answer);
    used += (size_t)snprintf(taken, size, "%d", (int)answer);
    for (size_t i = 0; i < count; i++) {
        struct mt_python_place place;

        if (mt_python_describe(&frames[i], &place))
            used += (size_t)snprintf(taken + used, size - used, "\n%s|%s|%u|%u|%d",
                                     place.name, place.file, place.line, place.first_line,
                                     frames[i].entry);
        else
            used += (size_t)snprintf(taken + used, size - used, "\n?");
    }
    free(frames);
}

/* Walks as a sample would, and looks at all that was found. */
static void
sample(void)
{
    struct mt_python_frame frames[64];
    struct mt_python_place place;
    enum python_answer answer;
    int saved_errno = errno;
    size_t count;

    know_stack();
    count = mt_python_frames(frames, 64, &answer);
    for (size_t i = 0; i < count; i++)
        if (!mt_python_describe(&frames[i], &place))
            abort();
    /* A stack deeper than our array is no fault of the walk. */
    if (answer == PYTHON_CUT && count == 64)
        answer = PYTHON_WHOLE;
    __atomic_add_fetch(&answers[answer], 1, __ATOMIC_RELAXED);
    errno = saved_errno;
}

static void
allocated(size_t size)
{
    if (!started || walking)
        return;
    walking = true;
    if (armed != 0 && size >= armed) {
        armed = 0;
        take();
    }
    if (every != 0 && __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % every == 0)
        sample();
    walking = false;
}

void *
malloc(size_t size)
{
    void *block = __libc_malloc(size);

    allocated(size);
    return block;
}

void *
calloc(size_t count, size_t size)
{
    void *block = __libc_calloc(count, size);

    allocated(count * size);
    return block;
}

void *
realloc(void *old, size_t size)
{
    void *block = __libc_realloc(old, size);

    allocated(size);
    return block;
}

/* ---- asked by the script ---- */

const char *
walker_here(void)
{
    walking = true;
    take();
    walking = false;
    return taken;
}

void
walker_arm(size_t size)
{
    armed = size;
}

const char *
walker_taken(void)
{
    return armed == 0 ? taken : "not taken";
}

void
walker_every(unsigned long count)
{
    every = count;
}

unsigned long
walker_answers(int answer)
{
    return __atomic_load_n(&answers[answer], __ATOMIC_RELAXED);
}

/* The processor's trap flag: a signal after each instruction of this thread. */
#if defined __x86_64__
#define TRAP_FLAG 0x100

static __thread volatile sig_atomic_t stepping;

static void
step(int signal, siginfo_t *info, void *context)
{
    ucontext_t *thread = context;

    (void)signal;
    (void)info;
    if (!stepping)
        thread->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    else if (!walking)
        sample();
}

bool
walker_steps(bool on)
{
    const struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};

    sigaction(SIGTRAP, &action, NULL);
    stepping = on;
    if (on)
        __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory");
    return true;
}
#else
bool
walker_steps(bool on)
{
    (void)on;
    return false;
}
#endif

size_t
walker_cost(unsigned long count, bool describing)
{
    struct mt_python_frame frames[64];
    struct mt_python_place place;
    enum python_answer answer;
    size_t total = 0;

    know_stack();
    while (count-- > 0) {
        total += mt_python_frames(frames, 64, &answer);
        if (describing)
            mt_python_describe(&frames[0], &place);
    }
    return total;
}

/* ---- start and end ---- */

__attribute__((constructor)) static void
start(void)
{
    const char *words = getenv("MEMTOP_TEST_EVERY");

    mt_lookup_start();
    every = words != NULL ? strtoul(words, NULL, 10) : 0;
    started = true;
}

__attribute__((destructor)) static void
end(void)
{
    const char *path = getenv("MEMTOP_TEST_ANSWERS");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;

    if (file == NULL)
        return;
    fprintf(file, "answers of %#x:", mt_python_version());
    for (unsigned i = 0; i < ANSWERS; i++)
        fprintf(file, " %lu", answers[i]);
    fprintf(file, "\n");
    fclose(file);
}
