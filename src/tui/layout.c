/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layout of the display.
 *
 * Narrow screens (below 40 columns) get a few lines of text and a graph.  Up to 109
 * columns the blocks are stacked.  From 110x34 the histogram is to the right of the call
 * table, and the stack has its own graph; from 160x50 a third graph stands beside it.
 * In a stack every block gets its least height.  If they do not fit, blocks are dropped
 * one by one in the order of drop_order[]; left-over rows go to the graph of the heap.
 */
#include "config.h"

#include "tui/layout.h"

#include <string.h>

#define NARROW_COLS 40   /* below this: text only */
#define WIDE_COLS   110  /* from here on two columns of blocks ... */
#define WIDE_ROWS   34   /* ... if there are at least this many rows */
#define HUGE_COLS   160
#define HUGE_ROWS   50
#define BRIEF_ROWS  6    /* lines of text in BLOCK_BRIEF */
#define TABLE_HEAD  2    /* title and headings of the call table */
#define SPLIT_GAP   1

static int
min_int(int a, int b)
{
    return a < b ? a : b;
}

static int
max_int(int a, int b)
{
    return a > b ? a : b;
}

static int
clamp_int(int value, int low, int high)
{
    return max_int(low, min_int(value, high));
}

static void
place(struct layout *layout, enum block block, int row, int col, int rows, int cols)
{
    if (rows > 0 && cols > 0)
        layout->block[block] = (struct rect){ row, col, rows, cols };
}

/* Excludes the last cell of the last line. */
static void
spare_last_cell(struct layout *layout, int rows, int cols)
{
    for (int i = 0; i < BLOCK_COUNT; i++) {
        struct rect *rect = &layout->block[i];

        if (rect->rows > 0 && rect->row + rect->rows == rows
            && rect->col + rect->cols == cols && --rect->cols == 0)
            *rect = (struct rect){0};
    }
}

/* Places the text, then a graph if there is room. */
static void
layout_narrow(int rows, int cols, const struct content *content, struct layout *layout)
{
    int footer = rows >= 8;
    int message = content->prompt || rows >= 6;
    int brief = min_int(rows - footer - message, BRIEF_ROWS);
    int graph = rows - footer - message - brief;

    if (graph < 2)
        graph = 0;
    place(layout, BLOCK_BRIEF, 0, 0, brief, cols);
    place(layout, BLOCK_HEAP, brief, 0, graph, cols);
    place(layout, BLOCK_MESSAGE, rows - footer - 1, 0, message, cols);
    place(layout, BLOCK_FOOTER, rows - 1, 0, footer, cols);
}

/* Heights of stacked blocks; 0: not shown. */
struct stack {
    int height[BLOCK_COUNT];
};

static int
stack_sum(const struct stack *stack)
{
    int sum = 0;

    for (int i = 0; i < BLOCK_COUNT; i++)
        sum += stack->height[i];
    return sum;
}

/* Removes rows until the stack fits.  The call table first loses its less usual rows. */
static void
stack_fit(struct stack *stack, int rows, const struct content *content)
{
    static const enum block drop_order[] = {
        BLOCK_OUTPUT, BLOCK_STACK, BLOCK_SIZES, BLOCK_CALLS,
        BLOCK_TOTALS, BLOCK_FOOTER, BLOCK_HEAP, BLOCK_GAUGE,
    };
    int excess = stack_sum(stack) - rows;

    if (excess > 0 && excess <= stack->height[BLOCK_CALLS] - TABLE_HEAD - 4) {
        stack->height[BLOCK_CALLS] -= excess;
        return;
    }
    for (unsigned i = 0; i < sizeof drop_order / sizeof drop_order[0]; i++) {
        if (stack_sum(stack) <= rows)
            return;
        stack->height[drop_order[i]] = 0;
    }
    if (stack_sum(stack) > rows)
        stack->height[content->prompt ? BLOCK_HEADER : BLOCK_MESSAGE] = 0;
}

