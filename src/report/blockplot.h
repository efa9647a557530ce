/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The article's figure: how many blocks of each size were live over time, as steps, a
 * line a size, with a legend.  Described here without pixels, as plot.h does it for a
 * run; drawn by the same module.
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

/* A pixel's width of time: the lowest and the highest count, the one it ends with. */
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
    char note[PLOT_TEXT_MAX];      /* in place of lines, or "" */
    char axis[PLOT_CELL_MAX];      /* what the upward axis counts */
    bool clock;                    /* the other one is time in ns, else events */
    uint64_t end;                  /* of it, in ns or events; > 0 */
    uint64_t highest;              /* count; > 0 */
    size_t columns;
    unsigned lines;
    struct blockplot_line line[BLOCKPLOT_LINES_MAX];
};

struct blockplot_options {
    const char *title;
    int width, height;             /* 0: the usual ones */
    unsigned counts;               /* so many sizes at most, those with most blocks */
    const char *module;            /* memtop-png.so; NULL if there is none */
};

/* Of the steps of a log.  NULL if memory is short; blockplot_free() it. */
struct blockplot *blockplot_new(const struct blocksizes *blocks,
                                const struct blocklog *log,
                                const struct blockplot_options *options);
void blockplot_free(struct blockplot *plot);

/* Draws it into a new file, as png_write(). */
bool blockplot_write(const struct blocksizes *blocks, const struct blocklog *log,
                     const struct blockplot_options *options, const char *path,
                     char *error, size_t size);

/* The module's symbol for it. */
#define BLOCKPLOT_SYMBOL "memtop_png_steps"
typedef bool blockplot_draw_function(const struct blockplot *plot, size_t plot_size,
                                     FILE *out, char *error, size_t size);
__attribute__((visibility("default"))) blockplot_draw_function memtop_png_steps;

#endif
