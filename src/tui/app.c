/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loop of the display.
 *
 * One poll() waits for the terminal, signals, the program's end, its output and the
 * sampling timer.  Each event changes the state and marks the screen dirty.  A dirty
 * screen is drawn at most ten times a second, after a key sooner.  Sampling (sampling.c)
 * never happens while the screen is drawn (frame.c).  When the terminal goes away
 * nothing is drawn any more and the loop ends.
 */
#include "config.h"

#include "tui/loop.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/i18n.h"
#include "monitor/saved.h"
#include "system/signals.h"
#include "base/clock.h"
#include "monitor/naming.h"
#include "tui/crash.h"
#include "tui/term.h"

int64_t
app_now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

bool
app_running(const struct app *app)
{
    return !session_process(app->session)->ended && session_saved(app->session) == NULL;
}

void
app_ack(struct app *app, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(app->ack, sizeof app->ack, format, args);
    va_end(args);
    app->ack_ns = app_now();
    app->dirty = true;
}

bool
tui_usable(bool plain, char *why, size_t size)
{
    return term_usable(plain, why, size);
}

/* ---- events ---- */

static void
on_terminal(struct loop *loop, short revents)
{
    struct app *app = &loop->app;
    int input;

    if (term_lost(revents)) {
        app->outcome = TUI_HUNG_UP;
        app->done = true;
        return;
    }
    while (!app->done && !app->view.interacting && (input = term_read()) != INPUT_NONE)
        command_key(app, input);
    if (!app->done && app->view.interacting)
        command_interact(app);
}

static void
on_signal(struct loop *loop, const struct signal_event *event)
{
    struct app *app = &loop->app;
    bool ends = event->action == SIGNAL_FORWARD || event->action == SIGNAL_REACHED;

    if (ends && app->options->attached) {
        /* A signal to memtop is not meant for a program it is only attached to. */
        command_leave(app, TUI_LEFT);
        return;
    }
    switch (event->action) {
    case SIGNAL_FORWARD:
        target_signal(app, event->signal);
        /* fall through */
    case SIGNAL_REACHED:
        if (event->signal != SIGUSR1 && event->signal != SIGUSR2) {
            app->leave_at_end = true;
            app->done = !app_running(app);
            app_ack(app, "%s",
                    _("The program was told to end; another signal ends memtop alone"));
        }
        break;
    case SIGNAL_QUIT:
        app->outcome = TUI_LEFT;
        app->done = true;
        break;
    case SIGNAL_DETACH:
        app->outcome = TUI_HUNG_UP;
        app->done = true;
        break;
    case SIGNAL_CHILD:
        sampling_take(loop, false);
        break;
    case SIGNAL_RESIZED:
        loop->resized = true;
        break;
    case SIGNAL_CLAIMED:
        sampling_take(loop, true);
        if (app->options->sampled != NULL)
            app->options->sampled(app->options->sampled_context, true);
        break;
    default:
        break;
    }
}

static void
on_output(struct loop *loop)
{
    struct app *app = &loop->app;
    uint64_t before = frame_lines_printed(app);

    if (capture_read(app->capture) == CAPTURE_CLOSED)
        loop->sources[SOURCE_OUTPUT].fd = -1;
    if (app->view.paused)
        return;
    app->dirty = true;
    /* While the user has scrolled back, the lines on the screen do not move. */
    if (app->view.page == PAGE_OUTPUT && app->view.scroll > 0) {
        int limit = view_scroll_limit(&app->screen, &app->view, &app->scene);
        uint64_t scroll = (uint64_t)app->view.scroll + frame_lines_printed(app) - before;

        app->view.scroll = scroll < (uint64_t)limit ? (int)scroll : limit;
    }
}

static void
on_timer(struct loop *loop)
{
    uint64_t ticks;

    if (read(loop->sources[SOURCE_TIMER].fd, &ticks, sizeof ticks) == sizeof ticks)
        sampling_take(loop, false);
}

static void
on_names(struct app *app)
{
    if (naming_take(app->naming))
        app->sites_stale = app->dirty = true;
}

