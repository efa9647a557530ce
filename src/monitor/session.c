/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ties together where readings come from (watch.c: a program; script.c: a
 * file) and what follows from them (meter.c, history.c, messages).  Nothing
 * here blocks, draws or prints.
 */
#include "config.h"

#include "monitor/session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "i18n.h"
#include "monitor/saved.h"
#include "monitor/script.h"
#include "monitor/subject.h"
#include "monitor/watch.h"

#define MESSAGES 500

struct session {
    struct subject root;
    struct subject *shown;   /* the root */
    struct messages *messages;
    bool keep_segments;
    bool bands_shown;
    int64_t polled_ns;
    struct watch *watch;   /* a program, ... */
    struct script *script; /* or a script, ... */
    struct saved *saved;   /* or a file, or nothing yet */
    int64_t script_start_ns;
};

struct session *
session_new(const struct session_options *options)
{
    struct session *session = calloc(1, sizeof *session);

    if (!session)
        return NULL;
    session->keep_segments = options->keep_segments;
    session->shown = &session->root;
    session->messages = messages_new(MESSAGES);
    if (!subject_init(&session->root) || !session->messages) {
        session_free(session);
        errno = ENOMEM;
        return NULL;
    }
    if (options->source_script) {
        session->script = script_open(options->source_script);
        if (!session->script) {
            int error = errno;

            session_free(session);
            errno = error;
            return NULL;
        }
        session->script_start_ns = -1;
        session->root.command = strdup(script_command(session->script));
    }
    return session;
}

struct session *
session_new_saved(struct saved *saved)
{
    struct session *session = calloc(1, sizeof *session);

    if (!session) {
        saved_free(saved);
        return NULL;
    }
    session->saved = saved;
    session->root = saved->root;
    session->shown = &session->root;
    session->messages = saved->messages;
    saved->root = (struct subject){0};
    saved->messages = NULL;
    return session;
}

const struct saved *
session_saved(const struct session *session)
{
    return session->saved;
}

void
session_free(struct session *session)
{
    if (!session)
        return;
    watch_free(session->watch, session->keep_segments);
    script_close(session->script);
    saved_free(session->saved);
    messages_free(session->messages);
    subject_free(&session->root);
    free(session);
}

static char *
join(char *const *argv)
{
    size_t size = 1;
    char *joined, *end;

    for (size_t i = 0; argv && argv[i]; i++)
        size += strlen(argv[i]) + 1;
    joined = end = calloc(1, size);
    for (size_t i = 0; joined && argv && argv[i]; i++) {
        if (i > 0)
            *end++ = ' ';
        end = stpcpy(end, argv[i]);
    }
    return joined;
}

int
session_watch(struct session *session, const struct launched *launched)
{
    session->root.command = join(launched->argv);
    session->watch = watch_new(launched, session, &session->root.process);
    return session->root.command && session->watch ? 0 : -ENOMEM;
}

/* ---- messages ---- */

