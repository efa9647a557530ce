/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Draws a plot with libgd: the module memtop-png.so.  Whatever can be decided without
 * pixels is decided elsewhere (plot.c, plot-layout.c).
 *
 * The chart is drawn larger on a layer of its own and scaled down, which makes its lines
 * smooth; text is drawn on the picture itself (png-draw.c).  The colours are those of
 * Okabe and Ito, which everyone can distinguish, and the lines differ in width and
 * darkness as well.
 */
#include "config.h"

#include "report/png.h"

#include <gd.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "report/plot-layout.h"
#include "report/png-draw.h"

/* Draws a swatch and its name; returns where the next may begin. */
static int
draw_legend_entry(struct png_picture *picture, int x, int y, enum plot_line line)
{
    static const int colours[PLOT_LINES] = {
        [PLOT_HEAP] = HEAP, [PLOT_RSS] = RSS, [PLOT_STACK] = STACK,
        [PLOT_TOTAL] = TOTAL};
    const struct plot_series *series = &picture->plot->series[line];
    const struct style style = {picture->layout.text, series->off_scale ? INK_SOFT : INK,
                                LEFT, false};
    int height = picture->layout.text;
    int swatch = height * 5 / 4;
    int middle = y + height / 2;
    int thick = line == PLOT_RSS ? 1 : 2;

    if (line == PLOT_HEAP)
        gdImageFilledRectangle(picture->image, x, middle, x + swatch, middle + height / 4,
                               HEAP_FILL);
    if (!series->off_scale)
        gdImageFilledRectangle(picture->image, x, middle - thick + 1, x + swatch, middle,
                               colours[line]);
    else
        swatch = -height / 4;
    png_text(picture, x + swatch + height / 3, y, &style, series->legend);
    return x + swatch + height / 3
           + png_text_width(picture, series->legend, height) + height * 5 / 4;
}

static void
draw_head(struct png_picture *picture)
{
    const struct plot *plot = picture->plot;
    const struct plot_layout *layout = &picture->layout;
    const struct style title = {layout->title, INK, LEFT, true};
    const struct style subtitle = {layout->text, INK_SOFT, LEFT, false};
    int x = layout->head.x, y = layout->head.y;

    if (layout->head.height == 0)
        return;
    png_text_fitting(picture, x, y, layout->head.width, &title, plot->title);
    y += layout->title + 4;
    if (layout->has_subtitle) {
        png_text_fitting(picture, x, y, layout->head.width, &subtitle, plot->subtitle);
        y += layout->text + 2;
    }
    if (!layout->has_legend)
        return;
    for (unsigned i = 0; i < PLOT_LINES; i++)
        if (plot->series[i].drawn)
            x = draw_legend_entry(picture, x, y + 2, i);
}

static void
draw_grid(struct png_picture *picture, gdImagePtr layer, int factor)
{
    const struct plot_layout *layout = &picture->layout;

    for (unsigned i = 1; i + 1 < layout->y_count; i++)
        png_fill(layer, factor, 0, layout->y[i].at - layout->chart.y, layout->chart.width,
                 1, GRID);
    for (unsigned i = 1; i < layout->x_count; i++)
        png_fill(layer, factor, layout->x[i].at - layout->chart.x, 0, 1,
                 layout->chart.height, GRID);
}

/* The position of a value at the series' scale, from the top of the chart. */
static double
level(const struct png_picture *picture, enum plot_line line, uint64_t value)
{
    const struct plot_layout *layout = &picture->layout;

    return plot_y(layout, line == PLOT_STACK ? &layout->right : &layout->left, value)
           - layout->chart.y;
}

