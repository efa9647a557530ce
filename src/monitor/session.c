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
#include "monitor/checkpoints.h"
#include "monitor/meter.h"
#include "monitor/script.h"
#include "monitor/watch.h"

/* A column of the widest terminal has two dots: 512 samples a level suffice. */
#define HISTORY_SLOTS 512
#define MESSAGES 500
/* Of 3.5 KiB each; not more often than this, for the histogram of each thread has
   to be copied. */
#define CHECKPOINTS 512
#define CHECKPOINT_MIN_NS INT64_C(100000000)

struct session {
    struct process process;
    struct history *history;
    struct messages *messages;
    struct checkpoints *checkpoints; /* NULL: nobody will look back */
    int64_t checkpoint_due_ns;
    struct meter meter;
    struct snapshot last; /* of the poll before, to see what failed since */
    char *command;
    bool keep_segments;
    struct watch *watch;   /* a program, ... */
    struct script *script; /* or a script, or neither yet */
    int64_t script_start_ns;
};

struct session *
session_new(const struct session_options *options)
{
    struct session *session = calloc(1, sizeof *session);

    if (!session)
        return NULL;
    session->keep_segments = options->keep_segments;
    session->history = history_new(HISTORY_SLOTS);
    session->messages = messages_new(MESSAGES);
    if (!session->history || !session->messages) {
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
    }
    return session;
}

void
session_free(struct session *session)
{
    if (!session)
        return;
    watch_free(session->watch, session->keep_segments);
    script_close(session->script);
    history_free(session->history);
    messages_free(session->messages);
    checkpoints_free(session->checkpoints);
    free(session->command);
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
    session->command = join(launched->argv);
    session->watch = watch_new(launched, session, &session->process);
    return session->command && session->watch ? 0 : -ENOMEM;
}

/* ---- messages ---- */

/* 1536 -> "1.5 KiB": for messages only, where no column is at stake. */
static const char *
readable_size(uint64_t bytes, char buffer[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    snprintf(buffer, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return buffer;
}

static void
note_failures(struct session *session)
{
    static const char *const names[] = {
#define X(id, name) name,
        SEGMENT_FUNCTIONS(X)
#undef X
    };
    const struct snapshot *now = &session->process.now, *last = &session->last;

    for (int i = 0; i < FN_COUNT; i++) {
        unsigned long count;
        char size[32];

        if (now->failed[i] <= last->failed[i])
            continue;
        count = now->failed[i] - last->failed[i];
        readable_size(now->failed_bytes[i] - last->failed_bytes[i], size);
        session_say(session, SEVERITY_WARNING,
                    ngettext("%s failed %lu time (%s asked for)",
                             "%s failed %lu times (%s asked for together)", count),
                    names[i], count, size);
    }
    session->last = *now;
}

void
session_say(struct session *session, enum severity severity, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    messages_add(session->messages, session->process.run_ns, severity, format, arguments);
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

/* The recorder is finer than most intervals: its slots come before the poll's
   own sample. */
static void
push_recorded(struct session *session)
{
    struct recorded slots[RECORDER_SLOTS];
    int64_t offset_ns;
    size_t count;

    if (!session->watch)
        return;
    count = watch_recorded(session->watch, slots, RECORDER_SLOTS, &offset_ns);
    meter_push_recorded(&session->meter, &session->process, slots, count, offset_ns,
                        session->history);
}

/* What every source's reading is good for. */
static void
digest(struct session *session, int64_t now_ns)
{
    struct process *process = &session->process;
    struct sample sample;

    if (process->measured) {
        meter_read(&session->meter, process, now_ns);
        note_failures(session);
        push_recorded(session);
    }
    sample = meter_sample(&session->meter, process);
    history_push(session->history, &sample);
    if (process->ended)
        process->rates = (struct rates){0};
}

/* Of a living process. */
static enum process_state
judge_state(const struct session *session, int64_t now_ns)
{
    const struct process *process = &session->process;

    if (process->os_known && (process->os.state == 'T' || process->os.state == 't'))
        return STATE_STOPPED;
    if (!process->measured)
        return watch_not_loaded(session->watch) ? STATE_NOT_LOADED : STATE_STARTING;
    if (watch_stale(session->watch, now_ns))
        return STATE_STALE;
    return meter_idle(&session->meter, now_ns) ? STATE_IDLE : STATE_RUNNING;
}

static void
poll_watch(struct session *session, int64_t now_ns, bool with_sizes)
{
    struct process *process = &session->process;
    bool restarted;

    watch_poll(session->watch, now_ns, with_sizes, &restarted);
    if (restarted) {
        meter_restart(&session->meter, session->meter.at_ns);
        session->last = (struct snapshot){0};
    }
    digest(session, now_ns);
    if (!process->ended)
        process->state = judge_state(session, now_ns);
}

/* Every line that is due gives a sample, however rarely we are called. */
static void
poll_script(struct session *session, int64_t now_ns)
{
    struct process *process = &session->process;

    if (session->script_start_ns < 0)
        session->script_start_ns = now_ns;
    while (
        script_next(session->script, now_ns - session->script_start_ns, session, process))
        digest(session, session->script_start_ns + process->run_ns);
    if (process->ended)
        return;
    process->run_ns = now_ns - session->script_start_ns;
    digest(session, now_ns);
    process->state = script_state(session->script);
    if (process->state == STATE_RUNNING && meter_idle(&session->meter, now_ns))
        process->state = STATE_IDLE;
}

static void
keep_moment(struct session *session, int64_t now_ns)
{
    int64_t spacing;

    checkpoints_add(session->checkpoints, &session->process);
    spacing = checkpoints_spacing(session->checkpoints);
    session->checkpoint_due_ns =
        now_ns + (spacing > CHECKPOINT_MIN_NS ? spacing : CHECKPOINT_MIN_NS);
}

void
session_poll(struct session *session, int64_t now_ns, bool with_sizes)
{
    bool keep = session->checkpoints && now_ns >= session->checkpoint_due_ns;

    if (session->process.ended)
        return;
    if (session->watch)
        poll_watch(session, now_ns, with_sizes || keep);
    else if (session->script)
        poll_script(session, now_ns);
    else
        return;
    /* The end is a moment to come back to, whenever it comes. */
    if (keep || (session->checkpoints && session->process.ended))
        keep_moment(session, now_ns);
}

bool
session_keep_checkpoints(struct session *session)
{
    if (!session->checkpoints)
        session->checkpoints = checkpoints_new(CHECKPOINTS);
    return session->checkpoints != NULL;
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
    return &session->process;
}

size_t
session_threads(struct session *session, struct thread *out, size_t capacity)
{
    return session->watch ? watch_threads(session->watch, out, capacity) : 0;
}

const struct checkpoints *
session_checkpoints(const struct session *session)
{
    return session->checkpoints;
}

const struct history *
session_history(const struct session *session)
{
    return session->history;
}

const char *
session_command(const struct session *session)
{
    if (session->script)
        return script_command(session->script);
    return session->command ? session->command : "";
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
