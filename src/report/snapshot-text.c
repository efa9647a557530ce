/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of a saved snapshot: what the display shows, complete and in full figures.
 * Columns are measured, so translations of any width line up.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/i18n.h"
#include "report/rss-lines.h"
#include "report/facts.h"
#include "segment/functions.h"
#include "report/ranges.h"
#include "report/site-report.h"
#include "report/snapshot.h"
#include "report/summary.h"
#include "report/textgraph.h"
#include "base/textwidth.h"

#define TEXT_MAX  1024
#define FACT_COLS 22
#define NAME_COLS 15  /* the longest function name and a blank */
#define BAR_COLS  40
#define BAND_COLS  12
#define BYTES_COLS 14
#define SHARE_COLS 5

/* State while a snapshot is written. */
struct snapshot_writer {
    FILE *out;
    const struct process *process;
    enum unit unit;
    struct fact_list *facts; /* names and values of the part being written */
};

static void
write_heading(const struct snapshot_writer *writer, const char *heading)
{
    fprintf(writer->out, "\n%s\n", heading);
}

/* "248.3 MiB (260358144)", or "-" if unknown. */
static void
add_bytes(const struct snapshot_writer *writer, const char *name, uint64_t bytes)
{
    char text[UNITS_MAX], value[2 * UNITS_MAX];

    units_bytes(text, sizeof text, bytes, writer->unit);
    snprintf(value, sizeof value, bytes == UNITS_UNKNOWN ? "%s" : "%s (%" PRIu64 ")",
             text, bytes);
    facts_add(writer->facts, name, value);
}

static void
add_count(const struct snapshot_writer *writer, const char *name, uint64_t count)
{
    char text[UNITS_MAX];

    facts_add(writer->facts, name, units_count(text, sizeof text, count));
}

static void
add_rate(const struct snapshot_writer *writer, const char *name, double rate)
{
    char text[UNITS_MAX];

    facts_add(
        writer->facts, name,
        units_rate(text, sizeof text, report_rate(writer->process, rate), writer->unit));
}

/* Date and time of the snapshot; "-" if unknown. */
static const char *
date_of(const struct tracked *tracked, char *date, size_t size)
{
    time_t when =
        tracked->saved_epoch_s != 0 ? (time_t)tracked->saved_epoch_s : time(NULL);
    struct tm local;

    if (tracked->saved_epoch_s == SAVED_SOMETIME || localtime_r(&when, &local) == NULL
        || strftime(date, size, "%Y-%m-%d %H:%M:%S", &local) == 0)
        return "-";
    return date;
}

static void
write_head(const struct snapshot_writer *writer, const struct tracked *tracked)
{
    const struct process *process = writer->process;
    const char *command = tracked_command(tracked);
    char clean[TEXT_MAX], duration[UNITS_MAX], date[64];

    fprintf(writer->out, "%s %s: %s\n", PACKAGE_NAME, PACKAGE_VERSION,
            text_sanitise(clean, sizeof clean, command, strlen(command)));
    if (process->missing & PART_COUNTERS)
        return;
    /* TRANSLATORS: date and time, process number, state, run time. */
    fprintf(writer->out, _("%s, pid %d, %s, %s after the start\n"),
            date_of(tracked, date, sizeof date), (int)process->pid,
            process_state_word(process->state),
            units_duration(duration, sizeof duration, process->run_ns));
    if (process->state == STATE_EXITED && WIFEXITED(process->wait_status))
        fprintf(writer->out, _("exit status %d\n"), WEXITSTATUS(process->wait_status));
    if (process->state == STATE_KILLED && WIFSIGNALED(process->wait_status))
        fprintf(writer->out, _("killed by signal %d\n"), WTERMSIG(process->wait_status));
}

