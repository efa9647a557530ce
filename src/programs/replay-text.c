/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records are written during a replay, so their numbers are plain and nothing allocates.
 * All other texts are written after it.
 */
#include "config.h"

#include "programs/replay-text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "base/textwidth.h"
#include "base/units.h"

struct text_writer {
    char *text;
    size_t size, used;
};

static void __attribute__((format(printf, 2, 3)))
add(struct text_writer *writer, const char *format, ...)
{
    va_list arguments;
    int length;

    if (writer->used >= writer->size)
        return;
    va_start(arguments, format);
    length = vsnprintf(writer->text + writer->used, writer->size - writer->used, format,
                       arguments);
    va_end(arguments);
    writer->used += length > 0 ? (size_t)length : 0;
}

static unsigned long
percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (unsigned long)((double)part * 100 / (double)whole + 0.5);
}

/* ---- records ---- */

/* The original puts its values into nine columns from column 18 on. */
#define NAME_COLUMNS 18
#define FIGURES_MAX (6 + ALLOCATOR_FIGURES_MAX)

/* Translations are looked up before the replay, because gettext() allocates. */
static const char *objects = N_("Objects"), *slots = N_("Slots"), *ops = N_("Ops"),
                  *requested = N_("requested"), *usable = N_("usable"), *rss = N_("rss");
/* TRANSLATORS: slop is memory inside blocks beyond what was requested. */
static const char *slop_in_all =
    N_("Total slop for all allocations: %luKiB/%luKiB (%lu%%)\n");
static const char *slop_objects = N_("Live sloppy objects: %lu/%lu (%lu%%)\n");
static const char *slop_bytes = N_("Live sloppy bytes: %luKiB/%luKiB (%lu%%)\n");

void
replay_text_prepare(void)
{
    const char **const texts[] = {
        &objects, &slots,       &ops,          &requested,  &usable,
        &rss,     &slop_in_all, &slop_objects, &slop_bytes,
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = _(*texts[i]);
        /* This may load tables of the character set. */
        text_columns(*texts[i]);
    }
}

struct figure {
    const char *name;
    uint64_t value;
};

static size_t
collect(const struct replay_record *record, struct figure figures[FIGURES_MAX])
{
    const struct replay_figures *from = record->figures;
    size_t count = 0;

    figures[count++] = (struct figure){objects, from->live_blocks};
    figures[count++] = (struct figure){slots, from->slots};
    figures[count++] = (struct figure){ops, from->calls};
    figures[count++] = (struct figure){requested, from->live_bytes};
    figures[count++] = (struct figure){usable, record->slop.usable};
    if (record->rss != REPLAY_UNKNOWN_BYTES)
        figures[count++] = (struct figure){rss, record->rss};
    for (size_t i = 0; i < record->told_count; i++)
        figures[count++] = (struct figure){record->told[i].name, record->told[i].bytes};
    return count;
}

static void
add_slop(struct text_writer *writer, const struct replay_record *record)
{
    const struct replay_figures *all = record->figures;
    const struct replay_slop *live = &record->slop;
    uint64_t total = all->usable - all->requested, bytes = live->usable - live->requested;

    add(writer, slop_in_all, (unsigned long)(total / 1024),
        (unsigned long)(all->usable / 1024), percent(total, all->usable));
    add(writer, slop_objects, (unsigned long)live->sloppy_blocks,
        (unsigned long)live->blocks, percent(live->sloppy_blocks, live->blocks));
    add(writer, slop_bytes, (unsigned long)(bytes / 1024),
        (unsigned long)(live->usable / 1024), percent(bytes, live->usable));
}

char *
replay_text_record(char *text, size_t size, const struct replay_record *record, bool slop)
{
    struct text_writer writer = {text, size, 0};
    struct figure figures[FIGURES_MAX];
    size_t count = collect(record, figures), columns = NAME_COLUMNS;

    for (size_t i = 0; i < count; i++)
        if (text_columns(figures[i].name) + 2 > columns)
            columns = text_columns(figures[i].name) + 2;
    add(&writer, "\n");
    for (size_t i = 0; i < count; i++) {
        int blanks = (int)(columns - text_columns(figures[i].name) - 1);
        add(&writer, "%s:%*s%9lu\n", figures[i].name, blanks, "",
            (unsigned long)figures[i].value);
    }
    if (slop)
        add_slop(&writer, record);
    return text;
}

