/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lays a plot out.  What does not fit is left out whole, in this order: block sizes and
 * table, legend, subtitle, axis labels.  The two axes of bytes share their grid lines, so
 * the right one gets as many steps as the left.
 */
#include "config.h"

#include "report/plot-layout.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"

/* Sizes in pixels at the default plot size. */
#define MARGIN      12
#define TEXT_HEIGHT 16
#define GRID_ROW    11 / 4   /* text lines that a grid line needs */
#define PEAK_MIN_WIDTH 200   /* a chart this wide labels its peak */
#define PANEL_GAP   22
#define CHART_MIN   40
/* From these sizes on there is space for the table and the block sizes. */
#define BELOW_MIN_WIDTH   600
#define BELOW_MIN_HEIGHT  480
#define BESIDE_MIN_WIDTH  900
#define BESIDE_MIN_HEIGHT 320
#define BESIDE_WIDTH      300

static const double mantissas[] = {1, 2, 4, 5, 8};

/* Chooses the unit in which a value of that size is written. */
static void
choose_unit(struct plot_scale *scale, double highest, enum unit unit)
{
    double base = unit & UNIT_SI ? 1000 : 1024;

    scale->unit_bytes = 1;
    scale->unit_step = 0;
    while (highest >= scale->unit_bytes * base && scale->unit_step < 6) {
        scale->unit_bytes *= base;
        scale->unit_step++;
    }
}

/* Chooses the next round step: number counts them from 1 in the unit, for units above
   bytes from 0.01. */
static void
choose_step(struct plot_scale *scale, unsigned number)
{
    int decimals = scale->unit_step > 0 ? 2 : 0;
    double step = mantissas[number % 5];

    for (int i = 0; i < decimals; i++)
        step /= 10;
    for (unsigned i = 0; i < number / 5; i++, decimals--)
        step *= 10;
    scale->step = step * scale->unit_bytes;
    scale->decimals = decimals > 0 ? decimals : 0;
}

static unsigned
intervals_for(double highest, double step)
{
    double intervals = highest / step;
    unsigned whole = intervals < 1e6 ? (unsigned)intervals : 1000000;

    return whole < intervals || whole == 0 ? whole + 1 : whole;
}

struct plot_scale
plot_scale_new(double highest, unsigned most, enum unit unit)
{
    struct plot_scale scale = {0};

    choose_unit(&scale, highest, unit);
    for (unsigned i = 0; i < 50; i++) {
        choose_step(&scale, i);
        scale.intervals = intervals_for(highest, scale.step);
        if (scale.intervals <= most)
            break;
    }
    return scale;
}

struct plot_scale
plot_scale_match(double highest, unsigned intervals, enum unit unit)
{
    struct plot_scale scale = plot_scale_new(highest, intervals, unit);

    scale.intervals = intervals;
    return scale;
}

double
plot_scale_top(const struct plot_scale *scale)
{
    return scale->step * scale->intervals;
}

int64_t
plot_time_step(int64_t span_ns, unsigned most)
{
    static const int64_t seconds[] = {1,    2,    5,     10,    15,    20,    30,    60,
                                      120,  300,  600,   900,   1200,  1800,  3600,  7200,
                                      10800, 14400, 21600, 28800, 43200, 86400};
    const int64_t second = 1000000000, day = 86400 * second;

    if (most == 0)
        most = 1;
    for (int64_t unit = 1000; unit < second; unit *= 10)
        for (int64_t i = 1; i <= 5; i += 1 + (i > 1) * 2)
            if (span_ns / (i * unit) < most)
                return i * unit;
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++)
        if (span_ns / (seconds[i] * second) < most)
            return seconds[i] * second;
    for (int64_t unit = day;; unit *= 10)
        for (int64_t i = 1; i <= 5; i += 1 + (i > 1) * 2)
            if (unit > INT64_MAX / 50 || span_ns / (i * unit) < most)
                return i * unit;
}

/* Fonts grow with the plot, but more slowly. */
static void
choose_heights(const struct plot *plot, struct plot_layout *out)
{
    int scale = plot->width / 8 < plot->height / 6 ? plot->width / 8 : plot->height / 6;
    int percent = scale >= 100 ? 100 + (scale - 100) / 2
                  : scale < 50 ? 75
                               : 100 - (100 - scale) / 3;

    out->text = TEXT_HEIGHT * percent / 100;
    out->title = out->text * 4 / 3;
    out->small = out->text * 7 / 8;
}

static void
place_head(const struct plot *plot, struct plot_layout *out)
{
    int room = plot->height;

    out->head = (struct plot_box){MARGIN, MARGIN * 2 / 3, plot->width - 2 * MARGIN, 0};
    if (room >= 120)
        out->head.height += out->title + 4;
    out->has_subtitle = room >= 240;
    if (out->has_subtitle)
        out->head.height += out->text + 2;
    out->has_legend = room >= 180;
    if (out->has_legend)
        out->head.height += out->text + 6;
}

