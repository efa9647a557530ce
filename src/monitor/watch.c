/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows one process.  The handshake: memtop's child leaves a segment PREPARED, and the
 * library makes it ACTIVE (or PASSIVE, with a reason).  Each exec brings a new segment,
 * which replaces the one followed.  The mapping outlives the program, so the last reading
 * comes after its end and nothing is lost however it ended.
 *
 * A process that was not started by us made its segment before; nothing of it is changed,
 * and its end is noticed through a pidfd.
 */
#include "config.h"

#include "monitor/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/i18n.h"
#include "monitor/proc-reader.h"
#include "system/not-loaded.h"
#include "monitor/ending.h"
#include "system/pidspace.h"
#include "monitor/samples.h"
#include "base/clock.h"
#include "segment/control.h"
#include "base/figures.h"
#include "segment/names.h"
#include "segment/reader.h"

#define SECOND INT64_C(1000000000)

/* A program that loads the library does so within milliseconds of its exec; two seconds
   allow for a cold disk. */
#define HANDSHAKE_NS (2 * SECOND)
#define STALE_MIN_NS (2 * SECOND)

/* What costs more than reading one small file is done once a second. */
#define SLOW_NS SECOND

#define DESCENDANTS 1024

/* A dormant process is kept awake for three intervals, but not less than this. */
#define LEASE_MIN_NS (5 * SECOND)

enum handshake {
    WAITING, /* neither segment nor answer yet */
    COUNTING,
    REFUSED, /* the library is loaded and says why it does not count */
    MISSED,  /* no library, as far as we can tell */
    REPLACED /* the program that counted has executed one without the library */
};

struct watch {
    struct session *session;
    struct process *process;
    struct tree *tree;
    char prepared[SEGMENT_PATH_MAX]; /* path; "" if there was none */
    bool started;          /* by us, so we wait for it */
    int pidfd;             /* of a process not started by us, or -1 */
    struct tree_segment segment; /* the one followed; created at 0: not made yet */
    char name[64];         /* the program's name, for messages */
    struct reader *reader; /* of the followed segment, or NULL */
    struct control *control; /* keeps a dormant process awake; or NULL */
    enum handshake handshake;
    int64_t started_ns;
    int64_t lived_ns; /* if it had ended before: its run time, 0 unknown */
    int64_t image_ns; /* when the followed generation was first seen */
    int64_t polled_ns;
    int64_t interval_ns;
    int64_t good_ns;         /* when the last consistent reading was */
    int64_t slow_ns;         /* when the slow part was last done */
    uint64_t recorded_until; /* end of the last slot taken from the recorder */
    int64_t executes_ns;     /* since when it executes another program; 0: it does not */
    unsigned looks; /* tree_looks() when it was last pruned */
    bool recorded; /* the recorder prunes the tree, after opening what it needs */
    bool flags_noted;
    uint32_t wakes;          /* of a dormant process, as of the last message */
    struct rss_reader breakdown;
    struct stack_reader stacks;
    bool restarted; /* the next reading is of another image */
};

/* The program's name without its path. */
static void
name_program(struct watch *watch, const char *path)
{
    const char *slash = strrchr(path, '/');

    snprintf(watch->name, sizeof watch->name, "%.60s",
             slash != NULL && slash[1] ? slash + 1 : path);
}

static void
refuse(struct watch *watch, enum handshake handshake, const char *why)
{
    struct process *process = watch->process;

    watch->handshake = handshake;
    process->measured = false;
    snprintf(process->why_not, sizeof process->why_not, "%s", why);
}

static struct watch *
make_watch(pid_t pid, struct tree *tree, struct session *session, struct process *process)
{
    struct watch *watch = calloc(1, sizeof *watch);

    if (watch == NULL)
        return NULL;
    watch->session = session;
    watch->process = process;
    watch->tree = tree;
    watch->pidfd = -1;
    watch->segment.own_pid = pid;
    process->pid = pid;
    process->generations = 1;
    return watch;
}