void
session_say(struct session *session, enum severity severity, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    messages_add(session->messages, session->root.process.run_ns, severity, format, arguments);
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

/* ---- polling ---- */

/* Of a living process. */
static enum process_state
judge_state(const struct subject *subject, const struct watch *watch, int64_t now_ns)
{
    const struct process *process = &subject->process;

    if (process->os_known && (process->os.state == 'T' || process->os.state == 't'))
        return STATE_STOPPED;
    if (!process->measured)
        return watch_not_loaded(watch) ? STATE_NOT_LOADED : STATE_STARTING;
    if (watch_stale(watch, now_ns))
        return STATE_STALE;
    return meter_idle(&subject->meter, now_ns) ? STATE_IDLE : STATE_RUNNING;
}

static void
poll_watch(struct session *session, struct subject *subject, struct watch *watch,
           int64_t now_ns, bool with_sizes)
{
    struct recorded slots[RECORDER_SLOTS];
    int64_t offset_ns = 0;
    size_t count;
    bool restarted;

    watch_poll(watch, now_ns, with_sizes, &restarted);
    if (restarted)
        subject_restart(subject);
    count = watch_recorded(watch, slots, RECORDER_SLOTS, &offset_ns);
    subject_digest(subject, session, now_ns, slots, count, offset_ns);
    if (!subject->process.ended)
        subject->process.state = judge_state(subject, watch, now_ns);
}

/* Every line that is due gives a sample, however rarely we are called. */
static void
poll_script(struct session *session, int64_t now_ns)
{
    struct subject *root = &session->root;
    struct process *process = &root->process;

    if (session->script_start_ns < 0)
        session->script_start_ns = now_ns;
    while (
        script_next(session->script, now_ns - session->script_start_ns, session, process))
        subject_digest(root, session, session->script_start_ns + process->run_ns, NULL, 0,
                       0);
    if (process->ended)
        return;
    process->run_ns = now_ns - session->script_start_ns;
    subject_digest(root, session, now_ns, NULL, 0, 0);
    process->state = script_state(session->script);
    if (process->state == STATE_RUNNING && meter_idle(&root->meter, now_ns))
        process->state = STATE_IDLE;
}

void
session_poll(struct session *session, int64_t now_ns, bool with_sizes)
{
    struct subject *root = &session->root;
    bool keep = subject_moment_due(root, now_ns);

    if (root->process.ended)
        return;
    if (session->watch)
        poll_watch(session, root, session->watch, now_ns, with_sizes || keep);
    else if (session->script)
        poll_script(session, now_ns);
    else
        return;
    session->polled_ns = now_ns;
    if (session->watch && (session->bands_shown || root->checkpoints))
        watch_bands(session->watch, now_ns,
                    session->bands_shown ? BANDS_SHOWN : BANDS_KEPT);
    /* The end is a moment to come back to, whenever it comes. */
    if (keep || (root->checkpoints && root->process.ended))
        subject_keep_moment(root, now_ns);
}

bool
session_keep_checkpoints(struct session *session)
{
    return subject_keep_checkpoints(&session->root);
}

void
session_show_bands(struct session *session, bool shown)
{
    session->bands_shown = shown;
}

void
session_read_bands(struct session *session)
{
    if (session->watch)
        watch_bands(session->watch, session->polled_ns, BANDS_NOW);
}

/* ---- reading ---- */

void
session_each_child(const struct session *session,
                   void (*visit)(void *context, const struct process *process),
                   void *context)
{
    if (session->watch)
        watch_each_child(session->watch, visit, context);
}

const struct process *
session_process(const struct session *session)
{
    return &session->root.process;
}

static size_t
saved_threads(const struct saved *saved, struct thread *out, size_t capacity)
{
    size_t count = saved->thread_count < THREADS_MAX ? saved->thread_count : THREADS_MAX;

    memcpy(out, saved->threads, (count < capacity ? count : capacity) * sizeof *out);
    return saved->thread_count;
}

size_t
session_threads(struct session *session, struct thread *out, size_t capacity)
{
    if (session->saved)
        return saved_threads(session->saved, out, capacity);
    return session->watch ? watch_threads(session->watch, out, capacity) : 0;
}

const struct subject *
session_shown(const struct session *session)
{
    return session->shown;
}

const struct history *
session_history(const struct session *session)
{
    return session->root.history;
}

const char *
session_command(const struct session *session)
{
    return session->root.command ? session->root.command : "";
}

int
process_coverage(const struct process *process)
{
    double share;

    if (!process->measured || process->rss_anon_peak == 0)
        return -1;
    share = 100.0 * (double)process->heap_peak / (double)process->rss_anon_peak;
    return share > 100 ? 100 : (int)(share + 0.5);
}

const char *
process_state_word(enum process_state state)
{
    static const char *const words[] = {
#define X(id, word, json) word,
        PROCESS_STATES(X)
#undef X
    };

    return _(words[state]);
}

const char *
process_state_json(enum process_state state)
{
    static const char *const names[] = {
#define X(id, word, json) json,
        PROCESS_STATES(X)
#undef X
    };

    return names[state];
}

const char *
process_signal_name(int signal)
{
    static char name[32];
    const char *known = sigabbrev_np(signal);

    if (known)
        snprintf(name, sizeof name, "SIG%s", known);
    else
        snprintf(name, sizeof name, _("signal %d"), signal);
    return name;
}