static void
draw_area(struct png_picture *picture, gdImagePtr layer, int factor)
{
    const struct plot_box *chart = &picture->layout.chart;

    if (!picture->plot->series[PLOT_HEAP].drawn)
        return;
    gdImageAlphaBlending(layer, 1);
    for (int x = 0; x < chart->width; x++) {
        struct column column = plot_pixel(picture->plot, &picture->layout, PLOT_HEAP, x);
        double y = level(picture, PLOT_HEAP, column.max);

        if (column.known && y < chart->height)
            png_fill(layer, factor, x, y, 1, chart->height - y,
                     gdTrueColorAlpha(0x56, 0xb4, 0xe9, 78));
    }
}

static void
draw_curve(struct png_picture *picture, gdImagePtr layer, int factor, enum plot_line line,
           double thick, int colour)
{
    const struct plot_series *series = &picture->plot->series[line];
    double before = -1;

    if (!series->drawn || series->off_scale)
        return;
    for (int x = 0; x < picture->layout.chart.width; x++) {
        struct column column = plot_pixel(picture->plot, &picture->layout, line, x);
        double y = column.known ? level(picture, line, column.max) : -1;

        if (column.known)
            png_fill(layer, factor, x, y - thick / 2, 1, thick, colour);
        if (column.known && before >= 0)
            png_fill(layer, factor, x - thick / 2, (y < before ? y : before) - thick / 2,
                     thick, (y < before ? before - y : y - before) + thick, colour);
        before = y;
    }
}

static void
draw_peak_mark(struct png_picture *picture, gdImagePtr layer, int factor)
{
    const struct plot *plot = picture->plot;
    double x = plot_x(plot, &picture->layout, plot->peak_at) - picture->layout.chart.x;
    double y = level(picture, PLOT_HEAP, plot->peak_bytes);
    int size = picture->layout.text * factor / 2;
    double rightmost = picture->layout.chart.width - picture->layout.text / 4.0;

    if (!plot->has_peak)
        return;
    if (x > rightmost) /* not cut off, but moved by a pixel or two */
        x = rightmost;
    gdImageFilledEllipse(layer, (int)(x * factor), (int)(y * factor), size, size, WHITE);
    gdImageFilledEllipse(layer, (int)(x * factor), (int)(y * factor), size * 2 / 3,
                         size * 2 / 3, HEAP);
}

static bool
draw_chart(struct png_picture *picture)
{
    const struct plot_box *chart = &picture->layout.chart;
    int factor = png_layer_factor(chart);
    gdImagePtr layer =
        gdImageCreateTrueColor(chart->width * factor, chart->height * factor);

    if (layer == NULL)
        return false;
    gdImageFilledRectangle(layer, 0, 0, layer->sx - 1, layer->sy - 1, WHITE);
    draw_grid(picture, layer, factor);
    draw_area(picture, layer, factor);
    draw_curve(picture, layer, factor, PLOT_STACK, 1.3, STACK);
    draw_curve(picture, layer, factor, PLOT_TOTAL, 1.5, TOTAL);
    draw_curve(picture, layer, factor, PLOT_HEAP, 2, HEAP);
    draw_curve(picture, layer, factor, PLOT_RSS, 1, RSS);
    draw_peak_mark(picture, layer, factor);
    gdImageCopyResampled(picture->image, layer, chart->x, chart->y, 0, 0, chart->width,
                         chart->height, layer->sx, layer->sy);
    gdImageDestroy(layer);
    return true;
}

static void
draw_frame(struct png_picture *picture)
{
    const struct plot_box *chart = &picture->layout.chart;
    int right = chart->x + chart->width, bottom = chart->y + chart->height;

    gdImageLine(picture->image, chart->x, chart->y, chart->x, bottom, FRAME);
    gdImageLine(picture->image, chart->x, bottom, right, bottom, FRAME);
    if (picture->plot->series[PLOT_STACK].drawn)
        gdImageLine(picture->image, right, chart->y, right, bottom, FRAME);
}

