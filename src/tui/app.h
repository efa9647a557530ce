/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The display: shows a session on the terminal until the user leaves.  One
 * thread, one poll(); sampling and drawing never meet.
 */
#ifndef MEMTOP_TUI_APP_H
#define MEMTOP_TUI_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/blocksizes.h"
#include "system/capture.h"
#include "system/launch.h"
#include "monitor/session.h"
#include "report/site-choice.h"

enum tui_graph {
    TUI_GRAPH_AUTO,
    TUI_GRAPH_BRAILLE,
    TUI_GRAPH_BLOCK,
    TUI_GRAPH_ASCII
};
enum tui_on_quit { TUI_ON_QUIT_ASK, TUI_ON_QUIT_KILL, TUI_ON_QUIT_LEAVE };

/* What the user has marked. */
struct tui_mark {
    bool set;
    struct process process;      /* time, generation, counters, sizes, bands */
};

struct tui_options {
    int64_t interval_ns;         /* kept within 0.1 .. 60 s */
    enum tui_graph graph;
    enum tui_on_quit on_quit;    /* what q does while the program runs */
    bool attached;               /* the program runs on its own: nothing but leaving */
    bool colour;
    bool ascii;                  /* no Unicode drawing characters */
    bool plain;                  /* lines of text instead of a picture (speak.c) */
    bool si;                     /* powers of 1000 */
    bool debuginfod;             /* names of functions may be asked of servers */
    const struct site_choice *sites; /* what the page of sites shows at first, or NULL */
    const char *png_module;      /* see snapshot.h, NULL if there is none */
    /* Called between everything else, or NULL; returns in how many ns at the
       latest it is to be called again. */
    int64_t (*background)(void *context);
    void *background_context;
    /* Called after each sample, which then has the sizes, or NULL; asked: a
       signal came that is memtop's own. */
    void (*sampled)(void *context, bool asked);
    void *sampled_context;
    /* What is counted of a process by exact block size, NULL if nothing is; *now_ns,
       unless NULL, is what time it is in that, 0 if the last call's. Or NULL. */
    const struct blocksizes *(*blocks)(void *context, pid_t pid, uint64_t *now_ns);
    void *blocks_context;
    struct tui_mark *mark;       /* gets the root's when the display ends, or NULL */
    const char *dump_screen;     /* file that gets each screen as text, or NULL */
};

enum tui_outcome {
    TUI_ENDED,    /* the program has ended and the user is done */
    TUI_LEFT,     /* the user is done, the program runs on and shall do so */
    TUI_HUNG_UP,  /* the terminal is gone, the program may run on */
    TUI_FAILED    /* the display could not start (errno says why); nothing was done */
};

/* Whether the display can be used here and now (see term.h). */
bool tui_usable(bool plain, char *why, size_t size);

/*
 * Runs the display.  capture is NULL if the output is not captured, launched
 * NULL for a session without a process.  signals_open() must have been called.
 * When it returns the terminal is as it was.
 */
enum tui_outcome tui_run(struct session *session, struct capture *capture,
                         const struct launched *launched,
                         const struct tui_options *options);

#endif
