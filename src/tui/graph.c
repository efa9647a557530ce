/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graphs as characters.
 *
 * A value becomes a height in levels (rows times levels a row); each cell shows the part
 * of that height within its row.  Heights are rounded to the nearest level, but a value
 * above zero fills at least one.  This module knows nothing of curses or of colours.
 */
#include "config.h"

#include "tui/graph.h"

#include <math.h>

#define LOG_RANGE_BINARY  1048576.0
#define LOG_RANGE_DECIMAL 1000000.0
#define SHRINK_PERCENT    40

#define MS INT64_C(1000000)

/* Round lengths of time, in ms. */
static const int64_t round_ms[] = {
    10, 20, 50, 100, 200, 500,
    1000, 2000, 5000, 10000, 15000, 30000,
    60000, 120000, 300000, 600000, 900000, 1800000,
    3600000, 7200000, 14400000, 28800000, 43200000,
    86400000, 172800000, 432000000, 864000000, 1728000000, 4320000000,
    8640000000, 17280000000, 34560000000,
};
#define ROUND_COUNT ((int)(sizeof round_ms / sizeof round_ms[0]))

static const struct {
    int levels;   /* in a row */
    int columns;  /* in a cell */
} styles[GRAPH_STYLES] = {
    [GRAPH_BRAILLE] = { 4, 2 },
    [GRAPH_BLOCK] = { 8, 1 },
    [GRAPH_ASCII] = { 2, 1 },
};

size_t
graph_columns(enum graph_style style, int cols)
{
    return cols > 0 ? (size_t)cols * (size_t)styles[style].columns : 0;
}

