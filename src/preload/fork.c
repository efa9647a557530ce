/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fork: the child gets its own segment, whose baseline is what the parent had live, and
 * never touches the parent's.
 *
 * The thread that forks sums up the parent just before (prepare), into memory the child
 * gets a copy of.  If two threads fork at once, the second one's child sums from the
 * parent's mapping instead, as after a raw clone.
 */
#include "config.h"

#include "preload/fork.h"

#include <errno.h>
#include <pthread.h>

#include "preload/publish.h"
#include "preload/real.h"
#include "preload/state.h"

/* glibc's pthread_atfork calls this from the part that is linked statically.  musl does
   not have it, and programs must at least start there. */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *)
    __attribute__((weak));
extern void *__dso_handle;

static struct mt_baseline baseline;
static uint32_t baseline_busy;
static mt_child_starter *start_child;

static void
prepare(void)
{
    if (!mt_guard.mode
        || __atomic_exchange_n(&baseline_busy, 1, __ATOMIC_ACQUIRE) != 0)
        return;
    mt_baseline_sum(&baseline);
    mt_thread.forking = 1;
}

static void
in_parent(void)
{
    if (!mt_thread.forking)
        return;
    mt_thread.forking = 0;
    __atomic_store_n(&baseline_busy, 0, __ATOMIC_RELEASE);
}

static void
in_child(void)
{
    int saved_errno = errno;
    bool exact = mt_thread.forking;

    mt_thread.forking = 0;
    baseline_busy = 0;
    if (mt_segment.header == NULL || (!mt_sandboxed && mt_started_here()))
        return;
    if (!exact)
        mt_baseline_sum(&baseline);
    start_child(exact ? ORIGIN_FORK : ORIGIN_RAW_CLONE, &baseline);
    errno = saved_errno;
}

void
mt_fork_install(mt_child_starter *starter)
{
    int (*install)(void (*)(void), void (*)(void), void (*)(void));

    start_child = starter;
    if (__register_atfork != NULL) {
        __register_atfork(prepare, in_parent, in_child, __dso_handle);
        return;
    }
    *(void **)&install = mt_real_next("pthread_atfork");
    if (install != NULL)
        install(prepare, in_parent, in_child);
}
