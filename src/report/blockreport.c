/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reports as text for people: one table each, figures right-aligned. */
#include "config.h"

#include "report/blockreport.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "report/facts.h"
#include "base/textwidth.h"
#include "base/units.h"

#define COLUMN_COLS 14
#define LABEL_COLS  25
#define CELLS_MAX   6

void
blockreport_counts(const struct blockparams *params, bool compat, struct counts *counts)
{
    *counts = params->counts;
    if (compat) {
        counts_default(counts);
        counts->kind = params->counts.kind;
        counts->factor = params->counts.factor;
        counts->base = params->counts.base;
    } else if (!params->group) {
        counts->kind = COUNTS_LINEAR;
        counts->factor = 1;
    }
}

/* ---- the order ---- */

struct ranked {
    uint32_t place;
    uint64_t count, size;
};

static int
by_size(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    return a->size < b->size ? -1 : a->size > b->size;
}

static int
by_count(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    return a->count > b->count ? -1 : a->count < b->count ? 1 : by_size(left, right);
}

uint32_t *
blockreport_order(const struct blocksizes *blocks, enum block_sort sort, bool peaks)
{
    size_t count = blocksizes_count(blocks);
    struct ranked *ranked = calloc(count + 1, sizeof *ranked);
    uint32_t *order = calloc(count + 1, sizeof *order);

    if (ranked == NULL || order == NULL) {
        free(ranked);
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const struct blocksize *size = blocksizes_at(blocks, i);

        ranked[i] = (struct ranked){(uint32_t)i, peaks ? size->peak : size->allocations,
                                    size->size};
    }
    if (sort != BLOCK_UNSORTED)
        qsort(ranked, count, sizeof *ranked, sort == BLOCK_BY_SIZE ? by_size : by_count);
    for (size_t i = 0; i < count; i++)
        order[i] = ranked[i].place;
    free(ranked);
    return order;
}

/* ---- lines ---- */

/* Writes the cells of a line, each in its column; the last argument is NULL. */
static void
line(FILE *out, const char *first, ...)
{
    char padded[256];
    va_list cells;

    va_start(cells, first);
    for (const char *cell = first; cell != NULL; cell = va_arg(cells, const char *)) {
        size_t cols = text_columns(cell);

        fputs(cols >= COLUMN_COLS ? " " : "", out);
        fputs(cols >= COLUMN_COLS
                  ? cell
                  : text_pad(padded, sizeof padded, cell, COLUMN_COLS, TEXT_RIGHT),
              out);
    }
    va_end(cells);
    fputc('\n', out);
}

static const char *
number(char text[UNITS_MAX], uint64_t value)
{
    return units_count(text, UNITS_MAX, value);
}

static const char *
share(char text[UNITS_MAX], uint64_t part, uint64_t whole)
{
    snprintf(text, UNITS_MAX, "%.1f%%",
             whole > 0 ? (double)part * 100 / (double)whole : 0.0);
    return text;
}

static bool
has_time(const struct blocksizes *blocks)
{
    return blocksizes_tick_ns(blocks) != BLOCKSIZES_NO_CLOCK;
}

/* Milliseconds, or events if there are no times. */
static const char *
duration(char text[UNITS_MAX], const struct blocksizes *blocks, uint64_t ticks)
{
    double ms = (double)ticks * (double)blocksizes_tick_ns(blocks) / 1e6;

    if (!has_time(blocks))
        return number(text, ticks);
    snprintf(text, UNITS_MAX, "%.3f", ms);
    return text;
}

/* ---- the reports ---- */

static void
write_overview(FILE *out, const struct blockreport *report)
{
    const struct blocksizes_sum sum = blocksizes_total(report->blocks);
    char text[UNITS_MAX], time[UNITS_MAX], both[2 * UNITS_MAX + 32];
    struct fact_list facts = {.count = 0};

    fprintf(out, "\n%s\n", _("Overview"));
    facts_add(&facts, _("allocations"), number(text, sum.allocations));
    facts_add(&facts, _("sizes"), number(text, blocksizes_count(report->blocks)));
    facts_add(&facts, _("allocated"),
              units_bytes(text, sizeof text, sum.bytes, UNIT_BYTES));
    snprintf(both, sizeof both, "%.1f %s",
             sum.allocations > 0 ? (double)sum.bytes / (double)sum.allocations : 0.0,
             _("B"));
    facts_add(&facts, _("average size"), both);
    snprintf(both, sizeof both,
             /* TRANSLATORS: a size, and when: a time in ms, or the number of a call. */
             has_time(report->blocks) ? _("%s, at %s ms") : _("%s, at event %s"),
             units_bytes(text, sizeof text, sum.peak_bytes, UNIT_BYTES),
             duration(time, report->blocks, sum.peak_time));
    facts_add(&facts, _("peak"), both);
    snprintf(both, sizeof both,
             /* TRANSLATORS: a number of blocks, and their size. */
             ngettext("%s block, %s", "%s blocks, %s", plural(sum.live_blocks)),
             number(time, sum.live_blocks),
             units_bytes(text, sizeof text, sum.live_bytes, UNIT_BYTES));
    facts_add(&facts, report->runs ? _("live now") : _("live at the end"), both);
    if (sum.before > 0)
        facts_add(&facts, _("live before the first call"),
                  units_bytes(text, sizeof text, sum.before, UNIT_BYTES));
    if (sum.unknown > 0)
        facts_add(&facts,
                  sum.before > 0 ? _("frees of earlier blocks")
                                 : _("frees of unknown blocks"),
                  number(text, sum.unknown));
    if (sum.replaced > 0)
        facts_add(&facts, _("frees not recorded"), number(text, sum.replaced));
    facts_write(out, &facts, LABEL_COLS);
}

