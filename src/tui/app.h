/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The display: shows a session on the terminal until the user leaves.  It runs in one
 * thread around one poll(); it never samples while it draws.
 */
#ifndef MEMTOP_TUI_APP_H
#define MEMTOP_TUI_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/blocksizes.h"
#include "system/capture.h"
#include "system/launch.h"
#include "monitor/session.h"
#include "report/site-filter.h"

enum tui_graph {
    TUI_GRAPH_AUTO,
    TUI_GRAPH_BRAILLE,
    TUI_GRAPH_BLOCK,
    TUI_GRAPH_ASCII
};
enum tui_on_quit { TUI_ON_QUIT_ASK, TUI_ON_QUIT_KILL, TUI_ON_QUIT_LEAVE };

/* The mark the user has set, handed back when the display ends. */
struct tui_mark {
    bool set;
    struct process process;      /* its run_ns, generations, now, sizes and breakdown are
                                    those of the mark */
};

struct tui_options {
    int64_t interval_ns;         /* kept within 0.1 .. 60 s */
    enum tui_graph graph;
    enum tui_on_quit on_quit;    /* what q does while the program runs */
    bool attached;               /* the program was running before memtop came: quitting
                                    only leaves it */
    bool colour;
    bool ascii;                  /* draw with ASCII characters only */
    bool plain;                  /* print lines of text instead of drawing a screen
                                    (speak.c) */
    bool si;                     /* units are powers of 1000 */
    bool debuginfod;             /* may ask debuginfod servers for names of functions */
    /* What the page of allocation sites shows at first, or NULL. */
    const struct site_choice *sites;
    const char *png_module;      /* path of the PNG module (snapshot.h), or NULL */
    /* Work in the background, or NULL.  The loop calls it when it is due; it returns the
       longest time in ns until it must be called again. */
    int64_t (*background)(void *context);
    void *background_context;
    /* Called after each sample, which then includes the sizes, or NULL. asked: a signal
       that memtop has claimed (SIGNAL_CLAIMED) arrived. */
    void (*sampled)(void *context, bool asked);
    void *sampled_context;
    /* Returns the counts by exact block size of a process, NULL if there are none.
       Stores the time of the counts in *now_ns, 0 if that is the time of the last call;
       now_ns may be NULL.  The function may be NULL, too. */
    const struct blocksizes *(*blocks)(void *context, pid_t pid, uint64_t *now_ns);
    void *blocks_context;
    struct tui_mark *mark;       /* receives the root's mark when the display ends, or
                                    NULL */
    const char *dump_screen;     /* file that receives each screen as text, or NULL */
};

enum tui_outcome {
    TUI_ENDED,    /* the program has ended and the user is done */
    TUI_LEFT,     /* the user is done and wants the program to run on */
    TUI_HUNG_UP,  /* the terminal is gone, the program may run on */
    TUI_FAILED    /* the display could not start (errno says why); nothing was done */
};

/* Whether the display can be used on this terminal now.  If not, why holds a translated
   reason.  See term_usable(). */
bool tui_usable(bool plain, char *why, size_t size);

/*
 * Runs the display. capture is NULL if the output is not captured, launched is NULL for
 * a session without a process.  Call signals_open() before.  On return the terminal is
 * as it was.
 */
enum tui_outcome tui_run(struct session *session, struct capture *capture,
                         const struct launched *launched,
                         const struct tui_options *options);

#endif