struct watch *
watch_new(const struct launched *launched, struct tree *tree, struct session *session,
          struct process *process)
{
    struct watch *watch = make_watch(launched->pid, tree, session, process);
    const char *file = strrchr(launched->segment, '/');
    pid_t pid;

    if (watch == NULL)
        return NULL;
    watch->started = true;
    snprintf(watch->prepared, sizeof watch->prepared, "%s", launched->segment);
    if (file != NULL && !segment_name_parse(file + 1, &pid, &watch->segment.generation))
        watch->segment.generation = 0;
    watch->started_ns = watch->image_ns = launched->started_ns;
    watch->recorded = launched->recorded;
    name_program(watch, launched->argv != NULL ? launched->argv[0] : "?");
    /* If there is a segment this is only a forecast: the handshake may still come. */
    if (!launched->segment[0] || launched->why_no_segment[0])
        refuse(watch, MISSED,
               launched->why_no_segment[0] ? launched->why_no_segment
                                           : _("started without libmemtop"));
    return watch;
}

struct watch *
watch_attach(const struct attached *attached, struct tree *tree, struct session *session,
             struct process *process)
{
    const pid_t pid = attached->pid;
    uint64_t start_boottime_ns = attached->start_boottime_ns;
    struct watch *watch = make_watch(pid, tree, session, process);
    const struct tree_segment *newest;
    char command[64];

    if (watch == NULL)
        return NULL;
    watch->lived_ns = attached->lived_ns;
    newest = tree != NULL ? tree_newest(tree, pid) : NULL;
    if (newest != NULL) {
        watch->segment = *newest;
        if (start_boottime_ns == 0 || start_boottime_ns > newest->created_boottime_ns)
            start_boottime_ns = newest->created_boottime_ns;
    } else {
        refuse(watch, MISSED,
               _("it runs without libmemtop; start it under memtop, or with "
                 "LD_PRELOAD=libmemtop.so"));
    }
    watch->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    /* The pidfd is useless if another process has reused the pid. */
    if (watch->pidfd >= 0
        && !segment_process_lives(pid, newest != NULL ? newest->created_boottime_ns
                                              : start_boottime_ns)) {
        close(watch->pidfd);
        watch->pidfd = -1;
    }
    watch->image_ns = clock_ns(CLOCK_MONOTONIC);
    watch->started_ns = clock_monotonic_of(start_boottime_ns);
    if (procfs_command(pid, command, sizeof command) == 0) {
        command[strcspn(command, " ")] = '\0';
        name_program(watch, command);
    }
    return watch;
}

/* ---- the segment ---- */

/* Opens a segment; its owner may have changed the user since. */
static int
open_reader(struct watch *watch, const char *path, uid_t *real, uid_t *effective)
{
    int error;

    *real = getuid();
    *effective = geteuid();
    error = reader_open(path, *real, *effective, &watch->reader);
    if (error == -EPERM && procfs_uids(watch->process->pid, real, effective) == 0)
        error = reader_open(path, *real, *effective, &watch->reader);
    return error;
}

static void
open_segment(struct watch *watch)
{
    char path[SEGMENT_PATH_MAX + 32], name[24];
    uid_t real, effective;

    if (watch->reader != NULL || watch->tree == NULL
        || (watch->started && !watch->prepared[0]))
        return;
    segment_name(name, watch->segment.own_pid, watch->segment.generation);
    snprintf(path, sizeof path, "%s/%s", tree_directory(watch->tree), name);
    if (open_reader(watch, path, &real, &effective))
        watch->reader = NULL;
    else if (control_open(path, real, effective, &watch->control))
        watch->control = NULL; /* it is not dormant, or we may only read */
}

static void
close_segment(struct watch *watch)
{
    reader_close(watch->reader);
    if (watch->control != NULL)
        control_close(watch->control);
    watch->reader = NULL;
    watch->control = NULL;
}

void
watch_free(struct watch *watch, bool keep)
{
    if (watch == NULL)
        return;
    close_segment(watch);
    if (watch->pidfd >= 0)
        close(watch->pidfd);
    if (watch->started && !keep) {
        tree_unlink(watch->tree, watch->process->ended);
        /* Never adopted, so the tree does not count it as any process's. */
        if (watch->prepared[0] && watch->process->ended)
            unlink(watch->prepared);
    }
    stack_reader_free(&watch->stacks);
    free(watch);
}

