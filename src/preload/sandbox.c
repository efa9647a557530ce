/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that sandboxes itself with seccomp(2) may be killed for any system call it
 * did not announce, the library's included, and its filter cannot be queried without one.
 * But prctl() shows it: that call sets the filter, or the promise (no new privileges)
 * without which an ordinary user may not set one; and so does syscall(), by which a
 * privileged program sets one without either.  From then on the library makes no
 * system calls: new threads share a shard, forked children are not measured, and the file
 * of a segment that nobody keeps is left to the next sweep; blocks far from all others
 * are not counted, once the slabs made ready before are used (shadow.h).  Strict mode
 * also forbids the TSC, as PR_SET_TSC alone does.
 */
#include "config.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/public.h"
#include "preload/publish.h"
#include "preload/real.h"
#include "preload/recorder.h"
#include "preload/shadow.h"
#include "preload/shard.h"
#include "preload/hooks.h"
#include "preload/state.h"
#include "preload/ticks.h"

/* Asked before the filter is set.  A vfork child has our memory but is another process:
   it sandboxes only itself. */
static bool
shuts_us_in(int option)
{
    if (mt_sandboxed || (option != PR_SET_SECCOMP && option != PR_SET_NO_NEW_PRIVS))
        return false;
    return !mt_guard.mode || mt_started_here();
}

/* The memory that cannot be had any more afterwards.  A process that is dormant, and has
   not been awake yet, has none: its shard, too. */
static void
take_what_is_needed(void)
{
    int saved_errno = errno;

    if (mt_shards_begin() && mt_thread.state == THREAD_NEW)
        mt_shard_claim();
    mt_recorder_complete();
    mt_shadow_prepare();
    if (with_sites())
        mt_hooks.sampler->shut_in();
    errno = saved_errno;
}

/* Call before and after what shuts the process in. */
static void
shut_in_begin(void)
{
    if (mt_guard.mode)
        take_what_is_needed();
}

static bool
forbids_tsc(int option, unsigned long value)
{
    return (option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT)
           || (option == PR_SET_TSC && value == PR_TSC_SIGSEGV);
}

PUBLIC int
prctl(int option, ...)
{
    unsigned long words[4];
    va_list arguments;
    bool shuts = shuts_us_in(option);
    int result;

    va_start(arguments, option);
    for (unsigned i = 0; i < 4; i++)
        words[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    if (shuts)
        shut_in_begin();
    if (forbids_tsc(option, words[0])) {
        mt_ticks_become_coarse(); /* first: afterwards the clocks cannot be read */
        mt_tsc_forbidden = true;
    }
    if (mt_real.prctl != NULL)
        result = mt_real.prctl(option, words[0], words[1], words[2], words[3]);
    else
        result = (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
    if (result == 0 && shuts)
        mt_sandboxed = true;
    return result;
}

#if defined __x86_64__ && defined __LP64__
/* seccomp(2) has no function in libc.  A jump to libc's leaves all arguments in place. */
PUBLIC mt_syscall_function mt_syscall __asm__("syscall");

/* Before libc's is known: as libc does it.  Not inlined, so that the usual way is a jump.
 */
static __attribute__((noinline)) long
call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result = number;

    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    if ((unsigned long)result < -4095UL)
        return result;
    errno = (int)-result;
    return -1;
}

static __attribute__((noinline)) long
set_filter(long a, long b, long c, long d, long e, long f)
{
    bool shuts = (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER)
                 && shuts_us_in(PR_SET_SECCOMP);
    long result;

    if (shuts)
        shut_in_begin();
    if (a == SECCOMP_SET_MODE_STRICT) {
        mt_ticks_become_coarse();
        mt_tsc_forbidden = true;
    }
    result = call_kernel(SYS_seccomp, a, b, c, d, e, f);
    if (result == 0 && shuts)
        mt_sandboxed = true;
    return result;
}

long
mt_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (unlikely(number == SYS_seccomp))
        return set_filter(a, b, c, d, e, f);
    if (likely(mt_real.syscall != NULL))
        return mt_real.syscall(number, a, b, c, d, e, f);
    return call_kernel(number, a, b, c, d, e, f);
}
#endif
