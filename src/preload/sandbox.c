/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that shuts itself in, by seccomp(2), may be killed for any system call
 * it did not announce, ours too; and it cannot be asked without one.  But it tells:
 * prctl() sets the filter, or the promise without which an ordinary user may set
 * none.  From then on nothing of the library calls the kernel: new threads share a
 * shard, forked children are not measured, the file of an unkept segment is left
 * to the next sweep.  Strict mode also forbids the TSC, as PR_SET_TSC does alone.
 */
#include "config.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/public.h"
#include "preload/real.h"
#include "preload/ring/ring.h"
#include "preload/state.h"

bool mt_sandboxed, mt_tsc_forbidden;

/* Asked before the filter is there.  A vfork child has our memory but is another
   process: what it shuts in is itself. */
static bool
shuts_us_in(int option)
{
    if (mt_sandboxed || (option != PR_SET_SECCOMP && option != PR_SET_NO_NEW_PRIVS))
        return false;
    return !mt_guard.mode || mt_started_here();
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
    if (forbids_tsc(option, words[0])) {
        mt_ticks_become_coarse(); /* before: afterwards it is too late to ask */
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
