/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Judges by the final counters alone, which miss nothing: the peak is there
 * however short it was.  The history is asked only for the time, which it knows
 * as finely as it sampled.  Pure: prints nothing and ends nothing.
 */
#include "config.h"

#include "app/budget.h"

#include <stdio.h>

#include "i18n.h"

static const char *const options[BUDGET_LIMITS] = {
    [BUDGET_HEAP] = "--max-heap",
    [BUDGET_LIVE_AT_EXIT] = "--max-live-at-exit",
    [BUDGET_ALLOCS] = "--max-allocs",
    [BUDGET_STACK] = "--max-stack",
};

const char *
budget_option(enum budget_limit limit)
{
    return options[limit];
}

bool
budget_given(const struct budget *budget)
{
    for (int i = 0; i < BUDGET_LIMITS; i++)
        if (budget->given[i])
            return true;
    return false;
}

/* Counters of an untrusted segment need not fit together. */
static uint64_t
less(uint64_t from, uint64_t taken)
{
    return from > taken ? from - taken : 0;
}

/* Calls that gave a block: of all that may, those that did not fail and were no
   realloc to nothing. */
static uint64_t
allocations(const struct snapshot *now)
{
    uint64_t sum = 0;

    for (int i = 0; i < FN_COUNT; i++)
        if (i != FN_FREE
            && __builtin_add_overflow(sum, less(now->calls[i], now->failed[i]), &sum))
            return UINT64_MAX;
    return less(sum, now->realloc_freed);
}

static uint64_t
used(enum budget_limit limit, const struct snapshot *now)
{
    switch (limit) {
    case BUDGET_HEAP:
        return now->peak_bytes;
    case BUDGET_LIVE_AT_EXIT:
        return now->live_bytes;
    case BUDGET_ALLOCS:
        return allocations(now);
    default:
        return now->stack_peak;
    }
}

static int64_t
passed(enum budget_limit limit, uint64_t most, const struct history *history)
{
    int64_t time_ns;

    if (limit != BUDGET_HEAP && limit != BUDGET_STACK)
        return -1;
    if (!history_first_above(history, limit == BUDGET_HEAP ? SERIES_HEAP : SERIES_STACK,
                             most, &time_ns))
        return -1;
    return time_ns;
}

bool
budget_exceeded(const struct budget *budget, enum budget_limit limit,
                const struct process *process, const struct history *history,
                struct budget_excess *excess)
{
    uint64_t most = budget->most[limit];

    if (!budget->given[limit])
        return false;
    excess->used = used(limit, &process->now);
    if (excess->used <= most)
        return false;
    excess->above = excess->used - most;
    excess->passed_ns = passed(limit, most, history);
    return true;
}

void
budget_text(enum budget_limit limit, const struct budget_excess *excess, enum unit unit,
            char *text, size_t size)
{
    char value[UNITS_MAX], above[UNITS_MAX], when[UNITS_MAX];
    const char *option = options[limit];

    if (limit == BUDGET_ALLOCS) {
        units_count(value, sizeof value, excess->used);
        units_count(above, sizeof above, excess->above);
    } else {
        units_bytes(value, sizeof value, excess->used, unit);
        units_bytes(above, sizeof above, excess->above, unit);
    }
    if (excess->passed_ns >= 0)
        /* TRANSLATORS: "--max-heap: 80.00 MiB, 16.00 MiB above the limit, which was
           passed 1.2s after the start". */
        snprintf(text, size,
                 _("%s: %s, %s above the limit, which was passed %s after the start"),
                 option, value, above,
                 units_offset(when, sizeof when, excess->passed_ns));
    else
        /* TRANSLATORS: an option, a size, a size. */
        snprintf(text, size, _("%s: %s, %s above the limit"), option, value, above);
}
