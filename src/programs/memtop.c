/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop: runs a program and shows live what it does with its memory. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "programs/attach.h"
#include "programs/blockask.h"
#include "programs/metrics.h"
#include "programs/language.h"
#include "programs/options.h"
#include "programs/output.h"
#include "programs/say.h"
#include "programs/run.h"
#include "programs/status.h"
#include "programs/wrapperfile.h"
#include "base/i18n.h"
#include "system/signals.h"
#include "tui/app.h"

static struct run run;

/* If a standard descriptor is closed, the next file opened would get its number and
   receive messages.  The program still finds the descriptor closed. */
static void
hold_standard_descriptors(void)
{
    for (int descriptor = 0; descriptor <= 2;)
        if (fcntl(descriptor, F_GETFD) >= 0)
            descriptor++;
        else if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
            return;
}

static bool
can_display(const struct options *options)
{
    char why[256];

    if (options->batch || tui_usable(options->plain, why, sizeof why))
        return !options->batch;
    say(_("%s; reporting at the end"), why);
    return false;
}

/* Runs without the display; returns the exit status. */
static int
run_batch(void)
{
    int signal = run.options->read == NULL ? batch_run(&run) : 0;

    run_save(&run, NULL);
    run_report(&run);
    int status = run_finish(&run);
    return signal != 0 && run.options->attach == NULL ? 128 + signal : status;
}

static int
run_display(void)
{
    int status;

    switch (display_run(&run, &status)) {
    case DISPLAY_FAILED:
        return run_batch();
    case DISPLAY_LEFT:
        return run_finish(&run);
    case DISPLAY_DONE:
        break;
    }
    if (status != 0)
        return status;
    run_report(&run);
    return run_finish(&run);
}

/* memtop without arguments: lets the user choose a process to attach to.  Returns false
   if memtop must end with *status. */
static bool
pick(struct options *options, int *status)
{
    static char chosen[16];
    char why[256];
    pid_t pid;

    *status = status_of(STATUS_FAILED);
    if (options->plain || !tui_usable(false, why, sizeof why)) {
        /* The user can start again with -a. */
        *status = attach_list(options);
        return false;
    }
    signals_open();
    pid = attach_pick(options);
    if (pid == 0)
        *status = 0;
    snprintf(chosen, sizeof chosen, "%d", (int)pid);
    options->attach = chosen;
    return pid > 0;
}

/* Asks the recording memtop for a report on a running process; returns the exit
   status. */
static int
ask(const struct options *options)
{
    pid_t pid = attach_find(options->attach);

    return pid < 0 ? status_of(STATUS_FAILED) : blockask(options, pid);
}

int
main(int argc, char **argv)
{
    static struct options options; /* too large for a small stack */
    int status;

    hold_standard_descriptors();
    output_begin(status_of(STATUS_OUTPUT));
    language_start();

    options_parse(argc, argv, &options);
    wrapperfile_read();
    if (options.list)
        return attach_list(&options);
    if (options.fleet)
        return fleet_run(&options);
    if (options.pick && !pick(&options, &status))
        return status;
    if (options.attach != NULL && options.report.reports != 0)
        return ask(&options);
    status = run_check(&run, &options);
    if (status != 0)
        return status;

    if (!options.pick)
        signals_open();
    if (can_display(&options))
        return run_display();
    status = run_start(&run, 0, 0);
    return status != 0 ? status : run_batch();
}