/* Follows a newer image instead of the present one. */
static void
follow_exec(struct watch *watch, int64_t now_ns)
{
    const struct tree_segment *newest =
        watch->tree != NULL ? tree_newest(watch->tree, watch->process->pid) : NULL;
    const uint32_t before = watch->segment.generation;

    if (newest == NULL
        || newest->created_boottime_ns <= watch->segment.created_boottime_ns)
        return;
    watch->segment = *newest;
    if (watch->started && newest->generation == before)
        return; /* the prepared one */
    close_segment(watch);
    watch->process->generations++;
    if (watch->started)
        watch->process->generations += newest->generation - before - 1;
    watch->image_ns = now_ns;
    watch->handshake = WAITING;
    watch->executes_ns = 0;
    watch->wakes = 0;
    watch->recorded_until = 0;
}

static void
note_flags(struct watch *watch)
{
    const uint32_t flags = watch->flags_noted ? 0 : watch->process->identity.flags;

    if (flags & SEGMENT_FLAG_OUTPUT)
        session_say(watch->session, SEVERITY_WARNING, "%s",
                    _("MEMUSAGE_OUTPUT is ignored; use --data=FILE"));
    if (flags & SEGMENT_FLAG_MOVED)
        session_say(
            watch->session, SEVERITY_WARNING, "%s",
            _("the program's MEMTOP_DIR cannot be used: its segment lies elsewhere"));
    watch->flags_noted = true;
}

static void
accept_handshake(struct watch *watch, enum segment_state state)
{
    struct process *process = watch->process;
    struct identity identity;

    if (reader_identity(watch->reader, &identity))
        return;
    process->identity = identity;
    process->was_measured = false;
    if (state == SEGMENT_PASSIVE || identity.reason != REASON_NONE) {
        refuse(watch, REFUSED, segment_reason_text(identity.reason));
        session_say(watch->session, SEVERITY_WARNING, _("not measured: %s"),
                    process->why_not);
        return;
    }
    watch->handshake = COUNTING;
    process->measured = true;
    process->why_not[0] = '\0';
    note_flags(watch);
    if (process->generations == 1)
        return; /* keeps the name it was called by: sh, not dash */
    name_program(watch, identity.program);
    watch->restarted = true;
    process->heap_peak = process->rss_anon_peak = process->rss_peak = 0;
    if (watch->started)
        session_say(watch->session, SEVERITY_STATE, _("executed %s; counters restarted"),
                    identity.program);
    else
        session_say(watch->session, SEVERITY_STATE,
                    _("process %ld executed %s; counters restarted"), (long)process->pid,
                    identity.program);
}

static void
shake_hands(struct watch *watch)
{
    enum segment_state state;

    if (watch->reader == NULL
        || (watch->handshake != WAITING && watch->handshake != MISSED)
        || reader_state(watch->reader, &state))
        return;
    if (state == SEGMENT_ACTIVE || state == SEGMENT_PASSIVE || state == SEGMENT_EXITED)
        accept_handshake(watch, state);
}

/* Handles two seconds, or the program's end, without a handshake. */
static void
miss_handshake(struct watch *watch, int64_t now_ns)
{
    char why[sizeof watch->process->why_not];
    const char *reason;

    if (watch->handshake != WAITING
        || (!watch->process->ended && now_ns - watch->image_ns < HANDSHAKE_NS))
        return;
    reason = watch->process->ended ? NULL : not_loaded_reason(watch->process->pid);
    if (reason == NULL)
        reason = _("statically linked, set-user-ID, not ELF?");
    snprintf(why, sizeof why, _("%s did not load libmemtop (%s)"), watch->name, reason);
    refuse(watch, MISSED, why);
    session_say(watch->session, SEVERITY_WARNING, "%s", why);
}

/* ---- another program ---- */

/* Does the process run another file than the one that was counted? */
static bool
has_executed(const struct process *process)
{
    return !process->ended
           && procfs_executes(process->pid, process->identity.program) == 0;
}

