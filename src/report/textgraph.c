/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A filled graph made of characters.  If the charset has them, a column ends in eighths
 * of a block, otherwise in '.' or ':'.  A time that was not measured is blank; a value
 * above zero never is.
 */
#include "config.h"

#include "report/textgraph.h"

#include <langinfo.h>
#include <stdbool.h>
#include <string.h>

#include "report/plot-layout.h"
#include "base/textwidth.h"

#define ROWS    10
#define COLUMNS 66
#define LABEL   11   /* columns left of the axis */
#define TICK    22   /* columns from one time to the next */

static const char *const blocks[]
    = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii[] = {" ", ".", ".", ".", ":", ":", ":", ":", "#"};

/* How many eighths of a cell are filled; row 0 is the lowest. */
static unsigned
filled(const struct column *column, double top, unsigned row)
{
    double eighths = (double)column->max / top * ROWS * 8;
    double here = eighths - row * 8.0;

    if (!column->known || column->max == 0)
        return 0;
    if (row == 0 && here < 1)
        return 1;
    return here <= 0 ? 0 : here >= 8 ? 8 : (unsigned)here;
}

static void
write_row(FILE *out, const struct column *columns, const struct plot_scale *scale,
          unsigned row, enum unit unit)
{
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    const char *const *cells = utf8 ? blocks : ascii;
    unsigned per_interval = ROWS / scale->intervals;
    char label[UNITS_MAX] = "", padded[2 * UNITS_MAX];
    unsigned used = COLUMNS;

    /* A label is the value at the upper edge of its row. */
    if ((row + 1) % per_interval == 0)
        units_tick(label, sizeof label,
                   scale->step / scale->unit_bytes * ((row + 1) / per_interval),
                   scale->unit_step, scale->decimals, unit);
    text_pad(padded, sizeof padded, label, LABEL, TEXT_RIGHT);
    fprintf(out, "%s %s", padded, label[0] == '\0' ? "|" : "+");
    while (used > 0 && filled(&columns[used - 1], plot_scale_top(scale), row) == 0)
        used--;
    for (unsigned i = 0; i < used; i++)
        fputs(cells[filled(&columns[i], plot_scale_top(scale), row)], out);
    fputc('\n', out);
}

static void
write_times(FILE *out, int64_t to_ns)
{
    char label[UNITS_MAX], padded[2 * UNITS_MAX];
    int64_t step = to_ns / (COLUMNS / TICK);

    fprintf(out, "%*s +", LABEL, "0");
    for (unsigned i = 0; i < COLUMNS; i++)
        fputc(i % TICK == TICK - 1 ? '+' : '-', out);
    fprintf(out, "\n%*s", LABEL + 1, "");
    for (unsigned i = 1; i <= COLUMNS / TICK; i++) {
        units_time_tick(label, sizeof label, step * i, step, to_ns);
        fputs(text_pad(padded, sizeof padded, label, TICK, TEXT_RIGHT), out);
    }
    fputc('\n', out);
}

/* The finest of the scales whose intervals divide the rows. */
static struct plot_scale
row_scale(double highest, enum unit unit)
{
    struct plot_scale five = plot_scale_match(highest, 5, unit);
    struct plot_scale two = plot_scale_match(highest, 2, unit);

    return plot_scale_top(&two) < plot_scale_top(&five) ? two : five;
}

void
textgraph_write(FILE *out, const struct history *history, enum series series,
                int64_t to_ns, enum unit unit)
{
    struct column columns[COLUMNS];
    struct plot_scale scale;
    uint64_t highest = 0;
    bool known = false;

    plot_columns(history, series, to_ns, columns, COLUMNS);
    for (unsigned i = 0; i < COLUMNS; i++) {
        known |= columns[i].known;
        if (columns[i].known && columns[i].max > highest)
            highest = columns[i].max;
    }
    if (!known)
        return;
    scale = row_scale((double)highest, unit);
    for (unsigned row = ROWS; row-- > 0;)
        write_row(out, columns, &scale, row, unit);
    write_times(out, to_ns);
}
