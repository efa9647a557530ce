/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A small display of its own that updates once a second; view-picker.c draws it. */
#include "config.h"

#include "tui/picker.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "system/signals.h"
#include "base/clock.h"
#include "tui/keys.h"
#include "tui/processes.h"
#include "tui/term.h"
#include "tui/view.h"

#define INTERVAL_MS 1000

struct picker {
    struct system_list *systemwide;
    struct canvas canvas;
    struct processes list;
    pid_t chosen;
    bool done;
};

static int
lines(const struct picker *picker)
{
    return table_room(picker->canvas.rows - 2);   /* minus title and footer */
}

static bool
follow_size(struct picker *picker)
{
    int rows, cols;

    term_size(&rows, &cols);
    return canvas_resize(&picker->canvas, rows, cols) && term_resize(rows, cols);
}

static void
step(struct picker *picker, int steps)
{
    picker->list.selected =
        processes_step(&picker->list, steps, lines(picker), &picker->list.scroll);
}

/* Chooses a process, unless it has ended since it was listed; the next poll removes that
   one from the list. */
static void
choose(struct picker *picker, pid_t pid)
{
    if (pid == 0 || (kill(pid, 0) < 0 && errno == ESRCH))
        return;
    picker->chosen = pid;
    picker->done = true;
}

static void
on_key(struct picker *picker, int input)
{
    int digit, page = lines(picker) > 1 ? lines(picker) : 1;

    switch (keys_action(input, &digit)) {
    case ACTION_QUIT:
    case ACTION_INTERRUPT:
    case ACTION_CANCEL:
        picker->done = true;
        break;
    case ACTION_FOLLOW:
        step(picker, 0);
        choose(picker, picker->list.selected);
        break;
    case ACTION_UP:
        step(picker, -1);
        break;
    case ACTION_DOWN:
        step(picker, 1);
        break;
    case ACTION_PAGE_UP:
        step(picker, -page);
        break;
    case ACTION_PAGE_DOWN:
        step(picker, page);
        break;
    case ACTION_HOME:
        step(picker, -1000000);
        break;
    case ACTION_END:
        step(picker, 1000000);
        break;
    case ACTION_SORT:
        if (table_sort_title(&processes_table, ++picker->list.sort.column) == NULL)
            picker->list.sort = (struct sort){ 0, false };
        break;
    case ACTION_REVERSE:
        picker->list.sort.reverse = !picker->list.sort.reverse;
        break;
    case ACTION_REDRAW:
        term_forget();
        break;
    case ACTION_SUSPEND:
        term_suspend();
        break;
    default:
        break;
    }
}

static void
on_signals(struct picker *picker)
{
    struct signal_event event;

    while (signals_next(false, clock_ns(CLOCK_MONOTONIC), &event))
        switch (event.action) {
        case SIGNAL_FORWARD:
        case SIGNAL_QUIT:
        case SIGNAL_DETACH:
            picker->done = true;
            break;
        case SIGNAL_RESIZED:
            picker->done = picker->done || !follow_size(picker);
            break;
        default:
            break;
        }
}

static void
run(struct picker *picker)
{
    struct pollfd sources[] = { { .fd = term_fd(), .events = POLLIN },
                                { .fd = signals_fd(), .events = POLLIN } };
    int input;

    while (!picker->done) {
        picker_draw(&picker->canvas, &picker->list);
        term_show(&picker->canvas);
        if (poll(sources, 2, INTERVAL_MS) < 0 && errno != EINTR)
            return;
        if (term_lost(sources[0].revents))
            return;
        while (!picker->done && (input = term_read()) != INPUT_NONE)
            on_key(picker, input);
        on_signals(picker);
        system_list_poll(picker->systemwide, clock_ns(CLOCK_MONOTONIC));
    }
}

pid_t
picker_run(struct system_list *systemwide, const struct picker_options *options)
{
    struct picker picker = { .systemwide = systemwide,
                             .list = { .process_list = system_list_processes(systemwide),
                                       .unit = options->unit } };
    bool unicode = !options->ascii && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    int error = term_open(options->colour, false);

    if (error < 0) {
        errno = -error;
        return -1;
    }
    picker.canvas.unicode = unicode;
    text_ascii_ellipsis(!unicode);
    if (follow_size(&picker))
        run(&picker);
    term_close();
    canvas_free(&picker.canvas);
    return picker.chosen;
}