static void
add_heap(const struct snapshot_writer *writer)
{
    const struct snapshot *now = &writer->process->now;
    const struct rates *rates = &writer->process->rates;

    add_bytes(writer, _("heap"), now->live_bytes);
    add_bytes(writer, _("heap peak"), now->peak_bytes);
    if (!process_knows(writer->process, PART_COUNTERS)) {
        add_bytes(writer, _("stack"), report_stack(writer->process, now->stack_now));
        add_bytes(writer, _("stack peak"),
                  report_stack(writer->process, now->stack_peak));
        facts_add(writer->facts, _("calls"), _("not recorded"));
        return;
    }
    add_bytes(writer, _("total allocated"), now->total_bytes);
    add_count(writer, _("live blocks"), now->live_blocks);
    add_rate(writer, _("allocated"), rates->bytes_allocated);
    add_rate(writer, _("freed"), rates->bytes_freed);
    add_bytes(writer, _("stack"), report_stack(writer->process, now->stack_now));
    add_bytes(writer, _("stack peak"), report_stack(writer->process, now->stack_peak));
    if (writer->process->stack_touched != 0)
        add_bytes(writer, _("stack touched"), writer->process->stack_touched);
    add_count(writer, _("threads"), now->threads);
    add_count(writer, _("threads started"), now->threads_started);
}

static void
add_system(const struct snapshot_writer *writer)
{
    const struct process *process = writer->process;
    int coverage = process_coverage(process);
    char text[UNITS_MAX];

    if (process->os_known) {
        add_bytes(writer, _("RSS"), process->os.rss);
        add_bytes(writer, _("RSS peak"), process->rss_peak);
        add_bytes(writer, _("anonymous RSS"), process->os.rss_anon);
    }
    if (coverage >= 0) {
        snprintf(text, sizeof text, "%d%%", coverage);
        facts_add(writer->facts, _("coverage"), text);
    }
    if (process->children_seen != 0 || process->children != 0)
        add_count(writer, _("child processes"), process->children);
}

/* Writes the RSS breakdown. */
static void
write_rss(const struct snapshot_writer *writer)
{
    const struct rss_breakdown *breakdown = &writer->process->breakdown;
    char text[TEXT_MAX], padded[TEXT_MAX], time[UNITS_MAX];

    if (!breakdown->known)
        return;
    fputc('\n', writer->out);
    fprintf(writer->out, _("Where the RSS went, read at %s"),
            units_duration(time, sizeof time, breakdown->run_ns));
    fputc('\n', writer->out);
    for (int line = 0; line < BANDLINE_COUNT; line++) {
        if (!rss_line_shown(breakdown, line))
            continue;
        fprintf(
            writer->out, "  %s",
            text_pad(padded, sizeof padded, rss_line_word(line), BAND_COLS, TEXT_LEFT));
        units_bytes(text, sizeof text, rss_line_bytes(breakdown, line), writer->unit);
        fprintf(writer->out, " %s",
                text_pad(padded, sizeof padded, text, BYTES_COLS, TEXT_RIGHT));
        rss_line_share(text, sizeof text, breakdown, line);
        fprintf(writer->out, " %s",
                text_pad(padded, sizeof padded, line < BAND_COUNT ? text : "", SHARE_COLS,
                         TEXT_RIGHT));
        fprintf(writer->out, "  %s\n", rss_line_meaning(breakdown, line));
    }
}

static void
write_cell(const struct snapshot_writer *writer, const char *text, size_t columns)
{
    char padded[TEXT_MAX];

    fprintf(writer->out, " %s",
            text_pad(padded, sizeof padded, text, columns, TEXT_RIGHT));
}

static void
write_reallocs(const struct snapshot_writer *writer)
{
    const struct snapshot *now = &writer->process->now;
    char in_place[UNITS_MAX], shrunk[UNITS_MAX], freed[UNITS_MAX];

    /* TRANSLATORS: numbers of calls of realloc: address unchanged, made smaller,
       freed. */
    fprintf(writer->out, _("  in place %s, shrunk %s, freed %s"),
            units_count(in_place, sizeof in_place, now->realloc_inplace),
            units_count(shrunk, sizeof shrunk, now->realloc_dec),
            units_count(freed, sizeof freed, now->realloc_freed));
}

static void
write_call(const struct snapshot_writer *writer, enum segment_function function)
{
    const struct snapshot *now = &writer->process->now;
    char text[UNITS_MAX];

    fprintf(writer->out, "  %-*s", NAME_COLS, report_function_names[function]);
    write_cell(writer, units_count(text, sizeof text, now->calls[function]), 15);
    write_cell(
        writer,
        units_count(text, sizeof text, report_calls_rate(writer->process, function)), 11);
    write_cell(writer,
               units_bytes(text, sizeof text, now->bytes[function], writer->unit), 14);
    if (function != FN_FREE)
        write_cell(
            writer,
            units_count(text, sizeof text, report_failed(writer->process, function)), 9);
    if (function == FN_REALLOC)
        write_reallocs(writer);
    if (function == FN_FREE && now->free_null != 0)
        fprintf(writer->out, "  free(NULL) %s",
                units_count(text, sizeof text, now->free_null));
    fputc('\n', writer->out);
}

