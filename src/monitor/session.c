/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ties together where readings come from (source.h; watch.c for a program) and what
 * follows from them (meter.c, history.c, messages).  Nothing here blocks, draws or
 * prints.
 */
#include "config.h"

#include "monitor/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "monitor/process-tracker.h"
#include "monitor/children.h"
#include "system/locate.h"
#include "monitor/background-profiles.h"
#include "monitor/process-list.h"
#include "monitor/saved.h"
#include "monitor/source.h"
#include "monitor/tracked.h"
#include "monitor/tree.h"
#include "monitor/usage.h"
#include "monitor/watch.h"

#define MESSAGES 500
#define COMMAND_MAX 4096

struct session {
    struct tracked root;
    struct tracked *shown;       /* the root or the selected one */
    struct tracked *selected;    /* another process, or NULL */
    struct watch *selected_watch;
    struct messages *messages;
    bool keep_segments;
    bool attached;               /* the root was not started by us */
    bool past_due;               /* the root's history before we came is not read yet */
    bool selected_past_due;
    bool rss_shown;
    bool profile_shown;
    int64_t polled_ns;
    struct tree *tree;           /* of segments, or NULL */
    struct usage *usage;         /* of all its processes, or NULL */
    struct session_source source;        /* of the readings */
    struct watch *watch;         /* of a program, or NULL */
    struct process_tracker *tracker;       /* of the processes, or NULL */
    struct background_profiles *background;       /* where those allocate, or NULL */
    unsigned looks;              /* of the tree, at the last one */
    bool want_figures, hold;
    bool mute;                   /* nothing that is noticed is news */
    struct saved *saved;         /* a saved session, or NULL */
};

struct session *
session_new(const struct session_options *options)
{
    struct session *session = calloc(1, sizeof *session);

    if (session == NULL)
        return NULL;
    session->keep_segments = options->keep_segments;
    session->shown = &session->root;
    session->messages = messages_new(MESSAGES);
    if (options->source != NULL)
        session->source = *options->source;
    if (!tracked_init(&session->root) || session->messages == NULL) {
        session_free(session);
        return NULL;
    }
    if (options->source != NULL)
        session->root.command =
            strdup(session->source.class->command(session->source.state));
    return session;
}

/* ---- a saved session as a source: nothing changes any more ---- */

static size_t
saved_threads(void *state, struct thread *out, size_t capacity)
{
    const struct saved *saved = state;
    size_t count = saved->thread_count < THREADS_MAX ? saved->thread_count : THREADS_MAX;

    memcpy(out, saved->threads, (count < capacity ? count : capacity) * sizeof *out);
    return saved->thread_count;
}

static const struct process_list *
saved_processes(const void *state)
{
    const struct saved *saved = state;

    return saved->process_list;
}

static void
saved_close(void *state)
{
    saved_free(state);
}

static const struct source_class saved_source = {
    .threads = saved_threads,
    .processes = saved_processes,
    .free = saved_close,
};

struct session *
session_new_saved(struct saved *saved)
{
    struct session *session = calloc(1, sizeof *session);

    if (session == NULL) {
        saved_free(saved);
        return NULL;
    }
    session->saved = saved;
    session->source = (struct session_source){&saved_source, saved};
    session->root = saved->root;
    session->root.saved_epoch_s = saved->epoch_s > 0 ? saved->epoch_s : SAVED_SOMETIME;
    for (size_t i = 0; i < saved->other_count; i++)
        saved->others[i]->saved_epoch_s = session->root.saved_epoch_s;
    session->shown = &session->root;
    session->messages = saved->messages;
    saved->root = (struct tracked){0};
    saved->messages = NULL;
    return session;
}

const struct saved *
session_saved(const struct session *session)
{
    return session->saved;
}

/* Frees a process that is not the root; what was gathered about it in the background
   stays. */
