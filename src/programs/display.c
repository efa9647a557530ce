/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connects the display with the run.  Every byte that the program prints on the captured
 * terminal finally reaches the user's terminal, however the display ends.
 */
#include "config.h"

#include "programs/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "programs/names.h"
#include "programs/say.h"
#include "base/i18n.h"
#include "system/capture.h"
#include "system/library.h"
#include "monitor/saved.h"
#include "tui/app.h"

/* The size of the terminal the display will use. */
static void
terminal_size(int *rows, int *cols)
{
    struct winsize size = {0};
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

    if (terminal >= 0) {
        ioctl(terminal, TIOCGWINSZ, &size);
        close(terminal);
    }
    *rows = size.ws_row > 0 ? size.ws_row : 24;
    *cols = size.ws_col > 0 ? size.ws_col : 80;
}

/* The captured stream, to which the output is written later. */
static int
captured_stream(const struct launched *launched)
{
    if (launched->captured[STDOUT_FILENO])
        return STDOUT_FILENO;
    return launched->captured[STDERR_FILENO] ? STDERR_FILENO : STDIN_FILENO;
}

static void
look(void *context, bool asked)
{
    struct run *run = context;

    names_hold(run->session, session_root(run->session),
               run->options->sites.debuginfod);
    trigger_look(&run->trigger, asked);
}

/* Shows errors on the display while it is up. */
static void
show_said(void *session, const char *text)
{
    session_say(session, SEVERITY_ERROR, "%s", text);
}

static enum tui_outcome
show(struct run *run, struct capture *capture)
{
    const struct options *options = run->options;
    const struct saved *saved = session_saved(run->session);
    const bool runs = options->program != NULL || options->attach != NULL;
    const struct launched *launched = runs ? &run->launched : NULL;
    struct library_search module;
    bool found = library_find_module("memtop-png.so", &module);
    const struct tui_options display = {
        .interval_ns = options->interval_ns,
        .graph = options->graph,
        .on_quit = options->on_quit,
        .attached = options->attach != NULL,
        .colour = options_display_colour(options),
        .ascii = options->ascii,
        .plain = options->plain,
        .si = options->si,
        .debuginfod = options->sites.debuginfod,
        .sites = sites_choice(&options->sites),
        .png_module = found ? module.path : NULL,
        .background = run_has_work(run) ? run_work : NULL,
        .background_context = run,
        .sampled = look,
        .sampled_context = run,
        .blocks = run->record != NULL || run->read_blocks != NULL ? blocklive_of : NULL,
        .blocks_context = run,
        .mark = &run->mark,
        .dump_screen = options->dump_screen,
    };

    return tui_run(run->session, saved != NULL ? saved->capture : capture, launched,
                   &display);
}

/* Reads what the program printed last from the pty.  Limited, because other processes
   may go on printing there. */
static void
take_rest(struct capture *capture)
{
    for (int reads = 0; reads < 100 && capture_read(capture) == CAPTURE_MORE; reads++)
        ;
}

/* Writes the program's output after the display has ended. */
static void
give_output(struct run *run, struct capture *capture, bool leave)
{
    int stream = captured_stream(&run->launched);
    int error;

    error = capture_replay(capture, stream);
    if (error == 0 && leave)
        error = capture_leave(capture, stream);
    if (error != 0)
        say(_("cannot print the program's output: %s"), strerror(-error));
    capture_free(capture);
}

enum display_outcome
display_run(struct run *run, int *status)
{
    struct capture *capture = NULL;
    int rows, cols;

    terminal_size(&rows, &cols);
    *status = run_start(run, rows, cols);
    if (*status != 0)
        return DISPLAY_DONE;
    if (run->launched.pty >= 0)
        capture = capture_new(run->launched.pty);

    run->displayed = true;
    say_hold(show_said, run->session);
    enum tui_outcome outcome = show(run, capture);
    run->displayed = false;
    say_release();
    bool ended = session_process(run->session)->ended;
    if (capture != NULL)
        take_rest(capture);
    if (outcome == TUI_FAILED)
        say(_("the display could not start (%s); reporting at the end"), strerror(errno));
    else
        run_save(run, capture);
    if (capture != NULL)
        give_output(run, capture, !ended);
    if (outcome == TUI_FAILED)
        return DISPLAY_FAILED;
    run->looked = run->options->read != NULL;
    if (run->options->attach != NULL)
        /* The program was running before; there is nothing to report. */
        return DISPLAY_LEFT;
    if (ended || run->options->program == NULL)
        return DISPLAY_DONE;
    run_say_left(run);
    return DISPLAY_LEFT;
}
