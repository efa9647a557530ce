/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memusage's report, from a process's counters.  Its text is never translated and its
 * spaces are part of the format; scripts cut it by columns and regular expressions.  The
 * differences are deliberate: there are rows for the aligned functions (only if called),
 * whose bytes are part of the totals; mappings are not heap; colours only on request.
 *
 * The remarks after the histogram are memtop's own and translated.
 */
#include "config.h"

#include "report/summary.h"

#include <inttypes.h>
#include <string.h>

#include "base/i18n.h"
#include "base/textwidth.h"
#include "segment/functions.h"
#include "base/units.h"
#include "base/figures.h"

#define BAR_COLUMNS  50
#define NAME_COLUMNS 7
/* Coverage is reported if less than this percentage of at least this much memory is
   seen. */
#define COVERAGE_LOW       50
#define COVERAGE_MIN_BYTES (UINT64_C(4) << 20)

/* memusage's escape sequences, or empty strings. */
struct palette {
    const char *title, *title_end;
    const char *heading, *heading_end;
    const char *name, *name_end;
    const char *failed, *failed_end;
    const char *bar, *bar_end;
};

static const struct palette plain = {"", "", "", "", "", "", "", "", "", ""};
static const struct palette coloured = {
    .title = "\033[01;32m",
    .title_end = "\033[0;0m",
    .heading = "\033[04;34m",
    .heading_end = "\033[0m",
    .name = "\033[00;34m",
    .name_end = "\033[0m",
    .failed = "\033[01;41m",
    .failed_end = "\033[00;00m",
    .bar = "\033[41;37m",
    .bar_end = "\033[0;0m",
};

uint64_t
report_bytes(const struct snapshot *snapshot, enum segment_function function)
{
    if (function == FN_FREE)
        return snapshot->bytes[function];
    return add_saturating(snapshot->bytes[function], snapshot->failed_bytes[function]);
}

uint64_t
report_failed(const struct process *process, enum segment_function function)
{
    uint64_t failed = process->now.failed[function];

    /* Single failures may be known even if most are not. */
    return failed > 0 || process_knows(process, PART_VAIN) ? failed : UNITS_UNKNOWN;
}

uint64_t
report_stack(const struct process *process, uint64_t depth)
{
    return process->missing & PART_STACK ? UNITS_UNKNOWN : depth;
}

double
report_rate(const struct process *process, double rate)
{
    return process->missing & PART_CLOCK ? -1 : rate;
}

uint64_t
report_calls_rate(const struct process *process, enum segment_function function)
{
    double rate = report_rate(process, process->rates.calls[function]);

    if (rate < 0)
        return UNITS_UNKNOWN;
    return rate < 1e18 ? (uint64_t)(rate + 0.5) : 0;
}

uint64_t
report_total(const struct snapshot *snapshot)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < FN_COUNT; i++)
        if (i != FN_FREE)
            total = add_saturating(total, report_bytes(snapshot, i));
    return total;
}

/* Prints one number, right-aligned.  A long name has pushed the row excess columns to the
   right; leading blanks of the number make up for it. */
static void
print_field(FILE *out, const char *gap, int width, uint64_t value, int *excess)
{
    int digits = snprintf(NULL, 0, "%" PRIu64, value);
    int spare = width - digits;

    if (spare > *excess)
        spare = *excess;
    if (spare > 0) {
        width -= spare;
        *excess -= spare;
    }
    fprintf(out, "%s%*" PRIu64, gap, width, value);
}

/* Prints name, calls and bytes; returns how many columns too far right the rest is. */
static int
print_row(FILE *out, const struct palette *palette, const char *name, uint64_t calls,
          uint64_t bytes)
{
    int excess = (int)strlen(name) - NAME_COLUMNS;

    if (excess < 0)
        excess = 0;
    fprintf(out, "%s%*s|%s", palette->name, NAME_COLUMNS, name, palette->name_end);
    print_field(out, " ", 10, calls, &excess);
    print_field(out, "   ", 12, bytes, &excess);
    return excess;
}

