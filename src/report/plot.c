/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Describes the plot of a run from the session's figures, or from recorded calls.  All
 * contents are decided here, where no font or library is needed to test it.
 */
#include "config.h"

#include "report/plot.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/i18n.h"
#include "segment/functions.h"
#include "report/summary.h"
#include "base/textwidth.h"

/* An RSS this many times the heap would flatten the heap's line. */
#define OFF_SCALE 3
/* If the first sample is later than this (and than a tenth of the run), a gap is left. */
#define START_NEAR_NS INT64_C(2000000000)

static const enum series series_of[PLOT_LINES] = {
    [PLOT_HEAP] = SERIES_HEAP,
    [PLOT_RSS] = SERIES_RSS,
    [PLOT_STACK] = SERIES_STACK,
};

/* Formats text and converts it to clean UTF-8. */
static void __attribute__((format(printf, 3, 4)))
say(char *buf, size_t size, const char *format, ...)
{
    char text[2 * PLOT_TEXT_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_utf8(buf, size, text);
}

static char *
bytes(char buf[UNITS_MAX], const struct plot *plot, uint64_t value)
{
    return units_bytes(buf, UNITS_MAX, value, plot->unit);
}

/* "exited 3", "killed by signal 11", or the state's word. */
static void
say_state(char *buf, size_t size, const struct process *process)
{
    if (process->state == STATE_EXITED && WIFEXITED(process->wait_status))
        snprintf(buf, size, _("exit status %d"), WEXITSTATUS(process->wait_status));
    else if (process->state == STATE_KILLED && WIFSIGNALED(process->wait_status))
        snprintf(buf, size, _("killed by signal %d"), WTERMSIG(process->wait_status));
    else
        snprintf(buf, size, "%s", process_state_word(process->state));
}

static void
describe_head(struct plot *plot, const struct process *process, const char *title)
{
    bool brief = process->run_ns < 10000000000; /* whole seconds would be too coarse */
    char state[128], duration[UNITS_MAX], peak[UNITS_MAX], total[UNITS_MAX];
    char figures[PLOT_TEXT_MAX] = "";

    text_utf8(plot->title, sizeof plot->title, title);
    if (process->missing & PART_COUNTERS) {
        /* TRANSLATORS: under the title of a picture; both are sizes. */
        say(plot->subtitle, sizeof plot->subtitle, _("heap peak %s, stack peak %s"),
            bytes(peak, plot, process->now.peak_bytes),
            bytes(total, plot, report_stack(process, process->now.stack_peak)));
        return;
    }
    say_state(state, sizeof state, process);
    if (process->measured)
        /* TRANSLATORS: under the title of a picture; both are sizes. */
        snprintf(figures, sizeof figures, _(", heap peak %s, total %s"),
                 bytes(peak, plot, process->now.peak_bytes),
                 bytes(total, plot, process->now.total_bytes));
    /* TRANSLATORS: under the title of a picture: process number, state, run
       time, and sizes. */
    say(plot->subtitle, sizeof plot->subtitle, _("pid %d, %s after %s%s"),
        (int)process->pid, state,
        brief ? units_offset(duration, sizeof duration, process->run_ns)
              : units_duration(duration, sizeof duration, process->run_ns),
        figures);
}

static void
describe_span(struct plot *plot, const struct process *process,
              const struct history *history)
{
    int64_t first, last = 0;

    if (!history_span(history, &first, &last) || last < process->run_ns)
        last = process->run_ns;
    plot->from = 0;
    if (last > INT64_MAX / 4) /* leaves space for sums: 73 years are enough */
        last = INT64_MAX / 4;
    plot->to = last > 1000000 ? last : 1000000;
}

void
plot_columns(const struct history *history, enum series series, int64_t to_ns,
             struct column *columns, size_t count)
{
    int64_t near = to_ns / 10 > START_NEAR_NS ? to_ns / 10 : START_NEAR_NS;
    int64_t first_ns, last_ns;
    struct column first;

    history_columns(history, series, 0, to_ns, columns, count);
    if (!history_span(history, &first_ns, &last_ns) || first_ns > near)
        return;
    history_columns(history, series, 0, first_ns, &first, 1);
    for (size_t i = 0; i < count && !columns[i].known; i++)
        columns[i] = first;
}

static bool
fill_series(struct plot *plot, const struct history *history, enum plot_line line)
{
    struct plot_series *series = &plot->series[line];

    series->columns = calloc(plot->columns, sizeof *series->columns);
    if (series->columns == NULL)
        return false;
    plot_columns(history, series_of[line], plot->to, series->columns, plot->columns);
    for (size_t i = 0; i < plot->columns; i++) {
        if (!series->columns[i].known)
            continue;
        series->drawn = true;
        if (series->columns[i].max > series->highest)
            series->highest = series->columns[i].max;
    }
    return true;
}

static void
describe_legend(struct plot *plot)
{
    struct plot_series *heap = &plot->series[PLOT_HEAP];
    struct plot_series *rss = &plot->series[PLOT_RSS];
    struct plot_series *stack = &plot->series[PLOT_STACK];
    char text[UNITS_MAX];

    rss->off_scale =
        rss->drawn && heap->drawn && rss->highest / OFF_SCALE > heap->highest;
    say(heap->legend, sizeof heap->legend, "%s", _("heap"));
    if (rss->off_scale)
        /* TRANSLATORS: in a picture's legend; RSS is resident memory. */
        say(rss->legend, sizeof rss->legend, _("RSS up to %s, off the scale"),
            bytes(text, plot, rss->highest));
    else
        say(rss->legend, sizeof rss->legend, "%s", _("RSS"));
    say(stack->legend, sizeof stack->legend, "%s", _("stack, right axis"));
}

static void
describe_peak(struct plot *plot, const struct history *history)
{
    char text[UNITS_MAX];

    plot->has_peak = plot->series[PLOT_HEAP].drawn
                     && history_peak(history, SERIES_HEAP, plot->from, plot->to,
                                     &plot->peak_bytes, &plot->peak_at)
                     && plot->peak_bytes != 0 && plot->peak_bytes != HISTORY_UNKNOWN;
    if (plot->has_peak)
        /* TRANSLATORS: beside the highest point of a graph. */
        say(plot->peak_text, sizeof plot->peak_text, _("peak %s"),
            bytes(text, plot, plot->peak_bytes));
}

static void
describe_row(struct plot *plot, const struct process *process,
             enum segment_function function)
{
    const struct snapshot *now = &process->now;
    struct plot_row *row = &plot->rows[plot->row_count++];
    char text[UNITS_MAX];

    say(row->cells[0], PLOT_CELL_MAX, "%s", report_function_names[function]);
    say(row->cells[1], PLOT_CELL_MAX, "%s",
        units_count(text, sizeof text, now->calls[function]));
    say(row->cells[2], PLOT_CELL_MAX, "%s", bytes(text, plot, now->bytes[function]));
    if (function != FN_FREE)
        say(row->cells[3], PLOT_CELL_MAX, "%s",
            units_count(text, sizeof text, report_failed(process, function)));
}

static void
describe_calls(struct plot *plot, const struct process *process)
{
    struct plot_row *heading = &plot->rows[plot->row_count++];

    say(heading->cells[1], PLOT_CELL_MAX, "%s", _("calls"));
    say(heading->cells[2], PLOT_CELL_MAX, "%s", _("total"));
    say(heading->cells[3], PLOT_CELL_MAX, "%s", _("failed"));
    for (unsigned i = 0; i < FN_COUNT; i++)
        if (i <= FN_FREE || process->now.calls[i] != 0)
            describe_row(plot, process, i);
}

static void
add_fact(struct plot *plot, const char *name, const char *value)
{
    struct plot_fact *fact;

    if (plot->fact_count == PLOT_FACTS_MAX)
        return;
    fact = &plot->facts[plot->fact_count++];
    say(fact->name, sizeof fact->name, "%s", name);
    say(fact->value, sizeof fact->value, "%s", value);
}

static void
describe_facts(struct plot *plot, const struct process *process)
{
    const struct snapshot *now = &process->now;
    char text[UNITS_MAX], blocks[PLOT_CELL_MAX];
    int coverage = process_coverage(process);

    if (process_knows(process, PART_COUNTERS)) {
        snprintf(blocks, sizeof blocks, "%s (%s)",
                 units_count(text, sizeof text, now->live_blocks),
                 bytes((char[UNITS_MAX]){0}, plot, now->live_bytes));
        add_fact(plot, _("live blocks"), blocks);
        add_fact(plot, _("stack peak"),
                 bytes(text, plot, report_stack(process, now->stack_peak)));
    }
    if (process->rss_peak != 0)
        add_fact(plot, _("RSS peak"), bytes(text, plot, process->rss_peak));
    if (process->measured && coverage >= 0) {
        snprintf(text, sizeof text, "%d%%", coverage);
        add_fact(plot, _("coverage"), text);
    }
    if (process_knows(process, PART_COUNTERS))
        add_fact(plot, _("threads"),
                 units_count(text, sizeof text, now->threads_started));
}

static void
describe_ranges(struct plot *plot, const struct histogram *sizes)
{
    say(plot->ranges_title, PLOT_CELL_MAX, "%s", _("block size"));
    say(plot->ranges_allocated, PLOT_CELL_MAX, "%s", _("allocated"));
    say(plot->ranges_live, PLOT_CELL_MAX, "%s", _("live"));
    ranges_sum(sizes, plot->ranges);
}

static void
describe_note(struct plot *plot, const struct process *process)
{
    if (!process->measured && process->why_not[0] != '\0')
        say(plot->note, sizeof plot->note, _("not measured: %s"), process->why_not);
    else if (!plot->series[PLOT_HEAP].drawn)
        say(plot->note, sizeof plot->note, "%s", _("no samples"));
}

static int
bounded(int side, int usual, int least)
{
    if (side <= 0)
        return usual;
    return side < least ? least : side > PLOT_MAX_SIDE ? PLOT_MAX_SIDE : side;
}

void
plot_set_size(struct plot *plot, const struct plot_options *options)
{
    plot->width = bounded(options->width, PLOT_WIDTH, PLOT_MIN_WIDTH);
    plot->height = bounded(options->height, PLOT_HEIGHT, PLOT_MIN_HEIGHT);
    plot->unit = options->unit;
    plot->columns = (size_t)plot->width;
}

struct plot *
plot_new(const struct process *process, const struct history *history,
         const char *command, const struct plot_options *options)
{
    struct plot *plot = calloc(1, sizeof *plot);

    if (plot == NULL)
        return NULL;
    plot_set_size(plot, options);
    describe_head(plot, process, options->title != NULL ? options->title : command);
    describe_span(plot, process, history);
    for (unsigned i = 0; i < PLOT_TOTAL; i++)
        if (!fill_series(plot, history, i)) {
            plot_free(plot);
            return NULL;
        }
    describe_legend(plot);
    describe_peak(plot, history);
    if (options->record != NULL && !plot_take_record(plot, options->record)) {
        plot_free(plot);
        return NULL;
    }
    if (options->record == NULL)
        describe_note(plot, process);
    describe_facts(plot, process);
    if (process_knows(process, PART_COUNTERS))
        describe_calls(plot, process);
    if (process_knows(process, PART_SIZES))
        describe_ranges(plot, &process->sizes);
    if (process->missing & PART_CLOCK)
        plot->axis = PLOT_AXIS_SHARE;
    return plot;
}

void
plot_free(struct plot *plot)
{
    if (plot == NULL)
        return;
    for (unsigned i = 0; i < PLOT_LINES; i++)
        free(plot->series[i].columns);
    free(plot);
}

/* ---- recorded calls ---- */

/* The lines are exact, over calls or over time, with or without the sum of heap and
   stack. */

/* The legend of a line, or NULL if it is not drawn. */
static const char *
legend(enum plot_line line, const struct plot_record *record)
{
    switch (line) {
    case PLOT_HEAP:
        return _("heap");
    case PLOT_STACK:
        if (record->no_stack)
            return NULL;
        return record->total ? _("stack") : _("stack, right axis");
    case PLOT_TOTAL:
        return record->total && !record->no_stack ? _("heap and stack") : NULL;
    default:
        return NULL;
    }
}

static bool
take_series(struct plot *plot, const struct plot_record *record, enum plot_line line,
            enum timeline_line from)
{
    struct plot_series *series = &plot->series[line];
    const char *name = legend(line, record);

    free(series->columns);
    *series =
        (struct plot_series){.columns = calloc(plot->columns, sizeof *series->columns)};
    if (series->columns == NULL)
        return false;
    series->drawn = name != NULL && record->timeline->calls > 0;
    if (!series->drawn)
        return true;
    snprintf(series->legend, sizeof series->legend, "%s", name);
    timeline_columns(record->timeline, from, record->end, series->columns, plot->columns);
    for (size_t i = 0; i < plot->columns; i++)
        if (series->columns[i].max > series->highest)
            series->highest = series->columns[i].max;
    return true;
}

static void
take_peak(struct plot *plot, const struct plot_record *record)
{
    char text[UNITS_MAX];
    uint64_t x = 0;

    plot->has_peak = timeline_peak(record->timeline, TIMELINE_HEAP, &plot->peak_bytes, &x)
                     && plot->peak_bytes != 0;
    plot->peak_at = x < INT64_MAX ? (int64_t)x : INT64_MAX;
    if (plot->has_peak)
        snprintf(plot->peak_text, sizeof plot->peak_text, _("peak %s"),
                 units_bytes(text, sizeof text, plot->peak_bytes, plot->unit));
}

bool
plot_take_record(struct plot *plot, const struct plot_record *record)
{
    plot->axis = record->axis;
    plot->from = 0;
    plot->to = record->end == 0              ? 1
               : record->end > INT64_MAX / 4 ? INT64_MAX / 4
                                             : (int64_t)record->end;
    if (!take_series(plot, record, PLOT_HEAP, TIMELINE_HEAP)
        || !take_series(plot, record, PLOT_STACK, TIMELINE_STACK)
        || !take_series(plot, record, PLOT_TOTAL, TIMELINE_TOTAL))
        return false;
    if (record->axis != PLOT_AXIS_TIME)
        plot->series[PLOT_RSS].drawn = false; /* sampled, so known only over time */
    take_peak(plot, record);
    return true;
}

struct plot *
plot_new_record(const char *subtitle, const struct plot_options *options)
{
    struct plot *plot = calloc(1, sizeof *plot);

    if (plot == NULL)
        return NULL;
    plot_set_size(plot, options);
    text_utf8(plot->title, sizeof plot->title, options->title);
    text_utf8(plot->subtitle, sizeof plot->subtitle, subtitle);
    if (!plot_take_record(plot, options->record)) {
        plot_free(plot);
        return NULL;
    }
    if (options->record->timeline->calls == 0)
        snprintf(plot->note, sizeof plot->note, "%s", _("no calls"));
    return plot;
}
