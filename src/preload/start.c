/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How counting starts: at the first call of any wrapper, long before the constructors of
 * the program's libraries run, or in our own constructor if nothing was called until
 * then; and again in every child.
 */
#include "config.h"

#include "preload/start.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/account.h"
#include "preload/baseline.h"
#include "preload/dormant.h"
#include "preload/fork.h"
#include "preload/hooks.h"
#include "preload/log/log.h"
#include "preload/lookup.h"
#include "preload/memprof/profile.h"
#include "preload/options.h"
#include "preload/publish.h"
#include "preload/real.h"
#include "preload/recorder.h"
#include "preload/ring/recorded.h"
#include "preload/sites/sample.h"
#include "preload/sites/sites.h"
#include "preload/shard.h"
#include "preload/sizes.h"
#include "preload/state.h"
#include "preload/ticks.h"
#include "preload/trailer.h"
#include "preload/windows.h"
#include "segment/seqlock.h"

enum phase {
    PHASE_NEW = 0,
    PHASE_STARTING,
    PHASE_ACTIVE,
    PHASE_PASSIVE
};

static uint32_t phase;
static enum segment_accounting accounting;
static bool sampling;

/*
 * An allocator may allocate when malloc_usable_size is called for the first time:
 * tcmalloc does so with operator new, which is ours and, once it counts, asks for the
 * size again, without end.  So it is called once while nothing is counted yet.
 */
static void
rouse_allocator(void)
{
    /* LeakSanitizer does not survive the call. */
    if (mt_real.malloc_usable_size != NULL && !mt_real_is_sanitizer())
        mt_real.malloc_usable_size(NULL);
    mt_real.doubts = mt_real.is_libcs && HEADS_READABLE ? HEAD_DOUBTS : HEADS_UNKNOWN;
}

/* Sized entry points would see blocks 8 bytes longer than they were told, and without
   malloc_usable_size a block's size is unknown. */
static enum segment_accounting
choose_accounting(void)
{
    if (!mt_real_has("malloc_usable_size"))
        return ACCOUNTING_NONE;
    if (mt_options.accounting != ACCOUNTING_NONE)
        return mt_options.accounting;
    return mt_real_is_special() ? ACCOUNTING_USABLE : ACCOUNTING_REQUESTED;
}

static uint32_t
active_mode(void)
{
    uint32_t mode = accounting | (mt_logging() ? MODE_LOGGED : 0);

    if (mt_options.ring_capacity > 0)
        mode |= MODE_EVENTS | (mt_tsc_readable() ? MODE_TSC : 0);
    return sampling && mode != ACCOUNTING_REQUESTED ? mode | MODE_SITES : mode;
}

/* From now on calls are passed through; the segment, if there is one, says why. */
static void
stay_passive(enum segment_reason reason)
{
    __atomic_store_n(&phase, PHASE_PASSIVE, __ATOMIC_RELEASE);
    if (mt_segment.header == NULL)
        return;
    mt_segment.header->reason = reason;
    __atomic_store_n(&mt_segment.header->state, SEGMENT_PASSIVE, __ATOMIC_RELEASE);
}

/* Makes present what is needed to count; false if there is no memory. */
static bool
begin_counting(void)
{
    mt_recorder_ready();
    return mt_shards_begin();
}

/* Where sizes are kept, and whether calls may be counted by the packed way. */
static void
choose_sizes(void)
{
    bool requested = accounting == ACCOUNTING_REQUESTED;

    mt_guard.shadow = requested && mt_real.doubts != HEADS_UNKNOWN;
    mt_guard.padding = requested && !mt_guard.shadow ? TRAILER_BYTES : 0;
    mt_guard.packed = !mt_options.exact && (!requested || mt_real.doubts == 0);
    if (mt_guard.shadow)
        mt_segment.header->flags |= SEGMENT_FLAG_SHADOW;
}

static void
activate(void)
{
    uint32_t mode = active_mode();

    mt_guard.exact = mt_options.exact;
    mt_guard.sites = sampling;
    if (mt_options.ring_capacity > 0)
        mt_recorded_start();
    choose_sizes();
    mt_segment.header->accounting = accounting;
    mt_recorder_start();
    if (mt_options.dormant)
        mode |= mt_dormant_start();
    if (!(mode & MODE_ASLEEP) && !begin_counting()) {
        stay_passive(REASON_NO_ROOM);
        return;
    }
    mt_guard.mappings = mt_options.mappings && !(mode & MODE_ASLEEP);
    mt_thread.shard = MT_NO_SHARD;
    mt_thread.state = THREAD_NEW;
    mt_thread.limit_checks = 0;
    /* Done now and not at the first call, because a sandbox may close before that. */
    if (!(mode & MODE_ASLEEP))
        mt_shard_claim();
    __atomic_store_n(&phase, PHASE_ACTIVE, __ATOMIC_RELAXED);
    mt_mode_change(mode, ~0u);
    __atomic_store_n(&mt_segment.header->state, SEGMENT_ACTIVE, __ATOMIC_RELEASE);
}