/* ---- rows and columns ---- */

#define CELL_MAX 128
#define COLUMNS_MAX 9

struct cells {
    size_t rows, columns;
    char at[REPLAY_TABLE_MAX + 1][COLUMNS_MAX][CELL_MAX];
};

static void
set(struct cells *cells, size_t row, size_t column, const char *text)
{
    snprintf(cells->at[row][column], CELL_MAX, "%s", text);
}

static size_t
width_of(const struct cells *cells, size_t column)
{
    size_t width = 0;

    for (size_t row = 0; row < cells->rows; row++)
        if (text_columns(cells->at[row][column]) > width)
            width = text_columns(cells->at[row][column]);
    return width;
}

/* Names are left-aligned, values right-aligned. */
static void
add_cells(struct text_writer *writer, const struct cells *cells)
{
    char padded[4 * CELL_MAX];

    for (size_t row = 0; row < cells->rows; row++) {
        for (size_t column = 0; column < cells->columns; column++)
            add(writer, "%s%s", column > 0 ? "  " : "",
                text_pad(padded, sizeof padded, cells->at[row][column],
                         width_of(cells, column), column > 0 ? TEXT_RIGHT : TEXT_LEFT));
        add(writer, "\n");
    }
}

/* ---- values ---- */

static char *
format_seconds(char text[CELL_MAX], uint64_t ns)
{
    /* TRANSLATORS: seconds. */
    snprintf(text, CELL_MAX, _("%.3f s"), (double)ns / 1e9);
    return text;
}

static char *
format_ns_a_call(char text[CELL_MAX], const struct replay_figures *figures)
{
    double calls = figures->calls > 0 ? (double)figures->calls : 1;

    snprintf(text, CELL_MAX, "%.1f", (double)figures->cpu_ns / calls);
    return text;
}

static char *
format_bytes(char text[CELL_MAX], uint64_t bytes)
{
    return units_bytes(text, CELL_MAX, bytes, UNIT_AUTO);
}

/* The part of the resident memory that is not in live blocks, each at its peak.  Not
   known if the blocks were not written to. */
static char *
format_fragmentation(char text[CELL_MAX], const struct replay_result *result,
                     bool touched)
{
    uint64_t all = result->rss_peak, live = result->figures.peak_bytes;

    if (!touched || all == REPLAY_UNKNOWN_BYTES || all < live || all == 0)
        snprintf(text, CELL_MAX, "-");
    else
        snprintf(text, CELL_MAX, "%.1f%%", (double)(all - live) * 100 / (double)all);
    return text;
}

/* ---- the summary ---- */

static void
add_oddities(struct text_writer *writer, const struct replay_figures *figures)
{
    if (figures->failed > 0)
        add(writer,
            ngettext("%lu allocation failed\n", "%lu allocations failed\n",
                     figures->failed),
            (unsigned long)figures->failed);
    if (figures->lost > 0)
        add(writer,
            ngettext("%lu block was lost: its slot was reused\n",
                     "%lu blocks were lost: their slots were reused\n",
                     figures->lost),
            (unsigned long)figures->lost);
    if (figures->passed_over > 0)
        add(writer,
            ngettext("%lu line of other processes was skipped\n",
                     "%lu lines of other processes were skipped\n",
                     figures->passed_over),
            (unsigned long)figures->passed_over);
}

static void
add_untouched(struct text_writer *writer)
{
    add(writer, "%s\n",
        _("The blocks were not written to, so the RSS is lower than a real program's "
          "(see -c)."));
}

