/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A description of a run's plot: what it says and shows, without fonts and pixels
 * (plot-layout.h) or a file format (png.h).  All text is clean UTF-8 and already
 * translated.
 */
#ifndef MEMTOP_PLOT_H
#define MEMTOP_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/history.h"
#include "monitor/session.h"
#include "monitor/timeline.h"
#include "report/ranges.h"
#include "base/units.h"

#define PLOT_WIDTH      800  /* the default size */
#define PLOT_HEIGHT     600
#define PLOT_MIN_WIDTH  100
#define PLOT_MIN_HEIGHT 80
#define PLOT_MAX_SIDE   10000

#define PLOT_TEXT_MAX 512

/* The lines that can be drawn. */
enum plot_line { PLOT_HEAP, PLOT_RSS, PLOT_STACK, PLOT_TOTAL, PLOT_LINES };

/* The horizontal axis: ns since the start, calls, or a time of which only the order and
   the share of the whole are known. */
enum plot_axis { PLOT_AXIS_TIME, PLOT_AXIS_CALLS, PLOT_AXIS_SHARE };

struct plot_series {
    bool drawn;                /* false: nothing is known */
    bool off_scale;            /* would flatten the heap if drawn: legend only */
    uint64_t highest;          /* of columns */
    struct column *columns;    /* plot->columns of them, or NULL if not drawn */
    char legend[PLOT_TEXT_MAX];
};

/* A row of the table; the first one is the heading. */
#define PLOT_CELLS 4
#define PLOT_CELL_MAX 64
struct plot_row {
    char cells[PLOT_CELLS][PLOT_CELL_MAX];  /* name, calls, bytes, failed */
};

struct plot_fact {
    char name[PLOT_CELL_MAX];
    char value[PLOT_CELL_MAX];
};

#define PLOT_ROWS_MAX  (1 + FN_COUNT)
#define PLOT_FACTS_MAX 6

struct plot {
    int width, height;         /* pixels */
    enum unit unit;
    char title[PLOT_TEXT_MAX];
    char subtitle[PLOT_TEXT_MAX];
    char note[PLOT_TEXT_MAX];  /* instead of a graph, or "" */
    enum plot_axis axis;
    int64_t from, to;          /* in the axis's unit; from < to */
    size_t columns;
    struct plot_series series[PLOT_LINES];
    bool has_peak;             /* the heap as drawn has one */
    uint64_t peak_bytes;
    int64_t peak_at;
    char peak_text[PLOT_CELL_MAX];
    unsigned row_count;        /* 0: not measured */
    struct plot_row rows[PLOT_ROWS_MAX];
    unsigned fact_count;
    struct plot_fact facts[PLOT_FACTS_MAX];
    char ranges_title[PLOT_CELL_MAX];  /* headings of the histogram */
    char ranges_allocated[PLOT_CELL_MAX];
    char ranges_live[PLOT_CELL_MAX];
    struct range ranges[RANGE_COUNT];
};

/* Every call of a run (timeline.h), drawn instead of samples. */
struct plot_record {
    const struct timeline *timeline;
    enum plot_axis axis;       /* unit of the series' x */
    uint64_t end;              /* of the axis */
    bool total;                /* also heap and stack together, on one scale */
    bool no_stack;             /* the series has no stack */
};

struct plot_options {
    int width, height;         /* 0: the defaults; otherwise limited */
    const char *title;         /* NULL: the command line */
    enum unit unit;
    const struct plot_record *record; /* NULL: samples */
};

/* Describes the whole run.  Returns NULL if memory is short; free with plot_free(). */
struct plot *plot_new(const struct process *process, const struct history *history,
                      const char *command, const struct plot_options *options);
void plot_free(struct plot *plot);

/* The same for a record without a process. */
struct plot *plot_new_record(const char *subtitle, const struct plot_options *options);

/* Parts of both functions: limits the size; uses a record instead of samples, false if
   memory is short. */
void plot_set_size(struct plot *plot, const struct plot_options *options);
bool plot_take_record(struct plot *plot, const struct plot_record *record);

/* history_columns() from the program's start.  The first sample, unless it is late, is
   extended back to the start, when the counters were zero. */
void plot_columns(const struct history *history, enum series series, int64_t to_ns,
                  struct column *columns, size_t count);

#endif