static enum segment_reason
reason_not_to_count(void)
{
    if (mt_options.other_program)
        return REASON_OTHER_PROGRAM;
    if (mt_lookup_late())
        return REASON_LOADED_LATE;
    if (!mt_real_reached())
        return REASON_OWN_MALLOC;
    if (mt_real_is_sanitizer())
        return REASON_SANITIZER;
    return accounting == ACCOUNTING_NONE ? REASON_NO_USABLE_SIZE : REASON_NONE;
}

static mt_child_starter start_child;

static void
start(void)
{
    const char *wanted, *runtime;
    enum segment_reason reason;

    mt_real_resolve();
    mt_options_read(&mt_options, &wanted, &runtime);
    mt_publish_directories(wanted, runtime);
    if (getauxval(AT_SECURE) != 0) {
        stay_passive(REASON_NONE);
        return;
    }
    accounting = choose_accounting();
    if (accounting != ACCOUNTING_REQUESTED && !mt_options.sites_asked)
        mt_options.sites = false;
    rouse_allocator();
    reason = mt_publish(ORIGIN_EXEC, NULL, NULL);
    /* The log works whether calls can be counted or not. */
    mt_log_start(mt_options.log, mt_options.log_minimal);
    if (reason == REASON_NONE)
        reason = reason_not_to_count();
    if (reason != REASON_NONE) {
        stay_passive(reason);
        return;
    }
    /* If the kernel refuses this, only the fork handlers notice children. */
    syscall(SYS_madvise, &mt_guard, sizeof mt_guard, MADV_WIPEONFORK);
    mt_shard_install();
    mt_fork_install(start_child);
    sampling = mt_sample_start();
    activate();
}

/* A child made by clone without libc's knowledge: the parent's mapping says, as of now,
   what the child started with. */
static void
start_clone(void)
{
    struct mt_baseline baseline;

    mt_baseline_sum(&baseline);
    start_child(ORIGIN_RAW_CLONE, &baseline);
}

static void
start_child(enum segment_origin origin, const struct mt_baseline *baseline)
{
    const struct mt_segment parent = mt_segment;
    enum segment_reason reason;

    /* A signal handler that runs now must not start the child again. */
    __atomic_store_n(&phase, PHASE_STARTING, __ATOMIC_RELAXED);
    mt_mode_change(0, ~0u);
    mt_profile_forget();
    memset(&mt_segment, 0, sizeof mt_segment);
    if (mt_sandboxed) {
        stay_passive(REASON_NONE);
        return;
    }
    mt_windows_unmap();
    mt_sites_forked();
    reason = mt_publish(origin, parent.header, baseline);
    if (reason == REASON_NONE) {
        if (mt_options.dormant)
            mt_dormant_inherit(&parent);
        mt_publish_inherited(&parent);
        sampling = sampling && mt_sample_inherit();
    }
    mt_unmap(&parent);
    if (reason == REASON_NONE)
        activate();
    else
        stay_passive(reason);
}

static bool
is_counting(void)
{
    return mt_guard.mode != 0 && (mt_guard.mode & MODE_ASLEEP) == 0;
}

/* Called asleep.  The first time the process needs memory for what it will count; without
   it it sleeps on until the lease is renewed. */
static bool
wake_dormant(void)
{
    static uint64_t refused;
    uint64_t until = word_load(mt_guard.lease);

    if (until == mt_guard.lease_seen || until == word_load(&refused))
        return false;
    if (mt_sandboxed ? mt_segment.process->shards_used == 0 : !mt_shards_begin()) {
        word_store(&refused, until);
        return false;
    }
    return mt_dormant_wake();
}

bool
mt_wake(void)
{
    uint32_t seen;
    int saved_errno;

    if (mt_guard.mode & (MODE_LOGGED | MODE_PROFILED))
        return true;
    seen = __atomic_load_n(&phase, __ATOMIC_ACQUIRE);
    saved_errno = errno;
    if (mt_guard.mode & MODE_ASLEEP)
        return wake_dormant();
    if (seen == PHASE_PASSIVE || seen == PHASE_STARTING || environ == NULL)
        return false;
    if (!__atomic_compare_exchange_n(&phase, &seen, PHASE_STARTING, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return is_counting();
    if (seen == PHASE_NEW)
        start();
    else if (!mt_guard.mode)
        start_clone();
    else /* another thread has started it meanwhile */
        __atomic_store_n(&phase, PHASE_ACTIVE, __ATOMIC_RELEASE);
    errno = saved_errno;
    return is_counting();
}

/* Only glibc passes argc and argv to constructors. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));

__attribute__((constructor)) static void
on_load(int argc, char **argv)
{
    int saved_errno = errno;

    if (!mt_guard.mode)
        mt_wake();
    if (mt_segment.header != NULL && gnu_get_libc_version != NULL)
        mt_publish_arguments(argc, argv);
    if (mt_guard.mode)
        mt_sample_loaded();
    if (mt_options.root_only && mt_lookup_own() != NULL)
        mt_options_leave_preload(mt_lookup_own()->l_name);
    errno = saved_errno;
}

/* Notes that the process ended by exit(), and unlinks the file.  Counting goes on,
   because other destructors still run. */
__attribute__((destructor)) static void
on_exit_of_process(void)
{
    int saved_errno = errno;

    mt_publish_exit();
    errno = saved_errno;
}
