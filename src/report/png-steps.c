/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Draws steps (blockplot.h): a chart with both axes labelled, and a legend beside it in
 * the order of the lines.  Lines with most blocks are drawn first, so that small ones are
 * not hidden; the colours are those of Okabe and Ito, then darker ones.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "report/blockplot.h"
#include "report/png-draw.h"
#include "base/units.h"

#define TICKS_MAX 12

struct steps_chart {
    struct png_picture picture;
    const struct blockplot *plot;
    struct plot_box box;
    int text, title, small;  /* line heights */
    int legend;              /* where it begins */
    double top;              /* count at the upper edge */
    double step;             /* between labelled counts */
};

static const int colours[BLOCKPLOT_LINES_MAX] = {
    0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9,
    0x222222, 0x8c564b, 0x7b3fb5, 0x8a8a00, 0x004d40, 0x999999};

/* 1, 2 or 5 times a power of ten that fits at most `most` times into span. */
static double
round_step(double span, unsigned most)
{
    static const double steps[] = {1, 2, 5, 10};
    double unit = pow(10, floor(log10(span / most)));

    for (unsigned i = 0; i < 4; i++)
        if (span / (steps[i] * unit) <= most * 1.000001)
            return steps[i] * unit;
    return 10 * unit;
}

static void
lay_out(struct steps_chart *chart)
{
    const struct blockplot *plot = chart->plot;
    int height = plot->height, widest = 0;
    char label[UNITS_MAX];

    chart->small = height >= 300 ? 16 : 12;
    chart->text = chart->small;
    chart->title = height >= 300 ? 22 : 14;
    for (unsigned i = 0; i < plot->lines; i++) {
        int width = png_text_width(&chart->picture, plot->line[i].legend, chart->small);

        widest = width > widest ? width : widest;
    }
    chart->step = round_step((double)plot->highest, height >= 300 ? 10 : 4);
    if (chart->step < 1)
        chart->step = 1;
    chart->top = ceil((double)plot->highest / chart->step) * chart->step;
    units_count(label, sizeof label, (uint64_t)chart->top);
    chart->box.x = png_text_width(&chart->picture, label, chart->small) + 18;
    chart->box.y = chart->title + 2 * chart->text + 20;
    chart->box.width = plot->width - chart->box.x - 18
                       - (widest > 0 ? widest + 2 * chart->small : 0);
    chart->box.height = height - chart->box.y - 2 * chart->small - 12;
    chart->legend = chart->box.x + chart->box.width + chart->small;
}

static double
y_of(const struct steps_chart *chart, uint64_t count)
{
    return (1 - (double)count / chart->top) * chart->box.height;
}

/* The line's values at a pixel of the chart: of all columns that fall there. */
static struct blockplot_column
at_pixel(const struct steps_chart *chart, const struct blockplot_line *line, int x)
{
    size_t all = chart->plot->columns, width = (size_t)chart->box.width;
    size_t from = (size_t)x * all / width, to = ((size_t)x + 1) * all / width;
    struct blockplot_column column = line->columns[from];

    for (size_t i = from + 1; i < to; i++) {
        if (line->columns[i].lowest < column.lowest)
            column.lowest = line->columns[i].lowest;
        if (line->columns[i].highest > column.highest)
            column.highest = line->columns[i].highest;
        column.last = line->columns[i].last;
    }
    return column;
}

static void
draw_line(const struct steps_chart *chart, gdImagePtr layer, int factor, unsigned index)
{
    const double thick = 1.6;

    for (int x = 0; x < chart->box.width; x++) {
        struct blockplot_column column = at_pixel(chart, &chart->plot->line[index], x);
        double high = y_of(chart, column.highest), low = y_of(chart, column.lowest);

        if (column.lowest < column.highest)
            png_fill(layer, factor, x + 0.5 - thick / 2, high - thick / 2, thick,
                     low - high + thick, colours[index]);
        png_fill(layer, factor, x, y_of(chart, column.last) - thick / 2, 1, thick,
                 colours[index]);
    }
}

static bool
draw_lines(struct steps_chart *chart)
{
    const struct plot_box *box = &chart->box;
    int factor = png_layer_factor(box);
    gdImagePtr layer = gdImageCreateTrueColor(box->width * factor, box->height * factor);

    if (layer == NULL)
        return false;
    gdImageFilledRectangle(layer, 0, 0, layer->sx - 1, layer->sy - 1, WHITE);
    for (double count = chart->step; count < chart->top; count += chart->step)
        png_fill(layer, factor, 0, y_of(chart, (uint64_t)count), box->width, 1, GRID);
    for (unsigned i = 0; i < chart->plot->lines; i++)
        draw_line(chart, layer, factor, i);
    gdImageCopyResampled(chart->picture.image, layer, box->x, box->y, 0, 0, box->width,
                         box->height, layer->sx, layer->sy);
    gdImageDestroy(layer);
    return true;
}