static void
draw_axes(struct png_picture *picture)
{
    const struct plot_layout *layout = &picture->layout;
    const struct plot_box *chart = &layout->chart;
    const struct style left = {layout->small, INK, RIGHT, false};
    const struct style right = {layout->small, STACK, LEFT, false};
    const struct style below = {layout->small, INK, CENTRE, false};
    int bottom = chart->y + chart->height;

    draw_frame(picture);
    for (unsigned i = 0; i < layout->y_count; i++) {
        int y = layout->y[i].at - layout->small / 2;

        png_text(picture, chart->x - 5, y, &left, layout->y[i].label);
        if (picture->plot->series[PLOT_STACK].drawn)
            png_text(picture, chart->x + chart->width + 5, y, &right,
                      layout->y_right[i].label);
    }
    for (unsigned i = 0; i < layout->x_count; i++) {
        gdImageLine(picture->image, layout->x[i].at, bottom, layout->x[i].at, bottom + 3,
                    FRAME);
        png_text(picture, layout->x[i].at, bottom + 5, &below, layout->x[i].label);
    }
}

static void
draw_notes(struct png_picture *picture)
{
    const struct plot *plot = picture->plot;
    const struct plot_layout *layout = &picture->layout;
    const struct plot_box *chart = &layout->chart;
    const struct style note = {layout->text, INK_SOFT, CENTRE, false};
    int x = (int)plot_x(plot, layout, plot->peak_at);
    int y = (int)plot_y(layout, &layout->left, plot->peak_bytes) - layout->text * 5 / 4;
    bool late = x > chart->x + chart->width / 2;
    const struct style peak = {layout->small, INK, late ? RIGHT : LEFT, false};

    if (plot->note[0] != '\0')
        png_text_fitting(picture, chart->x + chart->width / 2,
                         chart->y + chart->height / 3, chart->width - 10, &note,
                         plot->note);
    if (late && x > chart->x + chart->width - 6)
        x = chart->x + chart->width - 6;
    if (plot->has_peak && chart->width > 200)
        png_text_over(picture, x, y, &peak, plot->peak_text);
}

/* The right edges of the table's cells. */
static void
table_columns(const struct plot_box *box, int edges[PLOT_CELLS])
{
    edges[0] = box->x;
    edges[1] = box->x + box->width * 55 / 100;
    edges[2] = box->x + box->width * 82 / 100;
    edges[3] = box->x + box->width;
}

static int
draw_table_row(struct png_picture *picture, const struct plot_row *row, int y,
               bool heading)
{
    const struct plot_box *box = &picture->layout.table;
    const struct style name = {picture->layout.small, INK, LEFT, false};
    const struct style number = {picture->layout.small, heading ? INK_SOFT : INK, RIGHT,
                                 false};
    int edges[PLOT_CELLS];

    table_columns(box, edges);
    png_text(picture, edges[0], y, &name, row->cells[0]);
    for (unsigned i = 1; i < PLOT_CELLS; i++)
        png_text(picture, edges[i], y, &number, row->cells[i]);
    y += picture->layout.text;
    if (heading)
        gdImageLine(picture->image, box->x, y - 1, box->x + box->width, y - 1, GRID);
    return y;
}

static void
draw_table(struct png_picture *picture)
{
    const struct plot *plot = picture->plot;
    const struct plot_box *box = &picture->layout.table;
    const struct style name = {picture->layout.small, INK_SOFT, LEFT, false};
    const struct style value = {picture->layout.small, INK, RIGHT, false};
    int line = picture->layout.text;
    int y = box->y, edges[PLOT_CELLS];

    if (box->width == 0)
        return;
    table_columns(box, edges);
    for (unsigned i = 0; i < plot->row_count && y + line <= box->y + box->height; i++)
        y = draw_table_row(picture, &plot->rows[i], y, i == 0);
    y += line / 2;
    for (unsigned i = 0; i < plot->fact_count && y + line <= box->y + box->height; i++) {
        png_text(picture, edges[0], y, &name, plot->facts[i].name);
        png_text(picture, edges[2], y, &value, plot->facts[i].value);
        y += line;
    }
}