static void
other_free(struct session *session, struct tracked *other, struct watch *watch)
{
    if (session->background != NULL) {
        background_profiles_return(session->background, other->profile);
        other->profile = NULL;
    }
    watch_free(watch, true);
    tracked_free(other);
    free(other);
}

static void
drop_selected(struct session *session)
{
    session->shown = &session->root;
    if (session->selected == NULL)
        return;
    other_free(session, session->selected, session->selected_watch);
    session->selected = NULL;
    session->selected_watch = NULL;
}

void
session_free(struct session *session)
{
    if (session == NULL)
        return;
    drop_selected(session);
    background_profiles_free(session->background);
    process_tracker_free(session->tracker);
    watch_free(session->watch, session->keep_segments);
    usage_free(session->usage);
    tree_free(session->tree);
    if (session->source.class != NULL && session->source.class->free != NULL)
        session->source.class->free(session->source.state);
    messages_free(session->messages);
    tracked_free(&session->root);
    free(session);
}

static char *
join(char *const *argv)
{
    size_t size = 1;
    char *joined, *end;

    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
        size += strlen(argv[i]) + 1;
    joined = end = calloc(1, size);
    for (size_t i = 0; joined != NULL && argv != NULL && argv[i] != NULL; i++) {
        if (i > 0)
            *end++ = ' ';
        end = stpcpy(end, argv[i]);
    }
    return joined;
}

static const struct source_class live_source;

/* With a watch, or -ENOMEM. */
static int
begin_live(struct session *session)
{
    if (session->root.command == NULL || session->watch == NULL)
        return -ENOMEM;
    session->source = (struct session_source){&live_source, session};
    return 0;
}

int
session_watch(struct session *session, const struct launched *launched)
{
    session->root.command = join(launched->argv);
    session->tree = tree_new(launched->directory, launched->pid);
    if (session->tree == NULL)
        return -ENOMEM;
    session->watch = watch_new(launched, session->tree, session, &session->root.process);
    return begin_live(session);
}

static char *
command_of(pid_t pid)
{
    char command[COMMAND_MAX] = "";

    procfs_command(pid, command, sizeof command);
    return strdup(command);
}

int
session_attach(struct session *session, pid_t pid)
{
    const struct tree_segment *newest = NULL;
    struct located located;
    int result = locate_segment(pid, &located);

    if (result)
        return result;
    if (located.directory[0]) {
        session->tree =
            tree_new_all(located.directory, located.real, located.effective);
        if (session->tree == NULL)
            return -ENOMEM;
        tree_scan(session->tree);
        newest = tree_newest(session->tree, pid);
    }
    if (newest != NULL && newest->alien)
        return -EPROTONOSUPPORT;
    session->root.command = command_of(pid);
    session->watch = watch_attach(&(struct attached){pid, located.start_boottime_ns, 0},
                                  session->tree, session, &session->root.process);
    session->attached = session->past_due = true;
    return begin_live(session);
}

/* The process's entry in the process list, which also has ended ones; or NULL. */
static const struct process_entry *
find_listed(const struct session *session, pid_t pid)
{
    const struct process_list *process_list = session_processes(session);

    for (size_t i = 0; process_list != NULL && i < process_list_count(process_list); i++)
        if (process_list_at(process_list, i)->pid == pid)
            return process_list_at(process_list, i);
    return NULL;
}

static struct attached
attached_to(pid_t pid, const struct process_entry *listed)
{
    struct attached attached = {.pid = pid};

    if (listed != NULL)
        attached.start_boottime_ns = listed->start_ns;
    if (listed != NULL && listed->ended)
        attached.lived_ns = listed->run_ns;
    return attached;
}

/* The background profile of a process, lent; NULL if there is none. */
static struct profile *
gathered(const struct session *session, pid_t pid)
{
    const struct tree_segment *newest =
        session->background != NULL ? tree_newest(session->tree, pid) : NULL;

    return newest != NULL ? background_profiles_lend(session->background, pid,
                                             newest->created_boottime_ns)
                  : NULL;
}