/* Notices an exec that the library has not noted (layout.h, struct segment_exec): one by
   syscall(). */
static bool
executes_by_proc(const struct watch *watch, struct executed *executed)
{
    const struct process *process = watch->process;

    if (!has_executed(process))
        return false;
    *executed = (struct executed){.replaced = true};
    return procfs_program(process->pid, executed->path, sizeof executed->path) == 0;
}

/* The segment's image is gone, and none with a segment has followed: what was counted
   belongs to that image alone. */
static void
replace(struct watch *watch, const struct executed *executed)
{
    struct process *process = watch->process;
    const char *reason = executed_reason(executed->path, executed->preload_removed,
                                         process->ended ? 0 : process->pid);
    char why[sizeof process->why_not];
    bool counted = watch->handshake == COUNTING;

    executed_text(why, sizeof why, watch->name, executed->path, reason);
    refuse(watch, REPLACED, why);
    process->was_measured = counted;
    process->generations++;
    snprintf(process->executed, sizeof process->executed, "%s", executed->path);
    process->heap_peak = process->rss_anon_peak = process->rss_peak = 0;
    watch->restarted = counted;
    session_say(watch->session, SEVERITY_WARNING, "%s", why);
}

/* From the exec on the figures are no longer the program's.  Whether the new image loads
   the library is known when its segment comes, or does not. */
static void
follow_executed(struct watch *watch, int64_t now_ns)
{
    struct process *process = watch->process;
    struct executed executed;

    if ((watch->handshake != COUNTING && watch->handshake != REFUSED)
        || reader_executed(watch->reader, &executed))
        return;
    if (!executed.replaced && !executes_by_proc(watch, &executed)) {
        if (watch->executes_ns && watch->handshake == COUNTING)
            process->measured = true; /* the exec has failed */
        watch->executes_ns = 0;
        return;
    }
    if (!watch->executes_ns)
        watch->executes_ns = now_ns;
    process->measured = false;
    if (process->ended || now_ns - watch->executes_ns >= HANDSHAKE_NS
        || (executed.preload_removed && has_executed(process)))
        replace(watch, &executed);
    else
        snprintf(process->why_not, sizeof process->why_not,
                 /* TRANSLATORS: two programs. */
                 _("%.60s executed %.120s, which has not loaded libmemtop yet"),
                 watch->name, executed.path);
}

/* ---- counters ---- */

/* While it is asleep the past counts are known, but not what is live now.  The figures at
   its end stay known. */
static void
judge_sleep(struct process *process)
{
    if (process->ended)
        return;
    process->measured = !process->now.asleep;
    snprintf(process->why_not, sizeof process->why_not, "%s",
             process->now.asleep
                 ? _("libmemtop is dormant until the program calls malloc or free again")
                 : "");
}

/* A dormant process counts from when it woke, perhaps long ago for another viewer. */
static void
note_waking(struct watch *watch, int64_t now_ns)
{
    const struct process *process = watch->process;
    int64_t since_ns;

    if (process->now.asleep || process->now.wakes == watch->wakes)
        return;
    watch->wakes = process->now.wakes;
    if (process->now.awake_since_ns == 0)
        return; /* from its start */
    /* Unsigned, because the segment may claim any time. */
    since_ns = (int64_t)((uint64_t)now_ns - process->identity.created_ns
                         - process->now.awake_since_ns);
    session_say(watch->session, SEVERITY_STATE,
                _("counted for %lld s; what was allocated before is not known"),
                since_ns > 0 ? (long long)(since_ns / SECOND) : 0);
}

/* The counters belong to the program that is running. */
static void
note_counters(struct watch *watch, int64_t now_ns)
{
    struct process *process = watch->process;

    judge_sleep(process);
    note_waking(watch, now_ns);
    raise_to(&process->heap_peak, process->now.peak_bytes);
}