static void
write_sizes(FILE *out, const struct blocksizes *blocks, const uint32_t *order)
{
    const struct blocksizes_sum sum = blocksizes_total(blocks);
    char cells[CELLS_MAX][UNITS_MAX];

    fprintf(out, "\n%s\n", _("Allocations by block size"));
    line(out, _("size"), _("allocations"), _("share"), _("bytes"), _("live"),
         (char *)NULL);
    for (size_t i = 0; i < blocksizes_count(blocks); i++) {
        const struct blocksize *size = blocksizes_at(blocks, order[i]);
        uint64_t bytes;

        if (__builtin_mul_overflow(size->size, size->allocations, &bytes))
            bytes = UINT64_MAX - 1; /* UINT64_MAX means "unknown" */
        line(out, number(cells[0], size->size), number(cells[1], size->allocations),
             share(cells[2], size->allocations, sum.allocations),
             number(cells[3], bytes), number(cells[4], size->live), (char *)NULL);
    }
}

static void
write_peaks(FILE *out, const struct blocksizes *blocks, const uint32_t *order)
{
    char cells[CELLS_MAX][UNITS_MAX];

    fprintf(out, "\n%s\n", _("Most blocks live at once"));
    line(out, _("size"), _("peak"), _("live"), _("allocations"), (char *)NULL);
    for (size_t i = 0; i < blocksizes_count(blocks); i++) {
        const struct blocksize *size = blocksizes_at(blocks, order[i]);

        line(out, number(cells[0], size->size), number(cells[1], size->peak),
             number(cells[2], size->live), number(cells[3], size->allocations),
             (char *)NULL);
    }
}

static void
write_size_times(FILE *out, const struct blocksizes *blocks, const struct blocksize *size,
                 uint64_t end)
{
    char first[UNITS_MAX], cells[CELLS_MAX][UNITS_MAX];
    uint64_t lo, hi, spent;

    number(first, size->size);
    for (uint32_t level = 1; level <= blocksize_levels(size); level++) {
        spent = blocksize_spent(size, level, end);
        if (spent == 0)
            continue;
        counts_bounds(blocksizes_counts(blocks), level, &lo, &hi);
        line(out, first, counts_text(cells[0], UNITS_MAX, lo, hi),
             duration(cells[1], blocks, spent), share(cells[2], spent, end),
             (char *)NULL);
        first[0] = '\0'; /* shown once per size */
    }
}

static void
write_times(FILE *out, const struct blocksizes *blocks, const uint32_t *order)
{
    uint64_t end = blocksizes_total(blocks).end;
    char time[UNITS_MAX], title[256];

    snprintf(title, sizeof title,
             has_time(blocks)
                 ? _("Time by number of blocks live at once, of %s ms")
                 : ngettext("Time by number of blocks live at once, of %s event",
                            "Time by number of blocks live at once, of %s events",
                            plural(end)),
             duration(time, blocks, end));
    fprintf(out, "\n%s\n", title);
    line(out, _("size"), _("at once"), has_time(blocks) ? _("ms") : _("events"),
         _("share"), (char *)NULL);
    for (size_t i = 0; i < blocksizes_count(blocks); i++)
        write_size_times(out, blocks, blocksizes_at(blocks, order[i]), end);
}

/* Writes a table that is ordered by its own counts. */
static bool
write_table(FILE *out, const struct blockreport *report, bool peaks,
            void (*write)(FILE *, const struct blocksizes *, const uint32_t *))
{
    uint32_t *order = blockreport_order(report->blocks, report->params->sort, peaks);

    if (order == NULL)
        return false;
    write(out, report->blocks, order);
    free(order);
    return true;
}

static void
write_log(FILE *out, const struct blockreport *report)
{
    char name[PATH_MAX];

    text_sanitise(name, sizeof name, report->log_name, strlen(report->log_name));
    if (report->log_error == NULL)
        /* TRANSLATORS: the name of a file. */
        fprintf(out, _("\nLog file: %s\n"), name);
    else
        fprintf(out, _("\nLog file: %s is not written: %s\n"), name, report->log_error);
}

bool
blockreport_text(FILE *out, const struct blockreport *report)
{
    unsigned reports = report->params->reports;
    char caption[1024];
    bool complete = true;

    fprintf(out, "%s\n", text_sanitise(caption, sizeof caption, report->caption,
                                       strlen(report->caption)));
    if (blocksizes_count(report->blocks) == 0)
        fprintf(out, "%s\n", _("No allocation is recorded."));
    if (reports & BLOCK_OVERVIEW)
        write_overview(out, report);
    if (blocksizes_count(report->blocks) > 0) {
        if (reports & BLOCK_SIZES)
            complete = write_table(out, report, false, write_sizes);
        if (reports & BLOCK_PEAKS)
            complete = write_table(out, report, true, write_peaks) && complete;
        if (reports & BLOCK_TIMES)
            complete = write_table(out, report, false, write_times) && complete;
    }
    if (report->log_name != NULL)
        write_log(out, report);
    return fflush(out) == 0 && !ferror(out) && complete;
}