/* Makes another process of the tree readable; NULL if memory is short. */
static struct tracked *
other_new(struct session *session, pid_t pid, struct watch **watch)
{
    const struct process_entry *listed = find_listed(session, pid);
    const struct attached attached = attached_to(pid, listed);
    struct tracked *other = calloc(1, sizeof *other);

    *watch = NULL;
    if (other == NULL)
        return NULL;
    if (tracked_init(other) && session->root.profile != NULL)
        other->profile = gathered(session, pid);
    if (other->history != NULL
        && (session->root.checkpoints == NULL || tracked_keep_checkpoints(other))
        && (session->root.profile == NULL || tracked_keep_profile(other))) {
        other->command = listed != NULL ? strdup(listed->command) : command_of(pid);
        *watch = watch_attach(&attached, session->tree, session, &other->process);
    }
    if (*watch != NULL)
        return other;
    other_free(session, other, NULL);
    return NULL;
}

static int
show_saved(struct session *session, pid_t pid)
{
    const struct saved *saved = session->saved;

    for (size_t i = 0; i < saved->other_count; i++)
        if (saved->others[i]->process.pid == pid) {
            session->shown = saved->others[i];
            return 0;
        }
    return -ENODATA;
}

int
session_show(struct session *session, pid_t pid)
{
    const struct process_entry *listed = find_listed(session, pid);

    if (pid == session->root.process.pid) {
        drop_selected(session);
        return 0;
    }
    if (session->saved != NULL)
        return show_saved(session, pid);
    if (session->watch == NULL)
        return -ENOTSUP;
    if (listed != NULL && listed->ended
        && (session->tree == NULL || tree_newest(session->tree, pid) == NULL))
        return -ENOENT;
    drop_selected(session);
    session->selected = other_new(session, pid, &session->selected_watch);
    if (session->selected == NULL)
        return -ENOMEM;
    session->selected_past_due = true;
    session->shown = session->selected;
    return 0;
}

bool
session_keep_usage(struct session *session, const struct usage_options *options)
{
    if (session->tree != NULL && session->usage == NULL)
        session->usage = usage_new(session->tree, session->root.process.pid, options);
    return session->usage != NULL;
}

void
session_poll_usage(struct session *session)
{
    if (session->usage == NULL || session->tree == NULL)
        return;
    tree_scan(session->tree);
    usage_poll(session->usage);
}

bool
session_usage(struct session *session, struct usage_result *result)
{
    if (session->usage != NULL)
        usage_finish(session->usage, result);
    return session->usage != NULL;
}

struct tree *
session_tree(struct session *session)
{
    return session->tree;
}

/* ---- messages ---- */

void
session_say(struct session *session, enum severity severity, const char *format, ...)
{
    va_list arguments;

    if (session->mute)
        return;
    va_start(arguments, format);
    messages_add(session->messages, session->root.process.run_ns, severity, format,
                 arguments);
    va_end(arguments);
}

size_t
session_message_count(const struct session *session)
{
    return messages_count(session->messages);
}

uint64_t
session_message_total(const struct session *session)
{
    return messages_total(session->messages);
}

const struct message *
session_message(const struct session *session, size_t index)
{
    return messages_get(session->messages, index);
}

/* ---- one process ---- */

/* The state of a living process. */
static enum process_state
judge_state(const struct tracked *tracked, const struct watch *watch, int64_t now_ns)
{
    const struct process *process = &tracked->process;

    if (process->os_known && (process->os.state == 'T' || process->os.state == 't'))
        return STATE_STOPPED;
    if (!process->measured)
        return watch_not_loaded(watch) ? STATE_NOT_LOADED : STATE_STARTING;
    if (watch_stale(watch, now_ns))
        return STATE_STALE;
    return meter_idle(&tracked->meter, now_ns) ? STATE_IDLE : STATE_RUNNING;
}

/* Reads what the flight recorder has from before: only a process not started by us has
   it. */