char *
replay_text_summary(char *text, size_t size, const struct replay_result *result,
                    bool touched)
{
    const struct replay_figures *figures = &result->figures;
    struct text_writer writer = {text, size, 0};
    char calls[CELL_MAX], time[CELL_MAX], cpu[CELL_MAX], each[CELL_MAX];
    char blocks[CELL_MAX], bytes[CELL_MAX], part[CELL_MAX];

    /* TRANSLATORS: number of calls, time, time, time, a name. */
    add(&writer,
        ngettext("%s call in %s (CPU %s), %s ns each in %s\n",
                 "%s calls in %s (CPU %s), %s ns each in %s\n", plural(figures->calls)),
        units_count(calls, sizeof calls, figures->calls),
        format_seconds(time, result->wall_ns), format_seconds(cpu, result->cpu_ns),
        format_ns_a_call(each, figures), result->allocator);
    /* TRANSLATORS: a size, number of blocks, a size, percent of the latter. */
    add(&writer,
        ngettext("at the peak: %s requested in %s block; RSS %s, fragmentation %s\n",
                 "at the peak: %s requested in %s blocks; RSS %s, fragmentation %s\n",
                 plural(figures->peak_blocks)),
        format_bytes(bytes, figures->peak_bytes),
        units_count(blocks, sizeof blocks, figures->peak_blocks),
        format_bytes(time, result->rss_peak),
        format_fragmentation(part, result, touched));
    add(&writer,
        ngettext("at the end: %s requested in %s block, %s usable; RSS %s\n",
                 "at the end: %s requested in %s blocks, %s usable; RSS %s\n",
                 plural(figures->live_blocks)),
        format_bytes(bytes, figures->live_bytes),
        units_count(blocks, sizeof blocks, figures->live_blocks),
        format_bytes(cpu, result->end.usable), format_bytes(time, result->rss_end));
    add_oddities(&writer, figures);
    if (!touched)
        add_untouched(&writer);
    return text;
}

/* ---- the table ---- */

static void
set_heads(struct cells *cells)
{
    const char *const heads[] = {
        _("allocator"), _("time"), _("CPU"),  _("ns a call"), _("page faults"),
        _("peak RSS"),  _("fragmentation"), _("RSS at end"), _("failed"),
    };

    cells->columns = sizeof heads / sizeof *heads;
    for (size_t i = 0; i < cells->columns; i++)
        set(cells, 0, i, heads[i]);
}

static void
set_result(struct cells *cells, size_t row, const struct replay_result *result,
           bool touched)
{
    char text[CELL_MAX];

    set(cells, row, 0, result->allocator);
    set(cells, row, 1, format_seconds(text, result->wall_ns));
    set(cells, row, 2, format_seconds(text, result->cpu_ns));
    set(cells, row, 3, format_ns_a_call(text, &result->figures));
    set(cells, row, 4, units_count(text, sizeof text, result->faults));
    set(cells, row, 5, format_bytes(text, result->rss_peak));
    set(cells, row, 6, format_fragmentation(text, result, touched));
    set(cells, row, 7, format_bytes(text, result->rss_end));
    set(cells, row, 8, units_count(text, sizeof text, result->figures.failed));
}

char *
replay_text_table(char *text, size_t size, const struct replay_result *results,
                  size_t count, bool touched)
{
    static struct cells cells;
    struct text_writer writer = {text, size, 0};
    const struct replay_figures *figures = &results[0].figures;
    char calls[CELL_MAX], bytes[CELL_MAX], blocks[CELL_MAX];

    *text = '\0';
    if (count == 0)
        return text;
    /* TRANSLATORS: continued by the next message: "3 calls, at the peak 84 B asked
       for...". */
    add(&writer, ngettext("%s call", "%s calls", plural(figures->calls)),
        units_count(calls, sizeof calls, figures->calls));
    /* TRANSLATORS: a size, number of blocks. */
    add(&writer,
        ngettext(", at the peak %s requested in %s block\n\n",
                 ", at the peak %s requested in %s blocks\n\n",
                 plural(figures->peak_blocks)),
        format_bytes(bytes, figures->peak_bytes),
        units_count(blocks, sizeof blocks, figures->peak_blocks));
    cells.rows = count + 1;
    set_heads(&cells);
    for (size_t i = 0; i < count; i++)
        set_result(&cells, i + 1, &results[i], touched);
    add_cells(&writer, &cells);
    if (!touched) {
        add(&writer, "\n");
        add_untouched(&writer);
    }
    return text;
}

const char *
replay_text_reason(enum replay_verdict why)
{
    switch (why) {
    case REPLAY_UNKNOWN:
        return _("unknown function");
    case REPLAY_NO_RESULT:
        return _("an allocation without a result");
    case REPLAY_SLOT:
        return _("the slot number is too large");
    default:
        return _("not a line of a munged log");
    }
}