static void
print_failed(FILE *out, const struct palette *palette, uint64_t failed, int excess)
{
    fputs("   ", out);
    if (failed == UNITS_UNKNOWN) {
        fprintf(out, "%*s%s", 12 > excess ? 12 - excess : 1, "-", palette->failed_end);
        return;
    }
    if (failed != 0)
        fputs(palette->failed, out);
    print_field(out, "", 12, failed, &excess);
    fputs(palette->failed_end, out);
}

static void
print_function(FILE *out, const struct palette *palette, const struct process *process,
               enum segment_function function)
{
    const struct snapshot *now = &process->now;
    int excess = print_row(out, palette, report_function_names[function],
                           now->calls[function], report_bytes(now, function));

    if (function != FN_FREE)
        print_failed(out, palette, report_failed(process, function), excess);
    if (function == FN_REALLOC)
        fprintf(out, "  (nomove:%" PRIu64 ", dec:%" PRIu64 ", free:%" PRIu64 ")",
                now->realloc_inplace, now->realloc_dec, now->realloc_freed);
    fputc('\n', out);
}

static void
print_mapping(FILE *out, const struct palette *palette, const struct snapshot *now,
              enum segment_mapping mapping)
{
    int excess = print_row(out, palette, report_mapping_names[mapping],
                           now->mapping_calls[mapping], now->mapping_bytes[mapping]);

    print_failed(out, palette, now->mapping_failed[mapping], excess);
    if (mapping == MAPPING_MREMAP) /* the blank is in memusage's output */
        fprintf(out, "  (nomove: %" PRIu64 ", dec:%" PRIu64 ")", now->mremap_inplace,
                now->mremap_dec);
    fputc('\n', out);
}

/* The deepest stack, as memusage prints it. */
static const char *
stack_peak(char buf[UNITS_MAX], const struct process *process)
{
    if (report_stack(process, 0) == UNITS_UNKNOWN)
        return "-";
    snprintf(buf, UNITS_MAX, "%" PRIu64, process->now.stack_peak);
    return buf;
}

static void
print_table(FILE *out, const struct palette *palette, const struct process *process)
{
    const struct snapshot *now = &process->now;
    char stack[UNITS_MAX];

    fprintf(out,
            "\n%sMemory usage summary:%s heap total: %" PRIu64 ", heap peak: %" PRIu64
            ", stack peak: %s\n",
            palette->title, palette->title_end, report_total(now), now->peak_bytes,
            stack_peak(stack, process));
    fprintf(out, "%s         total calls   total memory   failed calls%s\n",
            palette->heading, palette->heading_end);
    for (unsigned i = 0; i < FN_COUNT; i++)
        if (i <= FN_FREE || now->calls[i] != 0)
            print_function(out, palette, process, i);
    if (process->identity.flags & SEGMENT_FLAG_MMAP)
        for (unsigned i = 0; i < MAPPING_COUNT; i++)
            print_mapping(out, palette, now, i);
}

/* floor(count * parts / whole), for any count. */
static unsigned
share(uint64_t count, uint64_t whole, unsigned parts)
{
    if (count > UINT64_MAX / parts)
        return (unsigned)(count / (whole / parts));
    return (unsigned)(count * parts / whole);
}

/* Prints the percentage and bar of a bucket of count calls. */
static void
print_share(FILE *out, const struct palette *palette, uint64_t count, uint64_t highest,
            uint64_t calls)
{
    unsigned percent = share(count, calls, 100);

    if (percent == 0)
        fputs(" <1% ", out);
    else
        fprintf(out, "%3u%% ", percent);
    fputs(palette->bar, out);
    for (unsigned i = share(count, highest, BAR_COLUMNS); i > 0; i--)
        fputc('=', out);
    fprintf(out, "%s\n", palette->bar_end);
}

