/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memtop -B --metrics FILE without PROGRAM: a service that writes figures of all
 * processes with the library, without touching them.  It goes on if there are none at
 * the moment.
 */
#include "config.h"

#include "programs/fleet.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "programs/metrics.h"
#include "programs/output.h"
#include "programs/status.h"
#include "monitor/system-list.h"
#include "system/signals.h"
#include "base/clock.h"

/* Sleeps until due_ns; returns false if a signal asks memtop to end. */
static bool
wait_until(int64_t due_ns)
{
    struct pollfd signals = {.fd = signals_fd(), .events = POLLIN};

    for (int64_t left_ns; (left_ns = due_ns - clock_ns(CLOCK_MONOTONIC)) > 0;) {
        const struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};
        struct signal_event event;

        if (ppoll(&signals, 1, &left, NULL) <= 0)
            continue;
        while (signals_next(false, clock_ns(CLOCK_MONOTONIC), &event))
            if (event.action == SIGNAL_FORWARD || event.action == SIGNAL_QUIT
                || event.action == SIGNAL_DETACH)
                return false;
    }
    return true;
}

/* Reports only the first failure in a row; the next attempt may succeed. */
static void
write_file(const char *file, const struct process_list *process_list, bool *failed)
{
    int error = metrics_write_all(file, process_list);

    if (error != 0 && !*failed)
        output_say(file, error);
    *failed = error != 0;
}

int
fleet_run(const struct options *options)
{
    struct system_list *systemwide = system_list_new();
    int64_t due_ns = clock_ns(CLOCK_MONOTONIC);
    int error = metrics_check(options->metrics);
    bool failed = false;

    if (systemwide == NULL || error != 0) {
        output_lost(options->metrics, error != 0 ? error : -ENOMEM);
        system_list_free(systemwide);
        return status_of(STATUS_OUTPUT);
    }
    signals_open();
    for (unsigned long taken = 0; options->iterations == 0 || taken < options->iterations;
         taken++) {
        if (!wait_until(due_ns))
            break;
        due_ns += options->interval_ns;
        system_list_poll(systemwide, clock_ns(CLOCK_MONOTONIC));
        write_file(options->metrics, system_list_processes(systemwide), &failed);
    }
    system_list_free(systemwide);
    return failed ? status_of(STATUS_OUTPUT) : 0;
}
