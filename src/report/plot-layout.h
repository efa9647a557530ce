/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The positions of everything in a plot: scales, ticks, boxes and coordinates in pixels
 * from the top left.  Pure: asks its caller how wide a text is.
 */
#ifndef MEMTOP_PLOT_LAYOUT_H
#define MEMTOP_PLOT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "report/plot.h"

/* Returns the width of text in pixels at that line height, also in pixels. */
struct plot_ruler {
    int (*width)(void *context, const char *text, int height);
    void *context;
};

/* An axis of bytes, from 0 to intervals * step; step is round in its unit. */
struct plot_scale {
    double step;         /* bytes */
    unsigned intervals;  /* at least 1 */
    double unit_bytes;   /* bytes of the labels' unit */
    unsigned unit_step;  /* for units_tick() */
    int decimals;
};

#define PLOT_TICKS_MAX 32

struct plot_tick {
    int at;              /* x or y */
    char label[UNITS_MAX];
};

struct plot_box {
    int x, y, width, height;   /* width 0: absent */
};

struct plot_layout {
    int text, title, small;    /* line heights in pixels */
    struct plot_box head;      /* title, subtitle, legend, from its top */
    bool has_subtitle, has_legend;
    struct plot_box chart;
    struct plot_box table;
    struct plot_box ranges;
    int ranges_line;           /* height of its rows */
    bool ranges_tight;         /* no space for empty ranges */
    struct plot_scale left, right;
    unsigned y_count, x_count;
    struct plot_tick y[PLOT_TICKS_MAX];        /* left labels */
    struct plot_tick y_right[PLOT_TICKS_MAX];  /* at the same positions */
    struct plot_tick x[PLOT_TICKS_MAX];
};

/* The finest scale for highest with at most that many intervals, whose steps are 1, 2, 4,
   5, 8 times a power of ten of the unit. */
struct plot_scale plot_scale_new(double highest, unsigned most, enum unit unit);

/* The finest scale with exactly that many intervals. */
struct plot_scale plot_scale_match(double highest, unsigned intervals, enum unit unit);

double plot_scale_top(const struct plot_scale *scale);

/* A round time that fits at most `most` times into span. */
int64_t plot_time_step(int64_t span_ns, unsigned most);

void plot_layout_new(const struct plot *plot, const struct plot_ruler *ruler,
                     struct plot_layout *out);

/* Coordinates in the chart, in fractions of pixels. */
double plot_y(const struct plot_layout *layout, const struct plot_scale *scale,
              uint64_t value);
double plot_x(const struct plot *plot, const struct plot_layout *layout, int64_t at);

/* The value of a series at pixel x of 0..chart.width-1: the highest of all columns that
   fall there. */
struct column plot_pixel(const struct plot *plot, const struct plot_layout *layout,
                         enum plot_line line, int x);

#endif