static void
draw_counts(struct steps_chart *chart)
{
    const struct style style = {chart->small, INK, RIGHT, false};
    const struct style name = {chart->small, INK_SOFT, LEFT, false};
    char label[UNITS_MAX];

    for (double count = 0; count <= chart->top; count += chart->step)
        png_text(&chart->picture, chart->box.x - 6,
                 chart->box.y + (int)y_of(chart, (uint64_t)count) - chart->small / 2,
                 &style, units_count(label, sizeof label, (uint64_t)count));
    png_text(&chart->picture, chart->box.x, chart->box.y - chart->small - 4, &name,
             chart->plot->axis);
}

/* Chooses the unit of the time axis. */
static double
time_unit(const struct blockplot *plot, const char **name)
{
    if (!plot->clock) {
        *name = _("events");
        return 1;
    }
    if (plot->end >= UINT64_C(10000000000)) {
        *name = _("s");
        return 1e9;
    }
    if (plot->end >= 10000000) {
        *name = _("ms");
        return 1e6;
    }
    *name = plot->end >= 10000 ? "\xc2\xb5s" : "ns";
    return plot->end >= 10000 ? 1e3 : 1;
}

static void
draw_times(struct steps_chart *chart)
{
    const struct plot_box *box = &chart->box;
    const struct style style = {chart->small, INK, CENTRE, false};
    const struct style last = {chart->small, INK_SOFT, RIGHT, false};
    int bottom = box->y + box->height;
    const char *name;
    double unit = time_unit(chart->plot, &name);
    double end = (double)chart->plot->end / unit;
    double step = round_step(end, (unsigned)(box->width / 90 > 1 ? box->width / 90 : 1));

    for (double at = 0; at <= end; at += step) {
        int x = box->x + (int)(at / end * box->width);
        char label[UNITS_MAX];

        if (step >= 1)
            units_count(label, sizeof label, (uint64_t)(at + 0.5));
        else
            snprintf(label, sizeof label, "%.*f", (int)ceil(-log10(step)), at);
        gdImageLine(chart->picture.image, x, bottom, x, bottom + 3, FRAME);
        png_text(&chart->picture, x, bottom + 5, &style, label);
    }
    png_text(&chart->picture, box->x + box->width, bottom + 5 + chart->small, &last,
             name);
}

static void
draw_legend(struct steps_chart *chart)
{
    const struct style style = {chart->small, INK, LEFT, false};
    int y = chart->box.y, line = chart->small + 2;

    for (unsigned i = 0; i < chart->plot->lines; i++, y += line) {
        if (y + line > chart->plot->height)
            return;
        gdImageFilledRectangle(chart->picture.image, chart->legend, y + line / 2 - 1,
                               chart->legend + chart->small / 2 + 2, y + line / 2 + 1,
                               colours[i]);
        png_text(&chart->picture, chart->legend + chart->small, y, &style,
                 chart->plot->line[i].legend);
    }
}

static void
draw_words(struct steps_chart *chart)
{
    const struct blockplot *plot = chart->plot;
    const struct plot_box *box = &chart->box;
    const struct style title = {chart->title, INK, LEFT, true};
    const struct style subtitle = {chart->text, INK_SOFT, LEFT, false};
    const struct style note = {chart->text, INK_SOFT, CENTRE, false};

    png_text_fitting(&chart->picture, 10, 6, plot->width - 20, &title, plot->title);
    png_text_fitting(&chart->picture, 10, 8 + chart->title, plot->width - 20, &subtitle,
                     plot->subtitle);
    if (plot->note[0] != '\0')
        png_text_over(&chart->picture, box->x + box->width / 2, box->y + box->height / 3,
                      &note, plot->note);
}

bool
memtop_png_steps(const struct blockplot *plot, size_t plot_size, FILE *out, char *error,
                 size_t size)
{
    struct steps_chart chart = {.plot = plot};
    bool drawn = false;

    if (plot_size != sizeof *plot) {
        snprintf(error, size, "%s",
                 _("memtop-png.so belongs to another version of memtop"));
        return false;
    }
    if (png_begin(&chart.picture, plot->width, plot->height)) {
        lay_out(&chart);
        drawn = true;
        if (chart.box.width > 0 && chart.box.height > 0) {
            const struct plot_box *box = &chart.box;

            drawn = draw_lines(&chart);
            gdImageLine(chart.picture.image, box->x, box->y, box->x,
                        box->y + box->height, FRAME);
            gdImageLine(chart.picture.image, box->x, box->y + box->height,
                        box->x + box->width, box->y + box->height, FRAME);
            draw_counts(&chart);
            draw_times(&chart);
        }
        draw_legend(&chart);
        draw_words(&chart);
        drawn = png_finish(&chart.picture, drawn, out, error, size);
    } else {
        png_no_memory(error, size);
    }
    return drawn;
}
