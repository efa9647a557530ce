/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The display in words, for screen readers and terminals that can only print: no cursor
 * moves, nothing is drawn, nothing is said twice.  A page is said when it is turned to,
 * and again at ^L; messages and answers when they come; the heap when it has doubled or
 * halved, but not too often.
 */
#include "config.h"

#include "tui/loop.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "tui/term.h"

#define QUIET_NS    INT64_C(5000000000)   /* least time between unrequested lines */
#define GREAT_HEAP  65536                 /* changes of smaller heaps are noise */
#define LINE_BYTES  8192

/* Says a row without blanks at its ends, and with at most two between its parts. */
static void
say_row(const struct canvas *canvas, int row)
{
    char text[LINE_BYTES], *to = text, *from = text;

    if (canvas_row_bytes(canvas) > sizeof text)
        return;
    canvas_row_text(canvas, row, text);
    for (int blanks = 2; *from != '\0'; from++) {
        blanks = *from == ' ' ? blanks + 1 : 0;
        if (blanks <= 2)
            *to++ = *from;
    }
    *to = '\0';
    if (text[0] != '\0')
        term_say(text);
}

static void
say_rows(const struct canvas *canvas, int from, int count)
{
    for (int row = from; row < from + count; row++)
        say_row(canvas, row);
}

/* "RUNNING 00:02:24: heap 248.3 MiB, peak 400.1 MiB, 24537 blocks" */
static void
say_figures(struct loop *loop)
{
    const struct app *app = &loop->app;
    const struct process *process = app->scene.process;
    char heap[UNITS_MAX], peak[UNITS_MAX], blocks[UNITS_MAX], time[UNITS_MAX];
    char text[LINE_BYTES], state[64];

    view_state(state, sizeof state, &app->view, &app->scene);
    units_duration(time, sizeof time, process->run_ns);
    if (process->measured)
        /* TRANSLATORS: time, state; read out by screen readers. */
        snprintf(text, sizeof text, _("%s, %s: heap %s, peak %s, blocks %s"), state, time,
                 units_bytes(heap, sizeof heap, process->now.live_bytes, app->view.unit),
                 units_bytes(peak, sizeof peak, view_peak(&app->view, &app->scene),
                             app->view.unit),
                 units_count(blocks, sizeof blocks, process->now.live_blocks));
    else
        snprintf(text, sizeof text, _("%s, %s: not measured"), state, time);
    term_say(text);
    loop->speech.heap = process->now.live_bytes;
    loop->speech.state = process->state;
    loop->speech.when_ns = app_now();
}

static void
say_page(struct loop *loop)
{
    const struct screen *screen = &loop->app.screen;
    const struct rect *body = &screen->layout.block[BLOCK_BODY];

    if (loop->app.view.help > 0) {
        say_rows(&screen->canvas, 0, screen->canvas.rows - 1);
    } else if (loop->app.view.page == PAGE_OVERVIEW) {
        say_row(&screen->canvas, screen->layout.block[BLOCK_HEADER].row);
        say_figures(loop);
        say_row(&screen->canvas, screen->layout.block[BLOCK_TOTALS].row);
    } else {
        say_rows(&screen->canvas, body->row, body->rows);
    }
}

static void
say_message(struct loop *loop)
{
    struct app *app = &loop->app;
    struct speech *speech = &loop->speech;
    char text[sizeof speech->said];

    text_sanitise(text, sizeof text, app->scene.message, strlen(app->scene.message));
    if (app->nothing_new || strcmp(text, speech->said) == 0)
        return;
    /* Says each place in the history once, although the end of the run moves on. */
    if (app->view.history && app->ack_ns == 0 && !app->scene.asks) {
        if (app->past.run_ns == speech->past_ns)
            return;
        speech->past_ns = app->past.run_ns;
    }
    snprintf(speech->said, sizeof speech->said, "%s", text);
    term_say(text);
}

static bool
heap_is_another(const struct speech *speech, const struct process *process)
{
    uint64_t now = process->now.live_bytes, then = speech->heap;
    uint64_t more = now > then ? now : then, less = now > then ? then : now;

    return process->measured && more >= GREAT_HEAP && more / 2 >= less
           && app_now() - speech->when_ns >= QUIET_NS;
}

void
speak_news(struct loop *loop)
{
    struct app *app = &loop->app;
    struct speech *speech = &loop->speech;
    const struct process *process = app->scene.process;

    if (!speech->begun || app->say_again || app->view.help != speech->help
        || app->view.scroll != speech->scroll) {
        app->say_again = false;
        say_page(loop);
    } else if (process->state != speech->state || heap_is_another(speech, process)) {
        say_figures(loop);
    }
    if (app->view.interacting && !speech->interacting)
        term_say(_(" Keys go to the program; ^] takes them back "));
    speech->interacting = app->view.interacting;
    speech->begun = true;
    speech->help = app->view.help;
    speech->scroll = app->view.scroll;
    say_message(loop);
}
