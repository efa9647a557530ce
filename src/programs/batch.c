/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watches without a display.  One poll() waits for signals, the program's end and the
 * next sample; while waiting memtop sleeps or records.  The program's end wakes it at
 * once, so that memtop adds nothing to a run of a few milliseconds.
 */
#include "config.h"

#include "programs/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "programs/metrics.h"
#include "programs/names.h"
#include "programs/say.h"
#include "base/i18n.h"
#include "system/signals.h"
#include "report/json.h"
#include "report/line.h"
#include "base/clock.h"

#define PICTURE_INTERVAL_NS INT64_C(100000000)

/* Writes the line of an interval; `taken` intervals came before. */
static void
write_line(struct run *run, unsigned long taken)
{
    const struct options *options = run->options;
    const struct process *process = session_process(run->session);

    if (!options->lines || run->output.failed
        || (options->iterations != 0 && taken >= options->iterations))
        return;
    errno = 0;
    bool ok = options->format == FORMAT_JSON
                  ? report_json_sample(run->output.file, process)
                  : report_line(run->output.file, process);
    output_check(&run->output, ok);
}

/* Have all lines that were asked for been written?  An attached process is then not
   waited for. */
static bool
is_enough(const struct options *options, unsigned long taken)
{
    return options->attach != NULL && options->iterations != 0
           && taken >= options->iterations;
}

/* Reports only the first failure in a row; the next attempt may succeed. */
static void
write_metrics(struct run *run)
{
    const struct options *options = run->options;
    const char *file = options->metrics;
    int error;

    if (file == NULL)
        return;
    error = metrics_write(file, run->session,
                          options->program != NULL ? options->program[0] : NULL);
    if (error != 0 && !run->metrics_failed)
        output_say(file, error);
    run->metrics_failed = error != 0;
}

/* Handles the signals that have arrived.  Returns the signal to leave for, or 0. *asked:
   a signal asked for a snapshot. */
static int
take_signals(const struct run *run, int64_t now_ns, bool *asked)
{
    struct signal_event event;

    *asked = false;
    while (signals_next(false, now_ns, &event)) {
        if (event.action == SIGNAL_FORWARD && run->options->attach != NULL)
            return event.signal;
        else if (event.action == SIGNAL_FORWARD)
            kill(run->launched.pid, event.signal);
        else if (event.action == SIGNAL_CLAIMED)
            *asked = true;
        else if (event.action == SIGNAL_QUIT || event.action == SIGNAL_DETACH)
            return event.signal;
    }
    return 0;
}

/* Sleeps until something happens, at the latest until due_ns; records meanwhile. */
static void
wait_until(struct run *run, int64_t due_ns)
{
    struct pollfd watched[] = {
        {.fd = signals_fd(), .events = POLLIN},
        {.fd = run->launched.pidfd, .events = POLLIN},
    };
    int64_t left_ns;

    do {
        int64_t work_ns = run_work(run);

        left_ns = due_ns - clock_ns(CLOCK_MONOTONIC);
        if (left_ns > work_ns)
            left_ns = work_ns;
        const struct timespec left = {
            .tv_sec = left_ns > 0 ? left_ns / 1000000000 : 0,
            .tv_nsec = left_ns > 0 ? left_ns % 1000000000 : 0,
        };
        if (ppoll(watched, sizeof watched / sizeof *watched, &left, NULL) != 0)
            return;
    } while (clock_ns(CLOCK_MONOTONIC) < due_ns);
}

/* A picture or session needs more samples than a long interval would give.  Lines are
   printed with the rates of the interval, so then it stays. */
static int64_t
choose_interval(const struct options *options)
{
    if ((options->png == NULL && options->save == NULL) || options->lines
        || options->interval_ns < PICTURE_INTERVAL_NS)
        return options->interval_ns;
    return PICTURE_INTERVAL_NS;
}

int
batch_run(struct run *run)
{
    const struct process *process = session_process(run->session);
    const int64_t interval_ns = choose_interval(run->options);
    int64_t due_ns = run->launched.started_ns + interval_ns;
    unsigned long taken = 0;

    if (run->options->metrics != NULL) {
        /* Otherwise the metrics are those of the root only. */
        session_keep_processes(run->session);
        session_want_figures(run->session, true);
    }
    for (;;) {
        wait_until(run, due_ns);
        int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
        bool asked;
        int signal = take_signals(run, now_ns, &asked);
        session_poll(run->session, now_ns, true);
        names_hold(run->session, session_root(run->session),
                   run->options->sites.debuginfod);
        trigger_look(&run->trigger, asked);
        if (process->ended) {
            write_metrics(run);
            return 0;
        }
        if (signal != 0) {
            if (run->options->attach == NULL)
                run_say_left(run);
            return signal;
        }
        if (now_ns >= due_ns) {
            write_line(run, taken++);
            write_metrics(run);
            if (is_enough(run->options, taken))
                return 0;
            due_ns += interval_ns * ((now_ns - due_ns) / interval_ns + 1);
        }
    }
}