/* Draws a count and its live part as bars on one scale. */
static void
draw_bar(struct png_picture *picture, const struct plot_box *box,
         const struct range *range, uint64_t highest)
{
    int all = (int)((double)range->allocated / (double)highest * box->width + 0.5);
    int live = (int)((double)range->live / (double)highest * box->width + 0.5);
    int bottom = box->y + box->height - 1;

    if (live > box->width) /* inherited from a parent */
        live = box->width;
    if (range->allocated != 0)
        gdImageFilledRectangle(picture->image, box->x, box->y, box->x + all, bottom,
                               HEAP_LIGHT);
    if (range->live != 0)
        gdImageFilledRectangle(picture->image, box->x, box->y, box->x + live, bottom,
                               HEAP);
}

static void
draw_count(struct png_picture *picture, int x, int y, uint64_t count)
{
    const struct style style = {picture->layout.small, count != 0 ? INK : FRAME, RIGHT,
                                false};
    char text[UNITS_MAX];

    png_text(picture, x, y, &style, units_count_compact(text, sizeof text, count));
}

static void
draw_range(struct png_picture *picture, unsigned index, int y, uint64_t highest)
{
    const struct plot_box *box = &picture->layout.ranges;
    const struct range *range = &picture->plot->ranges[index];
    const struct style style = {picture->layout.small, INK, RIGHT, false};
    int line = picture->layout.text;
    int label = line * 4, number = line * 4, gap = line / 3;
    const struct plot_box bar = {box->x + label + gap, y + line / 5,
                                 box->width - label - gap - 2 * number, line * 5 / 8};

    png_text(picture, box->x + label, y, &style, ranges_label(index));
    draw_bar(picture, &bar, range, highest);
    draw_count(picture, box->x + box->width - number, y, range->allocated);
    draw_count(picture, box->x + box->width, y, range->live);
}

static bool
range_is_empty(const struct range *range)
{
    return range->allocated == 0 && range->live == 0;
}

static void
draw_ranges(struct png_picture *picture)
{
    const struct plot *plot = picture->plot;
    const struct plot_box *box = &picture->layout.ranges;
    const struct style heading = {picture->layout.small, INK_SOFT, RIGHT, false};
    int line = picture->layout.ranges_line;
    int y = box->y;
    uint64_t highest = 1;

    if (box->width == 0)
        return;
    for (unsigned i = 0; i < RANGE_COUNT; i++)
        if (plot->ranges[i].allocated > highest)
            highest = plot->ranges[i].allocated;
    png_text(picture, box->x + picture->layout.text * 4, y, &heading, plot->ranges_title);
    png_text(picture, box->x + box->width - picture->layout.text * 4, y, &heading,
              plot->ranges_allocated);
    png_text(picture, box->x + box->width, y, &heading, plot->ranges_live);
    y += line;
    gdImageLine(picture->image, box->x, y - 1, box->x + box->width, y - 1, GRID);
    for (unsigned i = 0; i < RANGE_COUNT && y + line <= box->y + box->height; i++) {
        if (picture->layout.ranges_tight && range_is_empty(&plot->ranges[i]))
            continue;
        draw_range(picture, i, y, highest);
        y += line;
    }
}

bool
memtop_png_draw(const struct plot *plot, size_t plot_size, FILE *out, char *error,
                size_t size)
{
    struct png_picture picture = {.plot = plot};
    const struct plot_ruler ruler = {png_text_width, &picture};
    bool drawn = false;

    if (plot_size != sizeof *plot) {
        snprintf(error, size, "%s",
                 _("memtop-png.so belongs to another version of memtop"));
        return false;
    }
    if (png_begin(&picture, plot->width, plot->height)) {
        plot_layout_new(plot, &ruler, &picture.layout);
        drawn = draw_chart(&picture);
        draw_axes(&picture);
        draw_head(&picture);
        draw_notes(&picture);
        draw_table(&picture);
        draw_ranges(&picture);
        drawn = png_finish(&picture, drawn, out, error, size);
    } else {
        png_no_memory(error, size);
    }
    return drawn;
}