static void
print_histogram(FILE *out, const struct palette *palette, const struct histogram *sizes)
{
    uint64_t calls = 0, highest = 0, large = 0;

    for (unsigned i = 0; i < HISTOGRAM_CELLS; i++) {
        calls = add_saturating(calls, sizes->allocated[i]);
        if (i >= HISTOGRAM_FINE)
            large = add_saturating(large, sizes->allocated[i]);
        else if (sizes->allocated[i] > highest)
            highest = sizes->allocated[i];
    }
    if (large > highest)
        highest = large;
    fprintf(out, "%sHistogram for block sizes:%s\n", palette->title, palette->title_end);
    for (unsigned i = 0; i < HISTOGRAM_FINE; i++)
        if (sizes->allocated[i] != 0) {
            fprintf(out, "%5u-%-5u%12" PRIu64 " ", i * HISTOGRAM_CELL_BYTES,
                    (i + 1) * HISTOGRAM_CELL_BYTES - 1, sizes->allocated[i]);
            print_share(out, palette, sizes->allocated[i], highest, calls);
        }
    if (large != 0) {
        fprintf(out, "   large   %12" PRIu64 " ", large);
        print_share(out, palette, large, highest, calls);
    }
}

/* Prints a remark with a number. */
static void
remark_count(FILE *out, const char *format, uint64_t count)
{
    char number[UNITS_MAX];

    if (count == 0)
        return;
    fputs("memtop: ", out);
    fprintf(out, format, units_count(number, sizeof number, count));
    fputc('\n', out);
}

/* Prints a remark with an untrusted name. */
static void
remark_name(FILE *out, const char *format, const char *name, size_t size)
{
    char text[SEGMENT_PROGRAM_LEN];

    text_sanitise(text, sizeof text, name, strnlen(name, size));
    fputs("memtop: ", out);
    fprintf(out, format, *text != '\0' ? text : "?");
    fputc('\n', out);
}

static void
remark_images(FILE *out, const struct process *process)
{
    unsigned children = process->children_seen;

    if (process->generations > 1)
        /* TRANSLATORS: %s is the file of a program. */
        remark_name(out, _("these figures are those of %s, which was executed last"),
                    process->identity.program, sizeof process->identity.program);
    remark_count(out,
                 ngettext("%s child process is counted separately and not in these "
                          "figures",
                          "%s child processes are counted separately and not in these "
                          "figures",
                          children),
                 children);
    if (process->identity.origin == ORIGIN_RAW_CLONE)
        fprintf(out, "memtop: %s\n",
                _("the process began as a clone that the C library does not know of: the "
                  "memory it began with is estimated"));
}

static void
remark_counting(FILE *out, const struct process *process)
{
    const struct identity *identity = &process->identity;
    const struct snapshot *now = &process->now;

    remark_count(out,
                 ngettext("%s block that memtop did not see allocated was freed or "
                          "resized; it is not counted",
                          "%s blocks that memtop did not see allocated were freed or "
                          "resized; they are not counted",
                          plural(now->unmatched)),
                 now->unmatched);
    remark_count(out,
                 ngettext("%s block is not counted: there was no memory to note its size",
                          "%s blocks are not counted: there was no memory to note their "
                          "sizes",
                          plural(now->not_counted)),
                 now->not_counted);
    if (identity->accounting == ACCOUNTING_USABLE)
        /* TRANSLATORS: %s is the file of the allocator, as in libjemalloc.so.2. */
        remark_name(out, _("sizes are not those requested, but as %s rounds them up"),
                    identity->allocator, sizeof identity->allocator);
    remark_count(out,
                 ngettext("%s thread shared the counters of others: its stack is not "
                          "shown separately",
                          "%s threads shared the counters of others: their stacks are "
                          "not shown separately",
                          plural(now->threads_merged)),
                 now->threads_merged);
    remark_count(out,
                 ngettext("%s thread ended inside a call, which may be counted in part",
                          "%s threads ended inside a call, which may be counted in part",
                          plural(now->torn)),
                 now->torn);
    remark_count(out,
                 ngettext("%s call was left by a jump out of a signal handler and may be "
                          "counted in part",
                          "%s calls were left by jumps out of signal handlers and may be "
                          "counted in part",
                          plural(now->updates_left)),
                 now->updates_left);
}