static void
digest_past(struct session *session, struct tracked *tracked, struct watch *watch,
            int64_t now_ns)
{
    int64_t offset_ns = 0;
    size_t count = 0;
    struct recorded *slots = watch_past(watch, &count, &offset_ns);

    tracked_digest(tracked, session, now_ns, slots, count, offset_ns);
    free(slots);
}

static void
digest_recent(struct session *session, struct tracked *tracked, struct watch *watch,
              int64_t now_ns)
{
    static struct recorded slots[RECORDER_SLOTS]; /* too large for a small stack */
    int64_t offset_ns = 0;
    size_t count = watch_recorded(watch, slots, RECORDER_SLOTS, &offset_ns);

    tracked_digest(tracked, session, now_ns, slots, count, offset_ns);
}

/* Reads the sampled allocations: while they are shown, when a snapshot is due, at the
   end. */
static void
read_profile(const struct session *session, const struct tracked *tracked,
             struct watch *watch)
{
    const struct process *process = &tracked->process;
    bool shown = session->profile_shown && tracked == session->shown;

    if (tracked->profile != NULL && !session->hold
        && (shown || process->ended
            || profile_checkpoint_due(tracked->profile, process->run_ns)))
        watch_sites(watch, tracked->profile);
}

/* The process executes another program.  What the user has started keeps its name. */
static void
note_exec(const struct session *session, struct tracked *tracked)
{
    char command[COMMAND_MAX];

    tracked_restart(tracked);
    if ((tracked == &session->root && !session->attached)
        || procfs_command(tracked->process.pid, command, sizeof command) < 0)
        return;
    free(tracked->command);
    tracked->command = strdup(command);
}

static void
poll_watch(struct session *session, struct tracked *tracked, struct watch *watch,
           bool *past_due, int64_t now_ns, bool with_sizes)
{
    bool restarted, shown;

    watch_poll(watch, now_ns, with_sizes, &restarted);
    if (restarted)
        note_exec(session, tracked);
    if (*past_due)
        digest_past(session, tracked, watch, now_ns);
    else
        digest_recent(session, tracked, watch, now_ns);
    *past_due = false;
    read_profile(session, tracked, watch);
    if (!tracked->process.ended)
        tracked->process.state = judge_state(tracked, watch, now_ns);
    shown = session->rss_shown && tracked == session->shown;
    if (shown || tracked->checkpoints != NULL)
        watch_rss(watch, now_ns, shown ? BANDS_SHOWN : BANDS_KEPT);
}

/* ---- a living program as a source ---- */

static void
live_poll(void *state, struct session *session, struct tracked *root, int64_t now_ns,
          bool with_sizes)
{
    (void)state;
    poll_watch(session, root, session->watch, &session->past_due, now_ns, with_sizes);
}

static size_t
live_threads(void *state, struct thread *out, size_t capacity)
{
    const struct session *session = state;

    return watch_threads(session->selected != NULL ? session->selected_watch
                                                   : session->watch,
                         out, capacity);
}

static const struct process_list *
live_processes(const void *state)
{
    const struct session *session = state;

    return session->tracker != NULL ? process_tracker_list(session->tracker) : NULL;
}

static const struct source_class live_source = {
    .poll = live_poll,
    .threads = live_threads,
    .processes = live_processes,
};

/* ---- polling ---- */

static void
poll_root(struct session *session, int64_t now_ns, bool with_sizes)
{
    session->source.class->poll(session->source.state, session, &session->root, now_ns,
                                with_sizes);
}

static void
poll_selected(struct session *session, int64_t now_ns, bool with_sizes)
{
    poll_watch(session, session->selected, session->selected_watch,
               &session->selected_past_due, now_ns, with_sizes);
}

/* poll reads the process, and a snapshot is kept if one is due.  The end is always kept
   as a snapshot. */