static void
on_events(struct loop *loop)
{
    struct app *app = &loop->app;
    const struct pollfd *sources = loop->sources;
    struct signal_event event;

    if (sources[SOURCE_TERMINAL].revents != 0)
        on_terminal(loop, sources[SOURCE_TERMINAL].revents);
    if (sources[SOURCE_SIGNALS].revents != 0)
        while (!app->done && signals_next(app->capture != NULL, app_now(), &event))
            on_signal(loop, &event);
    if (!app->done && sources[SOURCE_OUTPUT].revents != 0)
        on_output(loop);
    if (!app->done && sources[SOURCE_PROGRAM].revents != 0)
        sampling_take(loop, false);
    if (!app->done && sources[SOURCE_TIMER].revents != 0)
        on_timer(loop);
    if (!app->done && sources[SOURCE_NAMES].revents != 0)
        on_names(app);
}

/* ---- the loop ---- */

static void
earlier(int64_t *due, int64_t when)
{
    if (when < *due)
        *due = when;
}

/* Nanoseconds until the next timed work; INT64_MAX if there is none. */
static int64_t
time_to_wait(const struct app *app)
{
    int64_t now = app_now();
    int64_t due = INT64_MAX;

    if (app->dirty)
        earlier(&due, frame_due(app));
    if (app->ack_ns != 0)
        earlier(&due, app->ack_ns + app->ack_life_ns);
    if (app->kill_at_ns != 0)
        earlier(&due, app->kill_at_ns);
    if (app->background_ns != 0)
        earlier(&due, app->background_ns);
    if (due == INT64_MAX)
        return INT64_MAX;
    return due <= now ? 0 : due - now;
}

static void
on_time(struct loop *loop)
{
    struct app *app = &loop->app;
    int64_t now = app_now();

    if (app->ack_ns != 0 && now >= app->ack_ns + app->ack_life_ns) {
        app->ack_ns = 0;
        app->dirty = true;
    }
    if (app->kill_at_ns != 0 && now >= app->kill_at_ns) {
        app->kill_at_ns = 0;
        target_signal(app, SIGKILL);
    }
    if (app->interval_changed) {
        app->interval_changed = false;
        loop->samples = EARLY_SAMPLES;
        sampling_set_timer(loop);
    }
    if (app->mark_asked)
        frame_set_mark(loop);
    if (app->sample_asked) {
        app->sample_asked = false;
        sampling_take(loop, false);
    }
    if (app->threads_asked)
        sampling_read_threads(app);
    if (loop->resized) {
        loop->resized = false;
        if (!frame_follow_size(app)) {
            app->outcome = TUI_HUNG_UP;
            app->done = true;
        }
    }
    if (app->dirty && now >= frame_due(app))
        frame_draw(loop);
}

static void
work_in_background(struct app *app)
{
    const struct tui_options *options = app->options;

    if (options->background != NULL && app_now() >= app->background_ns)
        app->background_ns =
            app_now() + options->background(options->background_context);
}

static void
run(struct loop *loop)
{
    struct app *app = &loop->app;

    while (!app->done) {
        on_time(loop);
        if (app->done)
            break;
        work_in_background(app);
        loop->sources[SOURCE_NAMES].fd =
            app->naming != NULL ? naming_descriptor(app->naming) : -1;
        int64_t wait_ns = time_to_wait(app);
        const struct timespec wait = {.tv_sec = wait_ns / 1000000000,
                                      .tv_nsec = wait_ns % 1000000000};
        if (ppoll(loop->sources, SOURCE_COUNT, wait_ns < INT64_MAX ? &wait : NULL, NULL)
            < 0) {
            if (errno != EINTR)
                break;
            continue;
        }
        on_events(loop);
    }
}

static enum graph_style
choose_style(const struct tui_options *options, bool unicode)
{
    const char *name = getenv("TERM");

    if (!unicode)
        return GRAPH_ASCII;
    switch (options->graph) {
    case TUI_GRAPH_BRAILLE:
        return GRAPH_BRAILLE;
    case TUI_GRAPH_BLOCK:
        return GRAPH_BLOCK;
    case TUI_GRAPH_ASCII:
        return GRAPH_ASCII;
    default:
        /* The fonts of the Linux console have blocks but no braille. */
        return name != NULL && strcmp(name, "linux") == 0 ? GRAPH_BLOCK : GRAPH_BRAILLE;
    }
}

