/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graphs as characters: filled areas in braille (two columns and four levels a
 * cell), blocks (eight levels) or ASCII (two levels), their scales and the
 * places of the labels.  Pure: no terminal, no allocation.
 */
#ifndef MEMTOP_TUI_GRAPH_H
#define MEMTOP_TUI_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "monitor/history.h"

enum graph_style { GRAPH_BRAILLE, GRAPH_BLOCK, GRAPH_ASCII, GRAPH_STYLES };

/* Values from 0 to top; log: from top / 2^20 (decimal: 10^6) to top. */
struct graph_scale {
    uint64_t top;
    bool log;
    bool decimal;   /* round in powers of 1000, else of 1024 */
};

#define GRAPH_LABELS 5
#define GRAPH_TICKS  24

struct graph_label {
    int row;        /* from the top of the plot */
    uint64_t value;
};

struct graph_tick {
    int col;
    int64_t ago_ns; /* before the right edge */
};

/* History columns in so many cells. */
size_t graph_columns(enum graph_style style, int cols);

/*
 * The next top for a graph whose highest value is max: grows at once to a round
 * number (1, 2, 4, 5 or 8 times a power of ten, of each unit), shrinks only when
 * max is below 40 % of it.  before 0: none yet.
 */
uint64_t graph_top(uint64_t before, uint64_t max, bool decimal, bool log);

/*
 * Fills cells[rows * cols], row by row from the top.  A value above zero shows
 * at least one dot, zero shows none, a gap (after the first known column)
 * shows '?' on the base line.  count must be graph_columns(style, cols).
 */
void graph_plot(const struct column *columns, size_t count,
                const struct graph_scale *scale, enum graph_style style,
                int rows, int cols, wchar_t *cells);

/* Row of the plot in which a value ends, counted from the top; rows if it
   shows nothing. */
int graph_row(uint64_t value, const struct graph_scale *scale, enum graph_style style,
              int rows);

/* Labels of the y axis, from the top; returns how many. */
int graph_labels(const struct graph_scale *scale, int rows,
                 struct graph_label labels[GRAPH_LABELS]);

/* Round moments on the time axis, from the left, spaced cols apart at least;
   the last is the right edge.  Returns how many. */
int graph_ticks(int64_t window_ns, int cols, int spacing,
                struct graph_tick ticks[GRAPH_TICKS]);

/* The shortest round window of at least ns; the next longer (steps > 0) or
   shorter one. */
int64_t graph_window(int64_t ns);
int64_t graph_window_step(int64_t window_ns, int steps);

#endif