static void
layout_stacked(int rows, int cols, const struct content *content, struct layout *layout)
{
    static const enum block order[] = {
        BLOCK_HEADER, BLOCK_GAUGE, BLOCK_TOTALS, BLOCK_HEAP, BLOCK_STACK,
        BLOCK_CALLS, BLOCK_SIZES, BLOCK_OUTPUT, BLOCK_MESSAGE, BLOCK_FOOTER,
    };
    struct stack stack = {0};
    int row = 0;

    stack.height[BLOCK_HEADER] = 1;
    stack.height[BLOCK_GAUGE] = 1;
    stack.height[BLOCK_TOTALS] = 1;
    stack.height[BLOCK_HEAP] = rows < 10 ? 1 : rows < 20 ? 5 : 7;
    if (content->counters) {
        stack.height[BLOCK_STACK] = 1;
        stack.height[BLOCK_CALLS] = TABLE_HEAD + content->call_rows;
        stack.height[BLOCK_SIZES] = 1 + min_int(content->size_rows, rows < 36 ? 3 : 8);
    }
    if (content->output && rows >= (content->counters ? 40 : 20))
        stack.height[BLOCK_OUTPUT] = 6;
    stack.height[BLOCK_MESSAGE] = 1;
    stack.height[BLOCK_FOOTER] = 1;
    stack_fit(&stack, rows, content);
    if (stack.height[BLOCK_HEAP] > 0)
        stack.height[BLOCK_HEAP] += rows - stack_sum(&stack);
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++) {
        place(layout, order[i], row, 0, stack.height[order[i]], cols);
        row += stack.height[order[i]];
    }
    layout->dropped_sizes = content->counters && stack.height[BLOCK_SIZES] == 0;
}

static void
place_graphs(int row, int rows, int cols, bool three, struct layout *layout)
{
    int second = clamp_int(rows / 3, 6, 14);
    int heap = rows - second;
    int left = three ? (cols - SPLIT_GAP) / 2 : cols;

    place(layout, BLOCK_HEAP, row, 0, heap, cols);
    place(layout, BLOCK_STACK, row + heap, 0, second, left);
    if (three)
        place(layout, BLOCK_RATE, row + heap, left + SPLIT_GAP, second,
              cols - left - SPLIT_GAP);
}

static void
layout_wide(int rows, int cols, const struct content *content, struct layout *layout)
{
    bool huge = cols >= HUGE_COLS && rows >= HUGE_ROWS;
    int calls = TABLE_HEAD + content->call_rows;
    int output = content->output ? max_int(5, rows / 6) : 0;
    int lower = clamp_int(max_int(calls + output, content->size_rows + 2), 8,
                          (rows - 5) / 2);
    int left = huge ? (cols - SPLIT_GAP) / 2 : clamp_int(cols / 2, 60, 100);
    int row = rows - 2 - lower;

    place(layout, BLOCK_HEADER, 0, 0, 1, cols);
    place(layout, BLOCK_GAUGE, 1, 0, 1, cols);
    place(layout, BLOCK_TOTALS, 2, 0, 1, cols);
    place_graphs(3, row - 3, cols, huge, layout);
    calls = min_int(calls, lower);
    output = content->output && lower - calls >= 3 ? lower - calls : 0;
    place(layout, BLOCK_CALLS, row, 0, lower - output, left);
    place(layout, BLOCK_OUTPUT, row + lower - output, 0, output, left);
    place(layout, BLOCK_SIZES, row, left + SPLIT_GAP, lower, cols - left - SPLIT_GAP);
    place(layout, BLOCK_MESSAGE, rows - 2, 0, 1, cols);
    place(layout, BLOCK_FOOTER, rows - 1, 0, 1, cols);
    layout->side_by_side = true;
}

void
layout_overview(int rows, int cols, const struct content *content,
                struct layout *layout)
{
    memset(layout, 0, sizeof *layout);
    if (rows < 1 || cols < 1)
        return;
    if (cols < NARROW_COLS)
        layout_narrow(rows, cols, content, layout);
    else if (content->counters && cols >= WIDE_COLS && rows >= WIDE_ROWS)
        layout_wide(rows, cols, content, layout);
    else
        layout_stacked(rows, cols, content, layout);
    spare_last_cell(layout, rows, cols);
}

void
layout_page(int rows, int cols, const struct content *content, struct layout *layout)
{
    int footer = rows >= 5;
    int message = rows >= 4 || content->prompt;
    int header = rows >= 3;

    memset(layout, 0, sizeof *layout);
    if (rows < 1 || cols < 1)
        return;
    place(layout, BLOCK_HEADER, 0, 0, header, cols);
    place(layout, BLOCK_BODY, header, 0, rows - header - message - footer, cols);
    place(layout, BLOCK_MESSAGE, rows - footer - 1, 0, message, cols);
    place(layout, BLOCK_FOOTER, rows - 1, 0, footer, cols);
    spare_last_cell(layout, rows, cols);
}
