/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The output is grouped by family, as the formats want it: the description of a metric
 * comes first, then all its samples.  Names of programs are untrusted: characters that
 * would end a label are escaped, invalid UTF-8 is replaced.
 */
#include "config.h"

#include "report/metrics.h"

#include <inttypes.h>

#include "base/textwidth.h"

struct metric {
    const char *name;
    const char *unit; /* the end of the name, or NULL */
    const char *help;
    bool counter;
    /* One of these is set: a process's value (false if it has none), or one value per
       function. */
    bool (*value)(const struct metrics_process *process, double *value);
    uint64_t (*by_function)(const struct snapshot *counters, unsigned fn);
};

/* ---- values ---- */

static bool
is_up(const struct metrics_process *process, double *value)
{
    *value = process->running;
    return true;
}

static bool
is_measured(const struct metrics_process *process, double *value)
{
    *value = process->measured;
    return true;
}

static bool
run_seconds(const struct metrics_process *process, double *value)
{
    *value = (double)process->run_ns / 1e9;
    return true;
}

static bool
resident(const struct metrics_process *process, double *value)
{
    *value = (double)process->rss;
    return process->rss != 0;
}

static bool
resident_anonymous(const struct metrics_process *process, double *value)
{
    *value = (double)process->rss_anon;
    return process->rss_anon != 0;
}

static bool
heap(const struct metrics_process *process, double *value)
{
    *value = (double)process->heap;
    return process->measured;
}

static bool
heap_peak(const struct metrics_process *process, double *value)
{
    *value = (double)process->heap_peak;
    return process->measured;
}

static bool
children_seen(const struct metrics_process *process, double *value)
{
    *value = process->children_seen;
    return process->children_known;
}

#define COUNTER_VALUE(function, member)                                        \
    static bool function(const struct metrics_process *process, double *value) \
    {                                                                          \
        if (process->counters == NULL)                                         \
            return false;                                                      \
        *value = (double)process->counters->member;                            \
        return true;                                                           \
    }
COUNTER_VALUE(usable, usable_bytes)
COUNTER_VALUE(blocks, live_blocks)
COUNTER_VALUE(stack_peak, stack_peak)
COUNTER_VALUE(threads, threads)
COUNTER_VALUE(allocated, total_bytes)
COUNTER_VALUE(unmatched, unmatched)

static uint64_t
calls(const struct snapshot *counters, unsigned fn)
{
    return counters->calls[fn];
}

static uint64_t
failed(const struct snapshot *counters, unsigned fn)
{
    return counters->failed[fn];
}

/* ---- families ---- */

static const struct metric metrics[] = {
    {"memtop_up", NULL, "Whether the process is alive.", false, is_up, NULL},
    {"memtop_measured", NULL, "Whether the calls of the process are counted.", false,
     is_measured, NULL},
    {"memtop_run_seconds", "seconds", "Time since the start of the process.", false,
     run_seconds, NULL},
    {"memtop_resident_bytes", "bytes", "Resident memory.", false, resident, NULL},
    {"memtop_resident_anonymous_bytes", "bytes",
     "Resident memory that is not backed by a file.", false, resident_anonymous, NULL},
    {"memtop_heap_bytes", "bytes", "Bytes allocated and not freed.", false, heap, NULL},
    {"memtop_heap_peak_bytes", "bytes", "The highest value of memtop_heap_bytes.", false,
     heap_peak, NULL},
    {"memtop_heap_usable_bytes", "bytes", "Bytes that the blocks not freed occupy.",
     false, usable, NULL},
    {"memtop_heap_blocks", NULL, "Blocks allocated and not freed.", false, blocks, NULL},
    {"memtop_stack_peak_bytes", "bytes", "The deepest stack at a call.", false,
     stack_peak, NULL},
    {"memtop_threads", NULL, "Threads that have called the allocator and not ended.",
     false, threads, NULL},
    {"memtop_allocated_bytes_total", NULL, "Bytes ever allocated.", true, allocated,
     NULL},
    {"memtop_calls_total", NULL, "Calls of the allocator, including failed ones.", true,
     NULL, calls},
    {"memtop_failed_calls_total", NULL, "Calls of the allocator that failed.", true, NULL,
     failed},
    {"memtop_unmatched_frees_total", NULL,
     "Frees of blocks whose allocation was not seen.", true, unmatched, NULL},
    {"memtop_children_seen_total", NULL, "Descendants that were counted separately.",
     true, children_seen, NULL},
};

/* ---- writing ---- */

#define PROGRAM_MAX 256

static void
write_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '\\':
            fputs("\\\\", out);
            break;
        case '"':
            fputs("\\\"", out);
            break;
        case '\n':
            fputs("\\n", out);
            break;
        default:
            putc(*text, out);
        }
}

static void
write_labels(FILE *out, const char *name, const struct metrics_process *process)
{
    char program[PROGRAM_MAX];

    fprintf(out, "%s{pid=\"%ld\",program=\"", name, (long)process->pid);
    write_escaped(out, text_utf8(program, sizeof program, process->program));
    putc('"', out);
}

static void
write_by_function(FILE *out, const struct metric *metric,
                  const struct metrics_process *process)
{
    static const char *const functions[] = {
#define X(id, name) name,
        SEGMENT_FUNCTIONS(X)
#undef X
    };

    if (process->counters == NULL)
        return;
    for (unsigned fn = 0; fn < FN_COUNT; fn++) {
        write_labels(out, metric->name, process);
        fprintf(out, ",function=\"%s\"} %" PRIu64 "\n", functions[fn],
                metric->by_function(process->counters, fn));
    }
}

/* Writes a number without the locale, whose decimal point may differ.  A figure may have
   any value, even 2^64. */
static void
write_number(FILE *out, double value)
{
    uint64_t whole = value >= 0x1p64 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0;
    unsigned thousandths =
        value < 0x1p53 ? (unsigned)((value - (double)whole) * 1000) : 0;

    fprintf(out, "%" PRIu64, whole);
    if (thousandths != 0)
        fprintf(out, ".%03u", thousandths);
}

static void
write_family(FILE *out, const struct metric *metric,
             const struct metrics_process *processes, size_t count)
{
    double value;

    fprintf(out, "# HELP %s %s\n", metric->name, metric->help);
    if (!metric->counter)
        fprintf(out, "# TYPE %s gauge\n", metric->name);
    if (metric->unit != NULL)
        fprintf(out, "# UNIT %s %s\n", metric->name, metric->unit);
    for (size_t i = 0; i < count; i++) {
        if (metric->by_function != NULL) {
            write_by_function(out, metric, &processes[i]);
        } else if (metric->value(&processes[i], &value)) {
            write_labels(out, metric->name, &processes[i]);
            fputs("} ", out);
            write_number(out, value);
            putc('\n', out);
        }
    }
}

bool
report_metrics(FILE *out, const struct metrics_process *processes, size_t count)
{
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        write_family(out, &metrics[i], processes, count);
    fputs("# EOF\n", out);
    return fflush(out) == 0 && !ferror(out);
}