static void
poll_subject(struct session *session, struct tracked *tracked,
             void (*poll)(struct session *session, int64_t now_ns, bool with_sizes),
             int64_t now_ns, bool with_sizes)
{
    bool keep = tracked_checkpoint_due(tracked, now_ns);

    if (tracked->process.ended)
        return;
    poll(session, now_ns, with_sizes || keep);
    if (keep || (tracked->checkpoints != NULL && tracked->process.ended))
        tracked_add_checkpoint(tracked, now_ns);
}

/* Processes that outlive the root are still looked at. */
static void
track_processes(struct session *session, int64_t now_ns)
{
    if (session->tracker == NULL || session->hold)
        return;
    if (session->root.process.ended && session->tree != NULL)
        tree_scan(session->tree);
    if (session->tree != NULL && tree_looks(session->tree) != session->looks) {
        session->looks = tree_looks(session->tree);
        process_tracker_look(session->tracker, session->tree);
    }
    process_tracker_take(session->tracker, now_ns, session->want_figures);
    if (session->background == NULL && session->root.profile != NULL
        && session->tree != NULL)
        session->background = background_profiles_new();
    if (session->background != NULL)
        background_profiles_read(session->background,
                                 process_tracker_list(session->tracker), session->tree,
                                 now_ns);
}

void
session_poll(struct session *session, int64_t now_ns, bool with_sizes)
{
    if (session->source.class == NULL || session->source.class->poll == NULL)
        return;
    session->polled_ns = now_ns;
    poll_subject(session, &session->root, poll_root, now_ns, with_sizes);
    if (session->selected != NULL)
        poll_subject(session, session->selected, poll_selected, now_ns, with_sizes);
    if (session->usage != NULL)
        usage_poll(session->usage);
    track_processes(session, now_ns);
}

bool
session_keep_checkpoints(struct session *session)
{
    return tracked_keep_checkpoints(&session->root);
}

void
session_show_rss(struct session *session, bool shown)
{
    session->rss_shown = shown;
}

void
session_read_rss(struct session *session)
{
    if (session->watch != NULL)
        watch_rss(session->watch, session->polled_ns, BANDS_NOW);
    if (session->selected_watch != NULL)
        watch_rss(session->selected_watch, session->polled_ns, BANDS_NOW);
}

bool
session_keep_profile(struct session *session)
{
    return session->saved != NULL || tracked_keep_profile(&session->root);
}

void
session_show_profile(struct session *session, bool shown)
{
    session->profile_shown = shown;
}

void
session_read_profile(struct session *session)
{
    struct watch *watch =
        session->selected != NULL ? session->selected_watch : session->watch;

    if (watch != NULL && session->shown->profile != NULL)
        watch_sites(watch, session->shown->profile);
}

/* ---- the other processes ---- */

#define SAMPLED_MAX 1024

struct sampled {
    const struct session *session;
    struct sampled_one {
        pid_t pid;
        uint64_t peak;
    } all[SAMPLED_MAX];
    size_t count;
};

/* Of two processes with the same pid the later one counts, because it can be read. */
static void
note_sampled(void *context, const struct process *process)
{
    struct sampled *sampled = context;
    size_t at = 0;

    /* A process that memtop is attached to is surrounded by unrelated ones, too. */
    if (process->pid == sampled->session->shown->process.pid
        || (sampled->session->attached
            && find_listed(sampled->session, process->pid) == NULL))
        return;
    while (at < sampled->count && sampled->all[at].pid != process->pid)
        at++;
    if (at == SAMPLED_MAX)
        return;
    sampled->count += at == sampled->count;
    sampled->all[at].pid = process->pid;
    sampled->all[at].peak = process->now.peak_bytes;
}

static int
by_peak(const void *left, const void *right)
{
    const struct sampled_one *a = left, *b = right;

    return (a->peak < b->peak) - (a->peak > b->peak);
}

static bool
was_sampled(const struct tracked *tracked)
{
    int64_t run_ns;

    return tracked->profile != NULL && profile_known(tracked->profile, &run_ns);
}