/* The rows of the block sizes are most of a panel's height. */
static int
panel_height(const struct plot_layout *layout)
{
    return (RANGE_COUNT + 1) * layout->text;
}

/* Moves the rows of the block sizes closer together while they stay readable; then empty
   ones are left out. */
static void
fit_ranges(const struct plot *plot, struct plot_layout *out)
{
    int rows = RANGE_COUNT;
    int least = out->small;

    out->ranges_line = out->text;
    out->ranges_tight = out->ranges.height < (rows + 1) * least;
    if (out->ranges_tight)
        for (unsigned i = 0; i < RANGE_COUNT; i++)
            rows -= plot->ranges[i].allocated == 0 && plot->ranges[i].live == 0;
    if (out->ranges.height < (rows + 1) * out->text)
        out->ranges_line = out->ranges.height / (rows + 1);
    if (out->ranges_line < least * 4 / 5)
        out->ranges_line = least * 4 / 5;
}

static void
place_panels(const struct plot *plot, struct plot_layout *out, struct plot_box *rest)
{
    int height = panel_height(out);
    int facts = (int)(plot->row_count + plot->fact_count + 1) * out->text;

    if (plot->row_count == 0)
        return;
    if (plot->width >= BELOW_MIN_WIDTH && plot->height >= BELOW_MIN_HEIGHT
        && rest->height >= 2 * height) {
        int half = (rest->width - 2 * PANEL_GAP) / 2;
        int top = rest->y + rest->height - height;

        out->table = (struct plot_box){rest->x, top, half, height};
        out->ranges =
            (struct plot_box){rest->x + half + 2 * PANEL_GAP, top, half, height};
        rest->height -= height + PANEL_GAP;
    } else if (plot->width >= BESIDE_MIN_WIDTH && plot->height >= BESIDE_MIN_HEIGHT) {
        int width = BESIDE_WIDTH * out->text / TEXT_HEIGHT;
        int left = rest->x + rest->width - width;
        int table = facts < rest->height / 2 ? facts : rest->height / 2;

        out->table = (struct plot_box){left, rest->y, width, table};
        out->ranges = (struct plot_box){left, rest->y + table + out->text / 2, width,
                                        rest->height - table - out->text / 2};
        rest->width -= width + PANEL_GAP;
    }
    fit_ranges(plot, out);
}

/* The highest value of the left axis; above the heap's own peak there is space for its
   label. */
static double
highest_left(const struct plot *plot, double headroom)
{
    const struct plot_series *rss = &plot->series[PLOT_RSS];
    const struct plot_series *total = &plot->series[PLOT_TOTAL];
    double highest = (double)plot->series[PLOT_HEAP].highest * headroom;

    if (rss->drawn && !rss->off_scale && (double)rss->highest * 1.01 > highest)
        highest = (double)rss->highest * 1.01;
    if (total->drawn && (double)total->highest * 1.01 > highest)
        highest = (double)total->highest * 1.01;
    return highest;
}

static void
label_scale(const struct plot_scale *scale, struct plot_tick *ticks, enum unit unit)
{
    for (unsigned i = 0; i <= scale->intervals; i++)
        units_tick(ticks[i].label, sizeof ticks[i].label,
                   scale->step / scale->unit_bytes * i, scale->unit_step, scale->decimals,
                   unit);
}

static int
widest(const struct plot_ruler *ruler, const struct plot_tick *ticks, unsigned count,
       int height)
{
    int width = 0;

    for (unsigned i = 0; i < count; i++) {
        int one = ruler->width(ruler->context, ticks[i].label, height);

        if (one > width)
            width = one;
    }
    return width;
}

/* Chooses the scales for a chart of that height. */
static void
choose_scales(const struct plot *plot, struct plot_layout *out, int height)
{
    unsigned most = (unsigned)(height / (out->text * GRID_ROW));
    double headroom = plot->width > PEAK_MIN_WIDTH ? 1 + 1.4 * out->text / height : 1.01;

    if (most < 1)
        most = 1;
    if (most > 10)
        most = 10;
    out->left = plot_scale_new(highest_left(plot, headroom), most, plot->unit);
    /* Kept low, so that it crosses the heap's line less. */
    out->right = plot_scale_match((double)plot->series[PLOT_STACK].highest * 1.5,
                                  out->left.intervals, plot->unit);
    if (plot->series[PLOT_TOTAL].drawn) /* parts of a sum must be comparable */
        out->right = out->left;
    out->y_count = out->left.intervals + 1;
    label_scale(&out->left, out->y, plot->unit);
    label_scale(&out->right, out->y_right, plot->unit);
}

static void
place_chart(const struct plot *plot, const struct plot_ruler *ruler,
            struct plot_layout *out, struct plot_box rest)
{
    int below = out->small + 8;
    int left, right;

