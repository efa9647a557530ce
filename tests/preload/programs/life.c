/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls before main and after it, before a thread's end and after it; and the
   ways in which a process can end. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>

#include "cases.h"

extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
extern void *__dso_handle;

/* Each call has a size in a cell of its own, so that the test can tell them apart. */
static void preinit(void) { free(malloc(1000)); }
__attribute__((section(".preinit_array"),
               used)) static void (*preinit_entry)(void) = preinit;

__attribute__((constructor)) static void
constructor(void)
{
    free(malloc(2000));
}

__attribute__((destructor)) static void
destructor(void)
{
    free(malloc(3000));
}

static void
at_exit(void)
{
    free(malloc(4000));
}

static pthread_key_t keys[3];

static void
key_ends(void *value)
{
    free(malloc((size_t)(uintptr_t)value));
}

static void
tls_ends(void *value)
{
    free(malloc((size_t)(uintptr_t)value));
}

static void *
thread_body(void *argument)
{
    void *block = malloc(5000);

    for (int i = 0; i < 3; i++)
        pthread_setspecific(keys[i], (void *)(uintptr_t)(6000 + 1000 * i));
    __cxa_thread_atexit_impl(tls_ends, (void *)9000, &__dso_handle);
    free(block);
    return argument;
}

static void
edges(void)
{
    pthread_t thread;

    atexit(at_exit);
    for (int i = 0; i < 3; i++)
        pthread_key_create(&keys[i], key_ends);
    pthread_create(&thread, NULL, thread_body, NULL);
    pthread_join(thread, NULL);
}

/* The first call of a thread must not change errno either, whichever call it is. */
static void *
first_free(void *block)
{
    errno = 4242;
    free(block);
    REQUIRE(errno == 4242);
    return NULL;
}

static void *
first_malloc(void *argument)
{
    errno = 4242;
    REQUIRE(malloc(10) != NULL && errno == 4242);
    return argument;
}

static void *
first_realloc(void *block)
{
    errno = 4242;
    REQUIRE(realloc(block, 5) != NULL && errno == 4242);
    return NULL;
}

static void *
first_null(void *argument)
{
    errno = 4242;
    free(NULL);
    REQUIRE(errno == 4242);
    return argument;
}

static void
first_calls(void)
{
    void *(*const bodies[])(void *) = {first_free, first_malloc, first_realloc,
                                       first_null};

    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, bodies[i], malloc(100));
        pthread_join(thread, NULL);
    }
}

/* ---- the ends of a process ---- */

static void
seven_blocks(void)
{
    struct rlimit no_core = {0, 0};

    setrlimit(RLIMIT_CORE, &no_core);
    for (int i = 0; i < 7; i++)
        REQUIRE(malloc(100) != NULL);
}

static void end_exit(void) { seven_blocks(); exit(0); }
static void end_quickly(void) { seven_blocks(); _exit(0); }
static void end_quick_exit(void) { seven_blocks(); quick_exit(0); }
static void end_abort(void) { seven_blocks(); abort(); }
static void end_kill(void) { seven_blocks(); kill(getpid(), SIGKILL); }
static void end_segv(void) { seven_blocks(); *(volatile int *)8 = 1; }
static void end_term(void) { seven_blocks(); kill(getpid(), SIGTERM); }

static void
end_stderr(void)
{
    seven_blocks();
    close(2);
}

/* ---- mistakes that glibc reports ---- */

static void *volatile victim;

static void
double_free(void)
{
    seven_blocks();
    victim = malloc(100);
    free(victim);
    free(victim);
}

static void
double_free_large(void)
{
    void *wall;

    seven_blocks();
    victim = malloc(5000);
    wall = malloc(100);
    free(victim);
    free(victim);
    free(wall);
}

static void
invalid_free(void)
{
    seven_blocks();
    victim = (char *)malloc(100) + 24;
    free(victim);
}

static void
stack_free(void)
{
    char block[256] = "on the stack";

    seven_blocks();
    victim = block + 64;
    free(victim);
}

static void
invalid_realloc(void)
{
    seven_blocks();
    victim = (char *)malloc(100) + 24;
    victim = realloc(victim, 9000);
}

CASES
    CASE(edges) CASE(first_calls) CASE(end_exit) CASE(end_quickly) CASE(end_quick_exit)
    CASE(end_abort) CASE(end_kill) CASE(end_segv) CASE(end_term) CASE(end_stderr)
    CASE(double_free) CASE(double_free_large) CASE(invalid_free) CASE(stack_free)
    CASE(invalid_realloc)
END_CASES