static void
read_counters(struct watch *watch, int64_t now_ns, bool with_sizes)
{
    struct snapshot snapshot;
    struct process *process = watch->process;

    if (watch->handshake != COUNTING && !process->was_measured)
        return;
    if (watch->control != NULL)
        control_wake(watch->control, (uint64_t)(3 * watch->interval_ns > LEASE_MIN_NS
                                                    ? 3 * watch->interval_ns
                                                    : LEASE_MIN_NS));
    if (reader_snapshot(watch->reader, &snapshot) == 0) {
        process->now = snapshot;
        if (snapshot.torn == 0)
            watch->good_ns = now_ns;
        if (watch->handshake == COUNTING && !watch->executes_ns)
            note_counters(watch, now_ns);
    }
    if (with_sizes) {
        static struct histogram copy; /* 34 KiB, too large for the stack */

        if (reader_histogram(watch->reader, &copy) == 0)
            process->sizes = copy;
    }
}

/* ---- /proc ---- */

static void
read_slow(struct watch *watch, int64_t now_ns)
{
    struct process *process = watch->process;
    pid_t pids[DESCENDANTS];
    uint64_t touched = 0;

    if (watch->slow_ns && now_ns - watch->slow_ns < SLOW_NS)
        return;
    watch->slow_ns = now_ns;
    procfs_descendants(process->pid, pids, DESCENDANTS, &process->children);
    if (procfs_stack_touched(process->pid, &touched) == 0
        && touched > process->stack_touched)
        process->stack_touched = touched;
}

static void
read_proc(struct watch *watch, int64_t now_ns)
{
    struct process *process = watch->process;
    struct procfs_memory memory;

    if (procfs_memory(process->pid, &memory) || memory.state == 'Z'
        || memory.state == 'X')
        return;
    process->os = memory;
    process->os_known = true;
    if (process->measured)
        raise_to(&process->heap_peak, process->now.usable_bytes);
    raise_to(&process->rss_anon_peak, memory.rss_anon);
    raise_to(&process->rss_peak, memory.rss_peak);
    read_slow(watch, now_ns);
}

/* Takes the program's status once it has ended. */
static bool
notice_end(const struct watch *watch)
{
    return watch->started
               ? ending_notice_child(watch->process)
               : ending_notice(watch->process, watch->pidfd,
                               watch->segment.created_boottime_ns);
}

/* If it was not our child, the segment says whether it ended by exit(). */
static void
refine_end(const struct watch *watch)
{
    enum segment_state state;

    if (watch->process->state != STATE_GONE || watch->reader == NULL
        || reader_state(watch->reader, &state) || state != SEGMENT_EXITED)
        return;
    watch->process->state = STATE_EXITED;
    watch->process->wait_status = PROCESS_STATUS_UNKNOWN;
}

static void
look_at_tree(struct watch *watch)
{
    if (watch->tree != NULL)
        tree_scan(watch->tree);
    if (!watch->started)
        return;
    if (tree_looks(watch->tree) != watch->looks && !watch->recorded)
        tree_prune(watch->tree);
    watch->looks = tree_looks(watch->tree);
    watch->process->children_seen = tree_seen(watch->tree);
}

void
watch_poll(struct watch *watch, int64_t now_ns, bool with_sizes, bool *restarted)
{
    bool ended, first = watch->polled_ns == 0;

    *restarted = false;
    if (watch->process->ended)
        return;
    watch->restarted = false;
    if (watch->polled_ns)
        watch->interval_ns = now_ns - watch->polled_ns;
    else
        watch->good_ns = now_ns;
    watch->polled_ns = now_ns;
    /* First the end, then the segment, so that what is read from it is final. */
    ended = notice_end(watch);
    watch->process->run_ns =
        ended && watch->lived_ns ? watch->lived_ns : now_ns - watch->started_ns;
    look_at_tree(watch);
    follow_exec(watch, now_ns);
    open_segment(watch);
    shake_hands(watch);
    follow_executed(watch, now_ns);
    *restarted = watch->restarted;
    miss_handshake(watch, now_ns);
    read_counters(watch, now_ns, with_sizes || ended);
    if (ended)
        refine_end(watch);
    if (!ended)
        read_proc(watch, now_ns);
    else if (watch->started || !first) /* otherwise that is not news */
        ending_say(watch->session, watch->process, watch->name);
}

