/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Describes the plot of recorded calls: the lines are exact, over calls or over time,
 * with or without the sum of heap and stack.
 */
#include "config.h"

#include "report/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/textwidth.h"

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
    *series = (struct plot_series){
        .columns = calloc(plot->columns, sizeof *series->columns)};
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
    plot->to = record->end == 0           ? 1
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
