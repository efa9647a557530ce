/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The article's figure: the number of live blocks over time, as steps, one line per size,
 * with a legend.  It is described here without pixels, as plot.h does for a run, and
 * drawn by the same module.
 */
#ifndef MEMTOP_BLOCKPLOT_H
#define MEMTOP_BLOCKPLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "monitor/blocksizes.h"
#include "report/blocklog.h"
#include "report/plot.h"

#define BLOCKPLOT_LINES_MAX 12

/* The time of one pixel: the lowest, the highest and the final count. */
struct blockplot_column {
    uint64_t lowest, highest, last;
};

struct blockplot_line {
    char legend[PLOT_CELL_MAX];
    struct blockplot_column *columns; /* blockplot.columns of them */
};

struct blockplot {
    int width, height;
    char title[PLOT_TEXT_MAX];
    char subtitle[PLOT_TEXT_MAX];
    char note[PLOT_TEXT_MAX];      /* instead of lines, or "" */
    char axis[PLOT_CELL_MAX];      /* what the vertical axis counts */
    bool clock;                    /* horizontal axis: time in ns, otherwise events */
    uint64_t end;                  /* of that axis, in ns or events; > 0 */
    uint64_t highest;              /* count; > 0 */
    size_t columns;
    unsigned lines;
    struct blockplot_line line[BLOCKPLOT_LINES_MAX];
};

struct blockplot_options {
    const char *title;
    int width, height;             /* 0: the default size */
    unsigned counts;               /* at most this many sizes, those with most blocks */
    const char *module;            /* memtop-png.so; NULL if there is none */
};

/* Made from the steps of a log.  Returns NULL if memory is short; free with
   blockplot_free(). */
struct blockplot *blockplot_new(const struct blocksizes *blocks,
                                const struct blocklog *log,
                                const struct blockplot_options *options);
void blockplot_free(struct blockplot *plot);

/* Draws it into a new file, like png_write(). */
bool blockplot_write(const struct blocksizes *blocks, const struct blocklog *log,
                     const struct blockplot_options *options, const char *path,
                     char *error, size_t size);

/* The module's symbol for this. */
#define BLOCKPLOT_SYMBOL "memtop_png_steps"
typedef bool blockplot_draw_function(const struct blockplot *plot, size_t plot_size,
                                     FILE *out, char *error, size_t size);
__attribute__((visibility("default"))) blockplot_draw_function memtop_png_steps;

#endif