/* Is the profile as of the last reading? */
static bool
is_read(const struct tracked *tracked)
{
    int64_t run_ns;

    return profile_known(tracked->profile, &run_ns) && run_ns == tracked->process.run_ns;
}

/* Visits a process that is read only for this. */
static bool
visit_other(struct session *session, pid_t pid,
            bool (*visit)(void *context, const struct tracked *tracked), void *context)
{
    struct watch *watch;
    struct tracked *other = other_new(session, pid, &watch);
    bool go_on = true, past_due = true;

    if (other == NULL)
        return true;
    poll_watch(session, other, watch, &past_due, session->polled_ns, true);
    if (other->profile != NULL && !is_read(other))
        watch_sites(watch, other->profile);
    if (was_sampled(other))
        go_on = visit(context, other);
    other_free(session, other, watch);
    return go_on;
}

static bool
visit_known(const struct session *session, const struct tracked *tracked,
            bool (*visit)(void *context, const struct tracked *tracked), void *context)
{
    return tracked == session->shown || !was_sampled(tracked) || visit(context, tracked);
}

void
session_each_sampled(struct session *session,
                     bool (*visit)(void *context, const struct tracked *tracked),
                     void *context)
{
    static struct sampled sampled;
    bool go_on = visit_known(session, &session->root, visit, context);

    for (size_t i = 0; go_on && session->saved != NULL && i < session->saved->other_count;
         i++)
        go_on = visit_known(session, session->saved->others[i], visit, context);
    if (session->watch == NULL || session->tree == NULL || session->root.profile == NULL)
        return;
    sampled = (struct sampled){.session = session};
    session_each_child(session, note_sampled, &sampled);
    qsort(sampled.all, sampled.count, sizeof sampled.all[0], by_peak);
    session->mute = true;
    for (size_t i = 0; go_on && i < sampled.count; i++)
        go_on = visit_other(session, sampled.all[i].pid, visit, context);
    session->mute = false;
}

const struct profile_namer *
session_namer(struct session *session)
{
    const struct session_source *source = &session->source;

    return source->class != NULL && source->class->namer != NULL
               ? source->class->namer(source->state)
               : NULL;
}

bool
session_keep_processes(struct session *session)
{
    if (session->tracker == NULL && session->watch != NULL)
        session->tracker = process_tracker_new(
            &session->root.process, session_command(session), !session->attached);
    return session->tracker != NULL || session->watch == NULL;
}

void
session_want_figures(struct session *session, bool wanted)
{
    session->want_figures = wanted;
}

void
session_hold(struct session *session, bool hold)
{
    session->hold = hold;
    if (!hold)
        session_read_profile(session);
}

/* ---- reading ---- */

const struct process_list *
session_processes(const struct session *session)
{
    const struct session_source *source = &session->source;

    return source->class != NULL && source->class->processes != NULL
               ? source->class->processes(source->state)
               : NULL;
}

void
session_each_child(const struct session *session,
                   void (*visit)(void *context, const struct process *process),
                   void *context)
{
    if (session->watch != NULL && session->tree != NULL)
        children_each(session->tree, session->root.process.pid, visit, context);
}

const struct process *
session_process(const struct session *session)
{
    return &session->root.process;
}

size_t
session_threads(struct session *session, struct thread *out, size_t capacity)
{
    const struct session_source *source = &session->source;

    if (source->class == NULL || source->class->threads == NULL
        || (session->saved != NULL && session->shown != &session->root))
        return 0;
    return source->class->threads(source->state, out, capacity);
}

const struct tracked *
session_shown(const struct session *session)
{
    return session->shown;
}

const struct tracked *
session_root(const struct session *session)
{
    return &session->root;
}

const struct history *
session_history(const struct session *session)
{
    return session->root.history;
}

const char *
session_command(const struct session *session)
{
    return tracked_command(&session->root);
}
