/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graphs as characters: filled areas in braille (two columns and four levels a cell),
 * blocks (eight levels) or ASCII (two levels), their scales and the positions of their
 * labels.  Uses neither the terminal nor allocation.
 */
#ifndef MEMTOP_TUI_GRAPH_H
#define MEMTOP_TUI_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "monitor/history.h"

enum graph_style { GRAPH_BRAILLE, GRAPH_BLOCK, GRAPH_ASCII, GRAPH_STYLES };

/* The range of the y axis: 0 to top; with log, top / 2^20 (decimal: top / 10^6) to
   top. */
struct graph_scale {
    uint64_t top;
    bool log;
    bool decimal;   /* round values are multiples of powers of 1000, else of 1024 */
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

/* How many history columns fit in cols cells. */
size_t graph_columns(enum graph_style style, int cols);

/*
 * The next top for a graph whose highest value is max.  It grows at once to a round
 * number (1, 2, 4, 5 or 8 times a power of ten, of each unit), and shrinks only when max
 * is below 40 % of it. before is the last top, 0 if there is none.
 */
uint64_t graph_top(uint64_t before, uint64_t max, bool decimal, bool log);

/*
 * Fills cells[rows * cols], row by row from the top.  A value above zero shows at least
 * one dot, zero shows none, and a gap (after the first known column) shows '?' on the
 * base line. count must be graph_columns(style, cols).
 */
void graph_plot(const struct column *columns, size_t count,
                const struct graph_scale *scale, enum graph_style style,
                int rows, int cols, wchar_t *cells);

/* The plot's row in which the area of a value ends, counted from the top; rows if
   nothing shows. */
int graph_row(uint64_t value, const struct graph_scale *scale, enum graph_style style,
              int rows);

/* Labels of the y axis, from the top; returns their number. */
int graph_labels(const struct graph_scale *scale, int rows,
                 struct graph_label labels[GRAPH_LABELS]);

/* Round times on the x axis, from the left, at least `spacing` columns apart; the last
   is the right edge.  Returns their number. */
int graph_ticks(int64_t window_ns, int cols, int spacing,
                struct graph_tick ticks[GRAPH_TICKS]);

/* graph_window() returns the shortest round window of at least ns; graph_window_step() a
   longer (steps > 0) or shorter one. */
int64_t graph_window(int64_t ns);
int64_t graph_window_step(int64_t window_ns, int steps);

#endif
