/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When the display reads the program: when the timer says so, fast at first, and on
 * demand.  Never while drawing and not after the program's end.
 */
#include "config.h"

#include "tui/loop.h"

#include <stddef.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/i18n.h"
#include "system/procfs.h"
#include "monitor/process-list.h"

#define SECOND_NS INT64_C(1000000000)
#define EARLY_NS  (SECOND_NS / 10)   /* between the first samples */

/* The clock of samples: the real one, or in tests one that each sample advances by the
   interval.  Tests have no timer; SIGCHLD takes the samples. */
static int64_t
sample_clock(struct loop *loop)
{
    int64_t now;

    if (loop->test_clock < 0)
        return app_now();
    now = loop->test_clock;
    loop->test_clock += loop->app.interval_ns;
    return now;
}

static void
measure_own_cost(struct loop *loop)
{
    struct own_cost *own = &loop->app.scene.own;
    int64_t now = app_now();
    struct procfs_memory memory;
    struct rusage usage;
    int64_t cpu;

    if (now - loop->own_ns < SECOND_NS || loop->test_clock >= 0
        || getrusage(RUSAGE_SELF, &usage) != 0 || procfs_memory(getpid(), &memory) != 0)
        return;
    cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * SECOND_NS
          + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
    own->known = loop->own_ns != 0;
    own->cpu_percent =
        (double)(cpu - loop->own_cpu_ns) * 100 / (double)(now - loop->own_ns);
    own->rss = memory.rss;
    loop->own_ns = now;
    loop->own_cpu_ns = cpu;
}

static bool
sizes_wanted(const struct app *app)
{
    return app->mark_asked || app->options->sampled != NULL
           || (pages_def(app->view.page)->reads & PAGE_READS_SIZES)
           || app->screen.layout.block[BLOCK_SIZES].rows > 0;
}

void
sampling_set_timer(struct loop *loop)
{
    int64_t interval = loop->app.interval_ns;
    struct itimerspec timer;

    if (loop->test_clock >= 0)
        return;
    if (loop->samples < EARLY_SAMPLES && interval > EARLY_NS)
        interval = EARLY_NS;
    timer.it_interval.tv_sec = interval / SECOND_NS;
    timer.it_interval.tv_nsec = interval % SECOND_NS;
    timer.it_value = timer.it_interval;
    timerfd_settime(loop->sources[SOURCE_TIMER].fd, 0, &timer, NULL);
}

static void
note_end(struct loop *loop)
{
    struct app *app = &loop->app;

    loop->sources[SOURCE_PROGRAM].fd = -1;
    app->kill_at_ns = 0;
    if (app->leave_at_end) {
        app->outcome = TUI_ENDED;
        app->done = true;
    }
    if (app->question == QUESTION_SIGNAL || app->question == QUESTION_QUIT)
        app->question = QUESTION_NONE;
    app->view.interacting = false;
}

/* Do any processes of the list still run?  The root's children may outlive it. */
static bool
others_live(const struct app *app)
{
    const struct process_list *process_list = session_processes(app->session);

    return process_list != NULL && process_list_sum(process_list)->living > 0;
}

void
sampling_take(struct loop *loop, bool with_sizes)
{
    struct app *app = &loop->app;
    const struct process *process = session_process(app->session);
    const unsigned reads = pages_def(app->view.page)->reads;
    const bool ended = !app_running(app);

    if (session_saved(app->session) != NULL
        || (ended && app_shown(app)->ended && !others_live(app)))
        return;
    session_show_rss(app->session, reads & PAGE_READS_BANDS);
    session_want_figures(app->session, reads & PAGE_READS_FIGURES);
    session_show_profile(app->session, reads & PAGE_READS_PROFILE);
    session_poll(app->session, sample_clock(loop),
                 with_sizes || sizes_wanted(app) || loop->samples == 0);
    loop->samples++;
    if (loop->samples == EARLY_SAMPLES)
        sampling_set_timer(loop);
    measure_own_cost(loop);
    if (app->marked && app->mark.generation != app_shown(app)->generations)
        look_clear_mark(app, _("Mark cleared: the program executed another program"));
    if (process->ended && !ended)
        note_end(loop);
    if (app->options->sampled != NULL && !ended)
        app->options->sampled(app->options->sampled_context, false);
    app->threads_asked |= (reads & PAGE_READS_THREADS) && !app->view.paused;
    app->sites_stale |= !app->view.paused;
    app_prepare(app);
    app->dirty = true;
}

void
sampling_read_threads(struct app *app)
{
    app->threads_asked = false;
    app->scene.threads = app->threads;
    app->scene.thread_count = session_threads(app->session, app->threads, THREADS_MAX);
}

void
app_refresh(struct app *app)
{
    sampling_take((struct loop *)((char *)app - offsetof(struct loop, app)), true);
    session_read_rss(app->session);
    session_read_profile(app->session);
}
