/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The picture of a run, described: what it says and shows, but neither fonts
 * nor pixels (plot-layout.h) nor a file format (png.h).  All text is clean
 * UTF-8 and already translated.
 */
#ifndef MEMTOP_PLOT_H
#define MEMTOP_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/history.h"
#include "monitor/session.h"
#include "report/curve.h"
#include "report/ranges.h"
#include "base/units.h"

#define PLOT_WIDTH      800  /* the size if none is asked for */
#define PLOT_HEIGHT     600
#define PLOT_MIN_WIDTH  100
#define PLOT_MIN_HEIGHT 80
#define PLOT_MAX_SIDE   10000

#define PLOT_TEXT_MAX 512

/* What is drawn. */
enum plot_line { PLOT_HEAP, PLOT_RSS, PLOT_STACK, PLOT_TOTAL, PLOT_LINES };

/* Over what: ns since the start, calls, or a time of which only the order and
   the share in the whole are known. */
enum plot_axis { PLOT_AXIS_TIME, PLOT_AXIS_CALLS, PLOT_AXIS_SHARE };

struct plot_series {
    bool drawn;                /* false: nothing known of it */
    bool off_scale;            /* drawn would flatten the heap: legend only */
    uint64_t highest;          /* of columns */
    struct column *columns;    /* plot->columns of them, or NULL if not drawn */
    char legend[PLOT_TEXT_MAX];
};

/* A row of the table, the heading first. */
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
    char note[PLOT_TEXT_MAX];  /* in place of a graph, or "" */
    enum plot_axis axis;
    int64_t from, to;          /* in its unit; from < to */
    size_t columns;
    struct plot_series series[PLOT_LINES];
    bool has_peak;             /* of the heap as drawn */
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

/* Every call of a run (curve.h), to be drawn in place of samples. */
struct plot_record {
    const struct curve *curve;
    enum plot_axis axis;       /* of the curve's x */
    uint64_t end;              /* of the axis */
    bool total;                /* also heap and stack together, on one scale */
    bool no_stack;             /* the curve's is not known */
};

struct plot_options {
    int width, height;         /* 0: the usual ones; else brought into bounds */
    const char *title;         /* NULL: the command line */
    enum unit unit;
    const struct plot_record *record; /* NULL: samples */
};

/* The whole run.  Returns NULL if memory is short; plot_free() it. */
struct plot *plot_new(const struct process *process, const struct history *history,
                      const char *command, const struct plot_options *options);
void plot_free(struct plot *plot);

/* The same of a record alone, of whose process nothing else is known. */
struct plot *plot_new_record(const char *subtitle, const struct plot_options *options);

/* Steps of both: sizes within bounds; curves instead of samples, false if
   memory is short. */
void plot_set_size(struct plot *plot, const struct plot_options *options);
bool plot_take_record(struct plot *plot, const struct plot_record *record);

/* history_columns() from the program's start on, in which the first sample, if
   it is not late, reaches back to the start: the counters began there at zero. */
void plot_columns(const struct history *history, enum series series, int64_t to_ns,
                  struct column *columns, size_t count);

#endif