static uint64_t
round_up(uint64_t max, bool decimal, bool log)
{
    static const unsigned linear[] = { 1, 2, 4, 5, 8 };
    static const unsigned binary[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
    uint64_t base = decimal ? 1000 : 1024;

    for (uint64_t unit = 1;; unit *= base) {
        if (log && !decimal) {
            for (unsigned i = 0; i < sizeof binary / sizeof binary[0]; i++)
                if (binary[i] * unit >= max)
                    return binary[i] * unit;
        } else {
            for (unsigned ten = 1; ten <= 100; ten *= 10)
                for (unsigned i = 0; i < sizeof linear / sizeof linear[0]; i++)
                    if (linear[i] * ten * unit >= max)
                        return linear[i] * ten * unit;
        }
        if (unit > UINT64_MAX / base / 1000)
            return UINT64_MAX;
    }
}

uint64_t
graph_top(uint64_t before, uint64_t max, bool decimal, bool log)
{
    /* Large enough that the labels below the top have different values. */
    if (max < GRAPH_LABELS - 1)
        max = GRAPH_LABELS - 1;
    if (before >= max && (double)max * 100 >= (double)before * SHRINK_PERCENT)
        return before;
    return round_up(max, decimal, log);
}

static double
log_range(const struct graph_scale *scale)
{
    return scale->decimal ? LOG_RANGE_DECIMAL : LOG_RANGE_BINARY;
}

/* Height in 0..levels. */
static int
height(uint64_t value, const struct graph_scale *scale, int levels)
{
    double part;
    int result;

    if (value == 0)
        return 0;
    if (value >= scale->top)
        return levels;
    part = (double)value / (double)scale->top;
    if (scale->log)
        part = 1 + log(part) / log(log_range(scale));
    result = part > 0 ? (int)(part * levels + 0.5) : 0;
    return result < 1 ? 1 : result;
}

/* The part of a height that lies in one row, 0..levels. */
static int
part_in_row(int whole, int row_from_bottom, int levels)
{
    int part = whole - row_from_bottom * levels;

    return part < 0 ? 0 : part > levels ? levels : part;
}

static wchar_t
cell(enum graph_style style, int left, int right)
{
    static const unsigned char dots_left[] = { 0, 0x40, 0x44, 0x46, 0x47 };
    static const unsigned char dots_right[] = { 0, 0x80, 0xa0, 0xb0, 0xb8 };

    if (left == 0 && right == 0)
        return L' ';
    switch (style) {
    case GRAPH_BRAILLE:
        return (wchar_t)(0x2800 + dots_left[left] + dots_right[right]);
    case GRAPH_BLOCK:
        return (wchar_t)(0x2580 + left);
    default:
        return left == 1 ? L'.' : L':';
    }
}

static bool
any_known(const struct column *columns, int count)
{
    for (int i = 0; i < count; i++)
        if (columns[i].known)
            return true;
    return false;
}

void
graph_plot(const struct column *columns, size_t count,
           const struct graph_scale *scale, enum graph_style style,
           int rows, int cols, wchar_t *cells)
{
    int levels = styles[style].levels;
    int each = styles[style].columns;
    bool begun = false;

    for (int col = 0; col < cols && (size_t)(col + 1) * (size_t)each <= count; col++) {
        const struct column *here = columns + (size_t)col * (size_t)each;
        bool known = any_known(here, each);
        int heights[2] = { 0, 0 };

        for (int i = 0; i < each; i++)
            if (here[i].known)
                heights[i] = height(here[i].max, scale, rows * levels);
        for (int row = 0; row < rows; row++) {
            int from_bottom = rows - 1 - row;

            cells[row * cols + col] =
                cell(style, part_in_row(heights[0], from_bottom, levels),
                     part_in_row(heights[1], from_bottom, levels));
        }
        begun = begun || known;
        if (begun && !known)
            cells[(rows - 1) * cols + col] = L'?';
    }
}

int
graph_row(uint64_t value, const struct graph_scale *scale, enum graph_style style,
          int rows)
{
    int levels = styles[style].levels;
    int whole = height(value, scale, rows * levels);

    return rows - (whole + levels - 1) / levels;
}

static uint64_t
label_value(const struct graph_scale *scale, int part, int parts)
{
    if (!scale->log)
        return (uint64_t)((double)scale->top * part / parts + 0.5);
    return (uint64_t)((double)scale->top
                          * pow(log_range(scale), (double)part / parts - 1)
                      + 0.5);
}

int
graph_labels(const struct graph_scale *scale, int rows,
             struct graph_label labels[GRAPH_LABELS])
{
    int parts = rows >= 12 && !(scale->log && scale->decimal) ? 4
                : rows >= 5                                   ? 2
                                                              : 1;
    int count = 0;

    if (rows < 1)
        return 0;
    for (int part = parts; part >= 0; part--) {
        if (rows == 1 && part < parts)
            break;
        labels[count].row = ((rows - 1) * (parts - part) + parts / 2) / parts;
        labels[count].value = label_value(scale, part, parts);
        count++;
    }
    return count;
}

int
graph_ticks(int64_t window_ns, int cols, int spacing,
            struct graph_tick ticks[GRAPH_TICKS])
{
    double per_col = cols > 0 ? (double)window_ns / cols : 0;
    int64_t step = 0;
    int count;

    if (window_ns <= 0 || cols <= 0)
        return 0;
    for (int i = 0; i < ROUND_COUNT && step == 0; i++)
        if ((double)(round_ms[i] * MS) >= per_col * spacing
            && window_ns / (round_ms[i] * MS) < GRAPH_TICKS)
            step = round_ms[i] * MS;
    count = step > 0 ? (int)(window_ns / step) + 1 : 1;
    for (int i = 0; i < count; i++) {
        int64_t ago = (int64_t)(count - 1 - i) * step;
        int col = cols - 1 - (int)((double)ago / per_col + 0.5);

        ticks[i] = (struct graph_tick){ col < 0 ? 0 : col, ago };
    }
    return count;
}

int64_t
graph_window(int64_t ns)
{
    for (int i = 0; i < ROUND_COUNT; i++)
        if (round_ms[i] * MS >= ns)
            return round_ms[i] * MS;
    return round_ms[ROUND_COUNT - 1] * MS;
}

int64_t
graph_window_step(int64_t window_ns, int steps)
{
    int i = 0;

    while (i < ROUND_COUNT - 1 && round_ms[i] * MS < window_ns)
        i++;
    if (round_ms[i] * MS > window_ns && steps > 0)
        /* Rounding up has made the first step already. */
        steps--;
    i += steps;
    i = i < 0 ? 0 : i >= ROUND_COUNT ? ROUND_COUNT - 1 : i;
    return round_ms[i] * MS;
}