    rest.y += out->text / 2;
    rest.height -= out->text / 2 + below;
    if (rest.height < CHART_MIN) {
        rest.height += below;
        below = 0;
    }
    choose_scales(plot, out, rest.height);
    left = widest(ruler, out->y, out->y_count, out->small) + 8;
    right = plot->series[PLOT_STACK].drawn
                ? widest(ruler, out->y_right, out->y_count, out->small) + 8
                : out->text;
    if (rest.width - left - right < rest.width / 2) {
        out->y_count = 0;
        left = right = 0;
    }
    out->chart = (struct plot_box){rest.x + left, rest.y, rest.width - left - right,
                                   rest.height};
    for (unsigned i = 0; i < out->y_count; i++)
        out->y_right[i].at = out->y[i].at
            = rest.y + rest.height - (int)(rest.height * i / out->left.intervals);
    out->x_count = below > 0 ? 1 : 0;
}

/* The distance between two labels of the horizontal axis. */
static int64_t
axis_step(const struct plot *plot, unsigned most)
{
    int64_t span = plot->to - plot->from;

    if (plot->axis == PLOT_AXIS_TIME)
        return plot_time_step(span, most);
    if (plot->axis == PLOT_AXIS_SHARE)
        return span >= 10 ? span / (most >= 10 ? 10 : most >= 5 ? 5 : 2) : span;
    for (int64_t unit = 1;; unit *= 10)
        for (int64_t i = 1; i <= 5; i += 1 + (i > 1) * 2)
            if (unit > INT64_MAX / 50 || span / (i * unit) < most)
                return i * unit;
}

static void
label_axis(const struct plot *plot, struct plot_tick *tick, int64_t at, int64_t step)
{
    int64_t span = plot->to - plot->from;
    double share = (double)at / (double)span;
    char count[UNITS_MAX];

    if (plot->axis == PLOT_AXIS_TIME)
        units_time_tick(tick->label, sizeof tick->label, at, step, span);
    else if (plot->axis == PLOT_AXIS_SHARE)
        snprintf(tick->label, sizeof tick->label, at > 0 ? "%d%%" : _("%d%% of the time"),
                 (int)(share * 100 + 0.5));
    else if (at > 0)
        units_count_compact(tick->label, sizeof tick->label, (uint64_t)at);
    else
        /* TRANSLATORS: at the origin of an axis: 0 calls. */
        snprintf(tick->label, sizeof tick->label, ngettext("%s call", "%s calls", 0),
                 units_count_compact(count, sizeof count, 0));
}

static void
place_times(const struct plot *plot, const struct plot_ruler *ruler,
            struct plot_layout *out)
{
    int64_t span = plot->to - plot->from;
    int width = ruler->width(ruler->context, "-00h00m", out->small) + out->small;
    unsigned most = (unsigned)(out->chart.width / width);
    int64_t step;

    if (out->x_count == 0)
        return;
    if (most > PLOT_TICKS_MAX - 1)
        most = PLOT_TICKS_MAX - 1;
    step = axis_step(plot, most);
    out->x_count = 0;
    for (int64_t at = 0; at <= span && out->x_count < PLOT_TICKS_MAX; at += step) {
        struct plot_tick *tick = &out->x[out->x_count++];

        tick->at = (int)plot_x(plot, out, plot->from + at);
        label_axis(plot, tick, at, step);
    }
}

void
plot_layout_new(const struct plot *plot, const struct plot_ruler *ruler,
                struct plot_layout *out)
{
    struct plot_box rest;

    memset(out, 0, sizeof *out);
    choose_heights(plot, out);
    place_head(plot, out);
    rest = (struct plot_box){MARGIN, out->head.y + out->head.height,
                             plot->width - 2 * MARGIN, 0};
    rest.height = plot->height - rest.y - MARGIN * 2 / 3;
    place_panels(plot, out, &rest);
    place_chart(plot, ruler, out, rest);
    place_times(plot, ruler, out);
}

double
plot_y(const struct plot_layout *layout, const struct plot_scale *scale, uint64_t value)
{
    double part = (double)value / plot_scale_top(scale);

    return layout->chart.y + layout->chart.height * (1 - (part < 1 ? part : 1));
}

double
plot_x(const struct plot *plot, const struct plot_layout *layout, int64_t at)
{
    double part = (double)(at - plot->from) / (double)(plot->to - plot->from);

    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return layout->chart.x + part * layout->chart.width;
}

struct column
plot_pixel(const struct plot *plot, const struct plot_layout *layout, enum plot_line line,
           int x)
{
    const struct column *columns = plot->series[line].columns;
    size_t width = (size_t)layout->chart.width;
    size_t first = (size_t)x * plot->columns / width;
    size_t end = ((size_t)x + 1) * plot->columns / width;
    struct column pixel = {.known = false};

    if (columns == NULL)
        return pixel;
    pixel = columns[first];
    for (size_t i = first + 1; i < end && i < plot->columns; i++) {
        if (columns[i].known && (!pixel.known || columns[i].max > pixel.max))
            pixel.max = columns[i].max;
        if (columns[i].known)
            pixel.last = columns[i].last;
        pixel.known |= columns[i].known;
    }
    return pixel;
}
