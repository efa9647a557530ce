/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One line for the state of a process: no control characters, no colour, and nothing that
   looks like a figure if nothing was measured. */
#include "config.h"

#include "report/line.h"

#include <string.h>

#include "base/i18n.h"
#include "report/summary.h"
#include "base/textwidth.h"
#include "base/units.h"

static uint64_t
failed_calls(const struct snapshot *now)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < FN_COUNT; i++)
        if (__builtin_add_overflow(sum, now->failed[i], &sum))
            return UINT64_MAX - 1;
    return sum;
}

static void
print_figures(FILE *out, const struct process *process)
{
    const struct snapshot *now = &process->now;
    char heap[UNITS_MAX], peak[UNITS_MAX], live[UNITS_MAX];
    char mallocs[UNITS_MAX], frees[UNITS_MAX], failed[UNITS_MAX];

    /* TRANSLATORS: one line of memtop -B; sizes, a count, calls per second. */
    fprintf(out, _("heap %s peak %s live %s malloc/s %s free/s %s"),
            units_bytes(heap, sizeof heap, now->live_bytes, UNIT_AUTO),
            units_bytes(peak, sizeof peak, now->peak_bytes, UNIT_AUTO),
            units_count(live, sizeof live, now->live_blocks),
            units_count(mallocs, sizeof mallocs, report_calls_rate(process, FN_MALLOC)),
            units_count(frees, sizeof frees, report_calls_rate(process, FN_FREE)));
    if (failed_calls(now) != 0)
        /* TRANSLATORS: the end of that line: calls that failed. */
        fprintf(out, _(" failed %s"),
                units_count(failed, sizeof failed, failed_calls(now)));
}

bool
report_line(FILE *out, const struct process *process)
{
    char duration[UNITS_MAX];
    char why[2 * sizeof process->why_not];

    fprintf(out, "%s ", units_duration(duration, sizeof duration, process->run_ns));
    text_sanitise(why, sizeof why, process->why_not,
                  strnlen(process->why_not, sizeof process->why_not));
    if (process->measured)
        print_figures(out, process);
    else if (*why != '\0')
        fprintf(out, _("not measured: %s"), why);
    else
        fputs(process_state_word(process->state), out);
    fputc('\n', out);
    return fflush(out) == 0 && !ferror(out);
}