static int64_t
keep_within(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static void
init_app(struct loop *loop, const struct tui_options *options)
{
    struct app *app = &loop->app;
    const char *clock = getenv("MEMTOP_TEST_CLOCK");
    bool unicode =
        !options->ascii && !options->plain && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;

    app->options = options;
    app->outcome = TUI_LEFT;
    /* A test cannot know how soon it can read the screen. */
    app->ack_life_ns =
        getenv("MEMTOP_TEST_PATIENCE") != NULL ? INT64_MAX / 2 : APP_ACK_NS;
    app->interval_ns =
        keep_within(options->interval_ns, APP_INTERVAL_MIN_NS, APP_INTERVAL_MAX_NS);
    app->screen.canvas.unicode = unicode;
    app->screen.canvas.plain = options->plain;
    app->view.style = choose_style(options, unicode);
    app->view.unit = options->si ? UNIT_SI : UNIT_AUTO;
    if (options->sites != NULL)
        sites_begin(app, options->sites);
    app->scene.session = app->session;
    app->scene.capture = app->capture;
    loop->test_clock = clock != NULL ? strtoll(clock, NULL, 10) : -1;
    text_ascii_ellipsis(!unicode);
}

/* Takes over what the user had chosen when the session was saved. */
static void
init_saved(struct app *app, const struct saved *saved)
{
    const struct process *mark = &saved->mark;

    app->interval_ns = saved->interval_ns;
    app->marked = saved->marked;
    app->mark = (struct mark){ mark->run_ns, mark->generations, mark->now, mark->sizes,
                              mark->breakdown };
}

static void
init_sources(struct loop *loop)
{
    const struct app *app = &loop->app;
    const int descriptors[SOURCE_COUNT] = {
        [SOURCE_TERMINAL] = term_fd(),
        [SOURCE_SIGNALS] = signals_fd(),
        [SOURCE_PROGRAM] = app->launched != NULL ? app->launched->pidfd : -1,
        [SOURCE_OUTPUT] = app->capture != NULL ? capture_fd(app->capture) : -1,
        [SOURCE_NAMES] = -1,
        [SOURCE_TIMER] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
    };

    for (int i = 0; i < SOURCE_COUNT; i++)
        loop->sources[i] = (struct pollfd){ .fd = descriptors[i], .events = POLLIN };
}

/* The captured output, for which memtop's heir must go on reading after a crash. */
static struct capture *orphan;

static void
take_over_orphan(void)
{
    capture_take_over(orphan, term_fd());
}

/* Without an heir the program's terminal would hang up when memtop crashes. */
static void
prepare_for_crash(const struct launched *launched, struct capture *capture)
{
    char note[200];

    if (launched == NULL)
        snprintf(note, sizeof note, "%s", _("memtop: internal error"));
    else
        snprintf(note, sizeof note, _("memtop: internal error; program %d runs on"),
                 (int)launched->pid);
    crash_set_note(note);
    orphan = capture;
    crash_set_heir(capture != NULL ? take_over_orphan : NULL);
}

static void
keep_mark(const struct app *app, struct tui_mark *mark)
{
    if (mark == NULL)
        return;
    mark->set = app->marked && app_shown(app) == session_process(app->session);
    save_mark(app, &mark->process);
}

enum tui_outcome
tui_run(struct session *session, struct capture *capture, const struct launched *launched,
        const struct tui_options *options)
{
    struct loop *loop = calloc(1, sizeof *loop);
    enum tui_outcome outcome = TUI_FAILED;
    int error;

    if (loop == NULL || !session_keep_checkpoints(session)
        || !session_keep_processes(session) || !session_keep_profile(session)) {
        free(loop);
        return TUI_FAILED;
    }
    loop->app.session = session;
    loop->app.capture = capture;
    loop->app.launched = launched;
    prepare_for_crash(launched, capture);
    error = term_open(options->colour, options->plain);
    if (error == 0) {
        init_app(loop, options);
        if (session_saved(session) != NULL)
            init_saved(&loop->app, session_saved(session));
        init_sources(loop);
        const struct symbols_options names = {.debuginfod = options->debuginfod};
        loop->app.naming = naming_new(&names);
        if (frame_follow_size(&loop->app)) {
            sampling_take(loop, false);
            sampling_set_timer(loop);
            run(loop);
            outcome = loop->app.outcome;
            keep_mark(&loop->app, options->mark);
        }
        close(loop->sources[SOURCE_TIMER].fd);
        term_close();
        picture_free(&loop->app.screen);
        blocks_free(&loop->app.blocks);
    }
    naming_free(loop->app.naming);
    profile_table_free(&loop->app.sites.table);
    profile_free(loop->app.sites.all);
    free(loop);
    errno = -error;
    return outcome;
}