/* Remarks on blocks of the program's own pools, which no other figure includes. */
static void
remark_custom(FILE *out, const struct snapshot *now)
{
    char made[UNITS_MAX], bytes[UNITS_MAX], live[UNITS_MAX], live_bytes[UNITS_MAX];

    if (!snapshot_has_custom(now))
        return;
    fputs("memtop: ", out);
    /* TRANSLATORS: blocks (bytes) twice. */
    fprintf(out,
            _("blocks of the program's own pools: allocated %s (%s B), live %s (%s B)"),
            units_count(made, sizeof made, now->custom_made),
            units_count(bytes, sizeof bytes, now->custom_made_bytes),
            units_count(live, sizeof live, now->custom_live),
            units_count(live_bytes, sizeof live_bytes, now->custom_live_bytes));
    fputc('\n', out);
}

void
report_remarks(FILE *out, const struct process *process)
{
    int coverage = process_coverage(process);

    if (!process_knows(process, PART_COUNTERS))
        return;
    remark_counting(out, process);
    remark_custom(out, &process->now);
    remark_images(out, process);
    if (coverage >= 0 && coverage < COVERAGE_LOW
        && process->rss_anon_peak >= COVERAGE_MIN_BYTES)
        /* TRANSLATORS: coverage: how much of the process's own memory memtop
           sees as heap. */
        fprintf(out, _("memtop: coverage %d%%: most of the process's memory does not "
                       "come from malloc\n"),
                coverage);
}

/* Prints the report of a record of calls that has only the peaks. */
static void
print_peaks(FILE *out, const struct palette *palette, const struct process *process)
{
    char stack[UNITS_MAX];

    fprintf(out, "\n%sMemory usage summary:%s heap peak: %" PRIu64 ", stack peak: %s\n",
            palette->title, palette->title_end, process->now.peak_bytes,
            stack_peak(stack, process));
    fprintf(out, "memtop: %s\n", _("calls and blocks by size were not recorded"));
}

/* Prints what was counted before the process executed a program that is not measured. */
static void
print_before(FILE *out, const struct process *process)
{
    const struct snapshot *now = &process->now;
    char program[SEGMENT_PROGRAM_LEN], executed[EXEC_PATH_LEN];
    char total[UNITS_MAX], peak[UNITS_MAX], live[UNITS_MAX];

    text_sanitise(program, sizeof program, process->identity.program,
                  strnlen(process->identity.program, sizeof process->identity.program));
    text_sanitise(executed, sizeof executed, process->executed,
                  strnlen(process->executed, sizeof process->executed));
    fputs("memtop: ", out);
    /* TRANSLATORS: two programs, three sizes. */
    fprintf(out, _("%s, before it executed %s: heap total %s, heap peak %s, live %s"),
            program, executed,
            units_bytes(total, sizeof total, now->total_bytes, UNIT_AUTO),
            units_bytes(peak, sizeof peak, now->peak_bytes, UNIT_AUTO),
            units_bytes(live, sizeof live, now->live_bytes, UNIT_AUTO));
    fputc('\n', out);
}

static void
print_not_measured(FILE *out, const struct process *process)
{
    char why[2 * sizeof process->why_not];

    text_sanitise(why, sizeof why, process->why_not,
                  strnlen(process->why_not, sizeof process->why_not));
    fprintf(out, _("memtop: not measured: %s\n"),
            *why != '\0' ? why : _("the reason is unknown"));
    if (process->was_measured)
        print_before(out, process);
}

void
report_summary(FILE *out, const struct process *process, bool colour)
{
    const struct palette *palette = colour ? &coloured : &plain;

    if (!process->measured) {
        print_not_measured(out, process);
        return;
    }
    if (!process_knows(process, PART_COUNTERS)) {
        print_peaks(out, palette, process);
        return;
    }
    print_table(out, palette, process);
    if (process_knows(process, PART_SIZES))
        print_histogram(out, palette, &process->sizes);
    report_remarks(out, process);
}
