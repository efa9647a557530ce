/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns steps into columns, one per pixel; steps shorter than a pixel are kept as its
   lowest and highest count. */
#include "config.h"

#include "report/blockplot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "report/blockreport.h"
#include "report/png.h"
#include "base/textwidth.h"
#include "base/units.h"

/* State of a line while its steps are read. */
struct tracing {
    struct blockplot *plot;
    struct blockplot_line *line;
    uint64_t end;       /* in ticks */
    uint64_t level;
    size_t column;      /* the current one */
};

static size_t
column_of(const struct tracing *tracing, uint64_t time)
{
    size_t columns = tracing->plot->columns;
    double at = (double)time / (double)tracing->end * (double)columns;

    return at < (double)columns ? (size_t)at : columns - 1;
}

/* Fills the columns after the current one, up to column, with the current level. */
static void
go_to(struct tracing *tracing, size_t column)
{
    for (; tracing->column < column; tracing->column++)
        tracing->line->columns[tracing->column + 1] = (struct blockplot_column){
            tracing->level, tracing->level, tracing->level};
}

static void
take(void *context, uint64_t time, uint64_t level)
{
    struct tracing *tracing = context;
    struct blockplot_column *column;

    go_to(tracing, column_of(tracing, time));
    tracing->level = level;
    column = &tracing->line->columns[tracing->column];
    if (level < column->lowest)
        column->lowest = level;
    if (level > column->highest)
        column->highest = level;
    column->last = level;
    if (level > tracing->plot->highest)
        tracing->plot->highest = level;
}

static bool
add_line(struct blockplot *plot, const struct blocksizes *blocks,
         const struct blocklog *log, uint32_t place)
{
    struct blockplot_line *line = &plot->line[plot->lines];
    char size[UNITS_MAX];
    uint64_t end = blocksizes_total(blocks).end, ground = blocklog_ground(log);
    struct tracing tracing = {plot, line, end > 0 ? end : 1, ground, 0};

    line->columns = calloc(plot->columns, sizeof *line->columns);
    if (line->columns == NULL)
        return false;
    plot->lines++;
    line->columns[0] = (struct blockplot_column){ground, ground, ground};
    blocklog_each(log, place, take, &tracing);
    go_to(&tracing, plot->columns - 1);
    text_utf8(line->legend, sizeof line->legend,
              units_bytes(size, sizeof size, blocksizes_at(blocks, place)->size,
                          UNIT_BYTES));
    return true;
}

/* Adds lines for the sizes with most live blocks, of those whose steps are kept. */
static bool
add_lines(struct blockplot *plot, const struct blocksizes *blocks,
          const struct blocklog *log, unsigned most)
{
    uint32_t *order = blockreport_order(blocks, BLOCK_BY_COUNT, true);
    bool made = order != NULL;

    for (size_t i = 0; made && i < blocksizes_count(blocks) && plot->lines < most; i++)
        if (blocklog_has(log, order[i]))
            made = add_line(plot, blocks, log, order[i]);
    free(order);
    return made;
}

static void
describe(struct blockplot *plot, const struct blocksizes *blocks,
         const struct blockplot_options *options)
{
    const struct blocksizes_sum sum = blocksizes_total(blocks);
    char made[UNITS_MAX], sizes[UNITS_MAX], peak[UNITS_MAX], text[PLOT_TEXT_MAX];

    text_utf8(plot->title, sizeof plot->title, options->title);
    /* TRANSLATORS: three figures: two numbers and a size. */
    snprintf(text, sizeof text, _("sizes %s, allocations %s, peak %s"),
             units_count(sizes, sizeof sizes, blocksizes_count(blocks)),
             units_count(made, sizeof made, sum.allocations),
             units_bytes(peak, sizeof peak, sum.peak_bytes, UNIT_AUTO));
    text_utf8(plot->subtitle, sizeof plot->subtitle, text);
    text_utf8(plot->axis, sizeof plot->axis, _("live blocks"));
    if (sum.allocations == 0)
        text_utf8(plot->note, sizeof plot->note, _("No allocation is recorded."));
}

struct blockplot *
blockplot_new(const struct blocksizes *blocks, const struct blocklog *log,
              const struct blockplot_options *options)
{
    struct blockplot *plot = calloc(1, sizeof *plot);
    const struct plot_options sides = {.width = options->width,
                                       .height = options->height};
    uint64_t tick_ns = blocksizes_tick_ns(blocks), end = blocksizes_total(blocks).end;
    unsigned most = options->counts;
    struct plot sized;

    if (plot == NULL)
        return NULL;
    plot_set_size(&sized, &sides);
    plot->width = sized.width;
    plot->height = sized.height;
    plot->columns = (size_t)plot->width;
    plot->clock = tick_ns != BLOCKSIZES_NO_CLOCK;
    plot->end = plot->clock ? end * tick_ns : end;
    if (plot->end == 0)
        plot->end = 1;
    plot->highest = 1;
    describe(plot, blocks, options);
    if (!add_lines(plot, blocks, log,
                   most < BLOCKPLOT_LINES_MAX ? most : BLOCKPLOT_LINES_MAX)) {
        blockplot_free(plot);
        return NULL;
    }
    return plot;
}

void
blockplot_free(struct blockplot *plot)
{
    if (plot == NULL)
        return;
    for (unsigned i = 0; i < plot->lines; i++)
        free(plot->line[i].columns);
    free(plot);
}

static bool
draw(const void *plot, void *function, FILE *out, char *error, size_t size)
{
    return ((blockplot_draw_function *)function)(plot, sizeof(struct blockplot), out,
                                                 error, size);
}

bool
blockplot_write(const struct blocksizes *blocks, const struct blocklog *log,
                const struct blockplot_options *options, const char *path, char *error,
                size_t size)
{
    struct png_drawing drawing = {.symbol = BLOCKPLOT_SYMBOL, .draw = draw};
    struct blockplot *plot;
    bool written;

    png_speak(options->module);
    drawing.plot = plot = blockplot_new(blocks, log, options);
    png_spoken();
    if (plot == NULL) {
        snprintf(error, size, _("cannot write %s: %s"), path, strerror(ENOMEM));
        return false;
    }
    written = png_write_drawing(&drawing, options->module, path, false, error, size);
    blockplot_free(plot);
    return written;
}