static void
write_calls(const struct snapshot_writer *writer)
{
    write_heading(writer, _("Calls"));
    fprintf(writer->out, "  %-*s", NAME_COLS, "");
    write_cell(writer, _("calls"), 15);
    /* TRANSLATORS: heading of a column, at most 11 columns. */
    write_cell(writer, _("calls/s"), 11);
    write_cell(writer, _("total"), 14);
    /* TRANSLATORS: heading of a column, at most 9 columns: calls that failed. */
    write_cell(writer, _("failed"), 9);
    fputc('\n', writer->out);
    for (unsigned i = 0; i < FN_COUNT; i++)
        if (i <= FN_FREE || writer->process->now.calls[i] != 0)
            write_call(writer, i);
}

static void
write_range(const struct snapshot_writer *writer, unsigned index,
            const struct range *range, uint64_t highest)
{
    char text[UNITS_MAX];
    unsigned bar = (unsigned)((double)range->allocated / (double)highest * BAR_COLS);

    write_cell(writer, ranges_label(index), 11);
    write_cell(writer, units_count(text, sizeof text, range->allocated), 14);
    write_cell(writer, units_count(text, sizeof text, range->live), 14);
    if (bar > 0)
        fprintf(writer->out, "  %.*s", (int)bar,
                "########################################");
    fputc('\n', writer->out);
}

static void
write_ranges(const struct snapshot_writer *writer)
{
    struct range ranges[RANGE_COUNT];
    uint64_t highest = 1;

    ranges_sum(&writer->process->sizes, ranges);
    for (unsigned i = 0; i < RANGE_COUNT; i++)
        if (ranges[i].allocated > highest)
            highest = ranges[i].allocated;
    write_heading(writer, _("Block sizes"));
    write_cell(writer, "", 11);
    write_cell(writer, _("allocated"), 14);
    /* TRANSLATORS: heading of a column of counts: blocks alive now. */
    write_cell(writer, _("live"), 14);
    fputc('\n', writer->out);
    for (unsigned i = 0; i < RANGE_COUNT; i++)
        write_range(writer, i, &ranges[i], highest);
}

static void
write_graph(const struct snapshot_writer *writer, const struct history *history)
{
    bool measured = writer->process->measured;

    if (writer->process->missing & PART_CLOCK)
        return; /* its axis would have no labels */
    write_heading(writer, measured ? _("Heap over the run") : _("RSS over the run"));
    textgraph_write(writer->out, history, measured ? SERIES_HEAP : SERIES_RSS,
                    writer->process->run_ns, writer->unit);
}

static void
write_why_not(const struct snapshot_writer *writer)
{
    const char *text = writer->process->why_not;
    char why[TEXT_MAX];

    text_sanitise(why, sizeof why, text, strnlen(text, sizeof writer->process->why_not));
    fprintf(writer->out, _("not measured: %s"),
            *why != '\0' ? why : process_state_word(writer->process->state));
    fputc('\n', writer->out);
}

void
snapshot_write(FILE *out, const struct tracked *tracked, enum unit unit)
{
    const struct process *process = &tracked->process;
    struct fact_list facts = {.count = 0};
    const struct snapshot_writer writer = {out, process, unit, &facts};

    write_head(&writer, tracked);
    if (!process->measured)
        write_why_not(&writer);
    write_heading(&writer, _("Memory"));
    if (process->measured)
        add_heap(&writer);
    add_system(&writer);
    facts_write(out, &facts, FACT_COLS);
    write_rss(&writer);
    if (process_knows(process, PART_COUNTERS))
        write_calls(&writer);
    if (process_knows(process, PART_SIZES))
        write_ranges(&writer);
    const struct site_report sites = {
        .tracked = tracked, .top = SITE_REPORT_TOP, .unit = unit, .servers_asked = true};
    report_sites(out, &sites);
    write_graph(&writer, tracked->history);
    if (process->measured) {
        fputc('\n', out);
        report_remarks(out, process);
    }
}
