/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the display's loop: app.c waits and reacts to events, sampling.c reads
   the program, frame.c draws.  Keys and pages see only struct app. */
#ifndef MEMTOP_TUI_LOOP_H
#define MEMTOP_TUI_LOOP_H

#include <poll.h>

#include "tui/state.h"

#define EARLY_SAMPLES 10   /* the first samples, taken fast whatever the interval is */

enum source {
    SOURCE_TERMINAL,
    SOURCE_SIGNALS,
    SOURCE_PROGRAM,
    SOURCE_OUTPUT,
    SOURCE_TIMER,
    SOURCE_NAMES,
    SOURCE_COUNT
};

/* What was last printed on a plain terminal. */
struct speech {
    enum page page;
    int scroll, help;
    bool begun, interacting;
    enum process_state state;
    uint64_t heap;
    int64_t when_ns;
    int64_t past_ns;    /* run time of the moment in the history */
    char said[300];
};

struct loop {
    struct app app;
    struct speech speech;
    struct pollfd sources[SOURCE_COUNT];
    bool resized;
    unsigned samples;
    int64_t test_clock;     /* MEMTOP_TEST_CLOCK; < 0: not set.  With it the timer takes
                               no samples */
    int64_t own_ns;         /* when memtop's own cost was last measured */
    int64_t own_cpu_ns;
};

/* Reads the program, unless it has ended. with_sizes: reads its histogram, too. */
void sampling_take(struct loop *loop, bool with_sizes);

/* Reads the current threads into the scene. */
void sampling_read_threads(struct app *app);

/* Starts the sampling timer with the current interval. */
void sampling_set_timer(struct loop *loop);

/* Number of lines the program has printed so far. */
uint64_t frame_lines_printed(const struct app *app);

/* When the screen may be drawn next: not too soon after the last time.  CLOCK_MONOTONIC,
   ns. */
int64_t frame_due(const struct app *app);

/* Draws the screen and shows it. */
void frame_draw(struct loop *loop);

/* Prints what is new in lines, on a plain terminal (speak.c). */
void speak_news(struct loop *loop);

/* Sets the mark at the moment that is shown. */
void frame_set_mark(struct loop *loop);

/* Adopts the terminal's size, and passes it on to the program's terminal.  Returns false
   if memory is short. */
bool frame_follow_size(struct app *app);

#endif
