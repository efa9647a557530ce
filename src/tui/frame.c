/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Puts together the scene, has it drawn and shows it on the terminal.  Reads nothing
 * from the program.
 */
#include "config.h"

#include "tui/loop.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "tui/dump.h"
#include "tui/term.h"

#define FRAME_NS     INT64_C(100000000)
/* On a plain terminal pages are printed whole, whatever its height. */
#define PLAIN_ROWS   40
/* After a key; held keys repeat 30 times a second. */
#define KEY_FRAME_NS INT64_C(25000000)

uint64_t
frame_lines_printed(const struct app *app)
{
    return app->capture == NULL ? 0
                                : capture_lines_dropped(app->capture)
                                      + capture_line_count(app->capture);
}

/* The command for the header.  If the process is not the root, the root's name comes
   first. */
static const char *
shown_command(struct app *app, const struct tracked *shown)
{
    const char *command = tracked_command(shown);
    const char *root = session_command(app->session);
    int length = (int)strcspn(root, " ");

    if (&shown->process == session_process(app->session))
        return command;
    for (const char *slash; (slash = memchr(root, '/', (size_t)length)) != NULL;) {
        length -= (int)(slash + 1 - root);
        root = slash + 1;
    }
    /* In a narrow window the root's name says more than the process's arguments.
       TRANSLATORS: the program that was started, and a process: "make: cc1 x.c" */
    snprintf(app->header, sizeof app->header, _("%.*s: %.200s"),
             length < 40 ? length : 40, root, command);
    return app->header;
}

void
app_take_blocks(struct app *app)
{
    const struct tui_options *options = app->options;
    const struct blocksizes *blocks;
    uint64_t now_ns = 0;

    if (!app->view.paused && !app->view.history) {
        blocks = options->blocks == NULL
                     ? NULL
                     : options->blocks(options->blocks_context, app_shown(app)->pid,
                                       &now_ns);
        app->blocks_known = blocks != NULL && blocks_take(&app->blocks, blocks, now_ns);
    }
    if (app->blocks_known)
        blocks_arrange(&app->blocks, &app->view.sort[PAGE_BLOCKS],
                       app->view.sizes_shown);
    app->scene.blocks = app->blocks_known ? &app->blocks : NULL;
}

void
app_prepare(struct app *app)
{
    struct scene *scene = &app->scene;
    const struct tracked *shown = session_shown(app->session);
    int64_t first, last;

    scene->interval_ns = app->interval_ns;
    scene->saved = session_saved(app->session) != NULL;
    scene->process = &shown->process;
    if (app->view.paused)
        scene->process = &app->frozen;
    scene->ended = scene->process->ended || scene->saved;
    if (!app->view.paused)
        scene->output_end = UINT64_MAX;
    else if (scene->output_end == UINT64_MAX)
        scene->output_end = frame_lines_printed(app);
    if (!history_span(shown->history, &first, &last))
        last = 0;
    if (app->view.history) {
        scene->process = &app->past;
        /* The graphs may have stopped before the end, when the cursor was set. */
        scene->ended = scene->ended && scene->shown_ns == last;
    } else if (!app->view.paused) {
        scene->shown_ns = last;
    }
    scene->mark = app->marked && app->mark.generation == scene->process->generations
                      ? &app->mark
                      : NULL;
    scene->history = shown->history;
    sites_prepare(app);
    scene->command = shown_command(app, shown);
    if (pages_def(app->view.page)->reads & PAGE_READS_BLOCKS)
        app_take_blocks(app);
    message_choose(app);
}

/* Says once that the window is too small for the histogram. */
static void
tell_dropped(struct app *app)
{
    if (app->told_dropped || !app->screen.layout.dropped_sizes
        || app->view.page != PAGE_OVERVIEW || app->ack_ns != 0)
        return;
    app->told_dropped = true;
    app_ack(app, "%s", _("Enlarge the window to see block sizes, or press 3"));
}

int64_t
frame_due(const struct app *app)
{
    return app->drawn_ns + (app->by_key ? KEY_FRAME_NS : FRAME_NS);
}

void
frame_draw(struct loop *loop)
{
    struct app *app = &loop->app;

    app_prepare(app);
    view_rescale(&app->view, &app->scene);
    view_draw(&app->screen, &app->view, &app->scene);
    term_show(&app->screen.canvas);
    if (app->options->plain)
        speak_news(loop);
    if (app->options->dump_screen != NULL)
        dump_screen(app->options->dump_screen, &app->screen.canvas);
    app->dirty = app->by_key = false;
    app->drawn_ns = app_now();
    tell_dropped(app);
}

/* The histogram and the RSS breakdown may not have been read for a while; the mark needs
   present values. */
void
frame_set_mark(struct loop *loop)
{
    struct app *app = &loop->app;

    if (!app->view.paused && !app->view.history) {
        sampling_take(loop, false);
        session_read_rss(app->session);
        session_read_profile(app->session);
        sampling_read_threads(app);
    }
    app->mark_asked = false;
    app_prepare(app);
    look_set_mark(app);
}

bool
frame_follow_size(struct app *app)
{
    int rows, cols;

    term_size(&rows, &cols);
    if (!picture_resize(&app->screen, app->options->plain ? PLAIN_ROWS : rows, cols)
        || !term_resize(rows, cols))
        return false;
    if (app->capture != NULL && app->launched != NULL && app->launched->pty >= 0)
        launch_resize(capture_fd(app->capture), rows, cols);
    app->dirty = app->by_key = true;
    return true;
}
