/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the display's loop: app.c waits and acts on what comes, sampling.c
   reads the program, frame.c draws.  What keys and views see is struct app. */
#ifndef MEMTOP_TUI_LOOP_H
#define MEMTOP_TUI_LOOP_H

#include <poll.h>

#include "tui/state.h"

#define EARLY_SAMPLES 10   /* come fast, however long the interval */

enum source {
    SOURCE_TERMINAL,
    SOURCE_SIGNALS,
    SOURCE_PROGRAM,
    SOURCE_OUTPUT,
    SOURCE_TIMER,
    SOURCE_NAMES,
    SOURCE_COUNT
};

/* What was said last, of a plain terminal. */
struct speech {
    enum page page;
    int scroll, help;
    bool begun, interacting;
    enum process_state state;
    uint64_t heap;
    int64_t when_ns;
    int64_t past_ns;    /* of the moment in the history */
    char said[300];
};

struct loop {
    struct app app;
    struct speech speech;
    struct pollfd sources[SOURCE_COUNT];
    bool resized;
    unsigned samples;
    int64_t test_clock;     /* MEMTOP_TEST_CLOCK, < 0 none; then no timer samples */
    int64_t own_ns;         /* when own cost was last measured */
    int64_t own_cpu_ns;
};

/* Reads the program, unless it has ended; with_sizes: its histogram, too. */
void sampling_take(struct loop *loop, bool with_sizes);

/* Reads the threads of the present into the scene. */
void sampling_read_threads(struct app *app);

/* Sets the timer by the interval. */
void sampling_set_timer(struct loop *loop);

/* Lines the program has ever printed. */
uint64_t frame_lines_printed(const struct app *app);

/* When the next picture may be drawn: not too soon after the last one. */
int64_t frame_due(const struct app *app);

/* Draws the picture and shows it. */
void frame_draw(struct loop *loop);

/* Says in lines what is new, on a plain terminal (speak.c). */
void speak_news(struct loop *loop);

/* Sets the mark at what is shown. */
void frame_set_mark(struct loop *loop);

/* Takes on the terminal's size, and gives it to the program's.  False if memory is
   short. */
bool frame_follow_size(struct app *app);

#endif
