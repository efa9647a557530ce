/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The limits.  The final counters include every peak, however short.  The history is
 * used only for the time at which a limit was passed, which is as exact as the samples.
 */
#include "config.h"

#include "programs/budget.h"

#include <stdio.h>

#include "base/i18n.h"

static const char *const options[USAGE_KINDS] = {
    [USAGE_HEAP] = "--max-heap",
    [USAGE_LIVE_AT_EXIT] = "--max-live-at-exit",
    [USAGE_ALLOCS] = "--max-allocs",
    [USAGE_STACK] = "--max-stack",
};

const char *
budget_option(enum usage_kind kind)
{
    return options[kind];
}

bool
budget_given(const struct budget *budget)
{
    for (int i = 0; i < USAGE_KINDS; i++)
        if (budget->given[i])
            return true;
    return false;
}

static int64_t
passed(enum usage_kind kind, uint64_t most, const struct history *history)
{
    int64_t time_ns;

    if (history == NULL || (kind != USAGE_HEAP && kind != USAGE_STACK))
        return -1;
    if (!history_first_above(history, kind == USAGE_HEAP ? SERIES_HEAP : SERIES_STACK,
                             most, &time_ns))
        return -1;
    return time_ns;
}

bool
budget_exceeded(const struct budget *budget, enum usage_kind kind, uint64_t used,
                const struct history *history, struct budget_excess *excess)
{
    uint64_t most = budget->most[kind];

    if (!budget->given[kind] || used <= most)
        return false;
    excess->used = used;
    excess->above = used - most;
    excess->passed_ns = passed(kind, most, history);
    return true;
}

void
budget_text(enum usage_kind kind, const char *whose, const struct budget_excess *excess,
            enum unit unit, char *text, size_t size)
{
    char value[UNITS_MAX], above[UNITS_MAX], when[UNITS_MAX];
    const char *option = options[kind];

    if (kind == USAGE_ALLOCS) {
        units_count(value, sizeof value, excess->used);
        units_count(above, sizeof above, excess->above);
    } else {
        units_bytes(value, sizeof value, excess->used, unit);
        units_bytes(above, sizeof above, excess->above, unit);
    }
    if (excess->passed_ns >= 0)
        snprintf(text, size,
                 /* TRANSLATORS: "--max-heap: ./prog (process 12): 80.00 MiB, 16.00 MiB
                    above the limit, which was exceeded 1.2s after the start". */
                 _("%s: %s: %s, %s above the limit, which was exceeded %s after the "
                   "start"),
                 option, whose, value, above,
                 units_offset(when, sizeof when, excess->passed_ns));
    else
        /* TRANSLATORS: an option, a program, a size, a size. */
        snprintf(text, size, _("%s: %s: %s, %s above the limit"), option, whose, value,
                 above);
}