static int64_t
recorder_start(const struct watch *watch)
{
    return samples_begin(&watch->process->identity, watch->started_ns);
}

size_t
watch_recorded(struct watch *watch, struct recorded *slots, size_t capacity,
               int64_t *recorded_ns)
{
    size_t count = 0;

    if (watch->handshake != COUNTING)
        return 0;
    reader_recent(watch->reader, watch->recorded_until, (uint64_t)watch->polled_ns, slots,
                  capacity, &count);
    if (count > 0)
        watch->recorded_until = slots[count - 1].end_ns;
    *recorded_ns = recorder_start(watch);
    return count;
}

void
watch_rss(struct watch *watch, int64_t now_ns, enum rss_purpose purpose)
{
    static struct thread_counters counters[THREADS_MAX];
    size_t count = 0;

    if (watch->process->ended
        || (purpose != BANDS_NOW
            && !rss_reader_due(&watch->breakdown, now_ns, purpose == BANDS_SHOWN)))
        return;
    if (watch->handshake == COUNTING)
        reader_threads(watch->reader, counters, THREADS_MAX, &count);
    rss_reader_read(&watch->breakdown, now_ns, watch->process, counters, count);
}

struct recorded *
watch_past(struct watch *watch, size_t *count, int64_t *recorded_ns)
{
    struct recorded *slots = NULL;

    *count = 0;
    if (watch->handshake != COUNTING || reader_recorded(watch->reader, &slots, count))
        return NULL;
    if (*count > 0)
        watch->recorded_until = slots[*count - 1].end_ns;
    *recorded_ns = recorder_start(watch);
    return slots;
}

/* Gets the names and states of threads; /proc lists them under their ids in our
   namespace. */
static void
name_threads(const struct watch *watch, struct thread *threads, size_t count)
{
    static struct pidspace_thread numbers[THREADS_MAX];
    const pid_t pid = watch->process->pid;
    size_t known = 0;

    if (watch->segment.own_pid != pid)
        known = pidspace_threads(pid, numbers, THREADS_MAX);
    for (size_t i = 0; i < count; i++) {
        pid_t tid = threads[i].counters.tid;

        for (size_t j = 0; j < known; j++)
            if (numbers[j].own == threads[i].counters.tid)
                tid = numbers[j].here;
        procfs_thread(pid, tid, threads[i].name, &threads[i].state);
    }
}

size_t
watch_threads(struct watch *watch, struct thread *out, size_t capacity)
{
    static struct thread_counters counters[THREADS_MAX];
    size_t count = 0, known;

    if (watch->handshake != COUNTING)
        return 0;
    capacity = capacity < THREADS_MAX ? capacity : THREADS_MAX;
    reader_threads(watch->reader, counters, capacity, &count);
    known = count < capacity ? count : capacity;
    if (!watch->process->ended)
        stack_reader_read(&watch->stacks, watch->polled_ns, watch->process->pid, counters,
                          known);
    for (size_t i = 0; i < known; i++) {
        out[i] = (struct thread){.counters = counters[i]};
        stack_reader_tell(&watch->stacks, i, &out[i]);
    }
    if (!watch->process->ended)
        name_threads(watch, out, known);
    return count;
}

void
watch_sites(struct watch *watch, struct profile *profile)
{
    if (watch->handshake != COUNTING)
        return;
    watch->process->identity.sites_state = sites_state(watch->reader);
    samples_read(profile, watch->reader, &watch->process->identity,
                 watch->process->run_ns, watch->started_ns);
}

bool
watch_stale(const struct watch *watch, int64_t now_ns)
{
    int64_t limit = 3 * watch->interval_ns;

    if (limit < STALE_MIN_NS)
        limit = STALE_MIN_NS;
    return watch->handshake == COUNTING && now_ns - watch->good_ns > limit;
}

bool
watch_not_loaded(const struct watch *watch)
{
    return watch->handshake != WAITING
           && (watch->handshake != COUNTING || watch->process->now.asleep);
}
