/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the blocks of the display are placed.  A pure function of the screen's size and
 * of what there is to show.  Every size works: the smaller the screen, the fewer blocks
 * appear, the least important go first.  Blocks lie inside the screen, never overlap,
 * and never contain the last cell of the last line (writing it scrolls some terminals).
 */
#ifndef MEMTOP_TUI_LAYOUT_H
#define MEMTOP_TUI_LAYOUT_H

#include <stdbool.h>

enum block {
    BLOCK_HEADER,  /* program, pid, state, time: one row */
    BLOCK_GAUGE,   /* heap against its peak: one row */
    BLOCK_TOTALS,  /* the other figures: one row */
    BLOCK_BRIEF,   /* heap, peak and state as text, instead of the three above */
    BLOCK_HEAP,    /* graph */
    BLOCK_STACK,   /* graph, or a sparkline if one row high */
    BLOCK_RATE,    /* graph of calls per second */
    BLOCK_CALLS,   /* table */
    BLOCK_SIZES,   /* histogram */
    BLOCK_OUTPUT,  /* last lines the program printed */
    BLOCK_BODY,    /* content of every page but the overview */
    BLOCK_MESSAGE, /* one row */
    BLOCK_FOOTER,  /* keys: one row */
    BLOCK_COUNT
};

struct rect {
    int row, col;
    int rows, cols;   /* both > 0, or both 0 if the block is not shown */
};

struct content {
    int call_rows;    /* rows of the call table, without title and headings */
    int size_rows;    /* rows that the histogram would use, without title */
    bool counters;    /* the program is measured, so there are tables */
    bool output;      /* the program's output is captured */
    bool prompt;      /* the message line asks a question and must be visible */
};

struct layout {
    struct rect block[BLOCK_COUNT];
    bool side_by_side;  /* the histogram is to the right of the call table */
    bool dropped_sizes; /* there is no room for the histogram */
};

/* Places the blocks of the overview. rows and cols may be anything; below 1 nothing is
   shown. */
void layout_overview(int rows, int cols, const struct content *content,
                     struct layout *layout);

/* Places the blocks of every other page: header, body, message, footer. */
void layout_page(int rows, int cols, const struct content *content,
                 struct layout *layout);

#endif
