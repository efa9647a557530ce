/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conditions are small state machines over readings.  They do nothing but decide; time
 * is the process's run time.
 *
 * Values between two polls are not missed: if the peak has risen since the last look,
 * the peak is compared with the limit.
 */
#include "config.h"

#include "programs/condition.h"

#include <string.h>

#include "base/figures.h"
#include "base/quantity.h"

#define SECOND_NS INT64_C(1000000000)
#define PEAK_NS   (60 * SECOND_NS)

static const char *
skip_blanks(const char *text)
{
    return text + strspn(text, " ");
}

/* Returns what follows word at the beginning of text; NULL if text does not begin with
   it. */
static const char *
after(const char *text, const char *word)
{
    size_t length = strlen(word);

    return strncmp(text, word, length) == 0 ? skip_blanks(text + length) : NULL;
}

static bool
parse_window(const char *text, int64_t *window_ns)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } windows[] = {{"s", 1}, {"min", 60}, {"h", 3600}};

    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        if (strcmp(text, windows[i].name) == 0) {
            *window_ns = windows[i].seconds * SECOND_NS;
            return true;
        }
    return false;
}

/* ">SIZE", and "/TIME" if the kind has one. */
static bool
parse_limit(const char *text, struct condition *condition)
{
    text = after(text, ">");
    if (text == NULL || !quantity_size_prefix(text, &condition->limit, &text))
        return false;
    if (condition->kind != CONDITION_GROWTH)
        return *text == '\0';
    text = after(text, "/");
    return text != NULL && parse_window(text, &condition->window_ns);
}

bool
condition_parse(const char *text, struct condition *condition)
{
    static const struct {
        const char *name;
        enum condition_kind kind;
    } names[] = {
        {"heap", CONDITION_HEAP},     {"stack", CONDITION_STACK},
        {"growth", CONDITION_GROWTH}, {"peak", CONDITION_PEAK},
        {"exit", CONDITION_EXIT},     {"signal", CONDITION_SIGNAL},
    };

    *condition = (struct condition){.text = text};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rest = after(skip_blanks(text), names[i].name);

        if (rest == NULL)
            continue;
        condition->kind = names[i].kind;
        return condition->kind <= CONDITION_GROWTH ? parse_limit(rest, condition)
                                                   : *rest == '\0';
    }
    return false;
}

/* Remembers the present heap, in steps coarse enough to cover the window, and forgets
   values before the window. */
static void
remember(struct condition *condition, int64_t now_ns, uint64_t heap)
{
    size_t newest = (condition->oldest + condition->count - 1) % CONDITION_PAST;

    if (condition->count > 0
        && now_ns - condition->past[newest].time_ns
               < condition->window_ns / (CONDITION_PAST - 4))
        return;
    if (condition->count == CONDITION_PAST) {
        condition->oldest = (condition->oldest + 1) % CONDITION_PAST;
        condition->count--;
    }
    newest = (condition->oldest + condition->count++) % CONDITION_PAST;
    condition->past[newest].time_ns = now_ns;
    condition->past[newest].heap = heap;
}

/* By how much the heap is above the heap a window ago. */
static uint64_t
growth(struct condition *condition, int64_t now_ns, uint64_t heap)
{
    remember(condition, now_ns, heap);
    while (condition->count > 1) {
        size_t next = (condition->oldest + 1) % CONDITION_PAST;

        if (condition->past[next].time_ns > now_ns - condition->window_ns)
            break;
        condition->oldest = next;
        condition->count--;
    }
    uint64_t then = condition->past[condition->oldest].heap;
    return subtract_floor(heap, then);
}

/* Has the value crossed the limit? highest: the highest value since the last look. */
static bool
crosses(struct condition *condition, uint64_t value, uint64_t highest)
{
    uint64_t limit = condition->limit;

    if (condition->above) {
        condition->above = value >= limit - limit / 10;
        return false;
    }
    condition->above = highest > limit;
    return condition->above;
}

static bool
crosses_with_peak(struct condition *condition, uint64_t value, uint64_t peak)
{
    return crosses(condition, value, highest_since(value, peak, &condition->peak));
}

static bool
peaks(struct condition *condition, int64_t now_ns, uint64_t peak)
{
    uint64_t saved = condition->peak;

    if (peak <= saved || peak - saved <= saved / 10)
        return false;
    if (now_ns < (condition->true_ns == 0 ? SECOND_NS : condition->true_ns + PEAK_NS))
        return false;
    condition->peak = peak;
    condition->true_ns = now_ns;
    return true;
}

/* Starts again for a new image of the program. true_ns stays, so that a new image does
   not make peaks follow each other sooner. */
static void
begin(struct condition *condition, const struct process *process)
{
    bool first = condition->generation == 0;

    condition->generation = process->generations;
    condition->above = false;
    condition->peak = 0;
    condition->count = 0;
    remember(condition, first ? 0 : process->run_ns, 0);
}

bool
condition_look(struct condition *condition, const struct process *process, bool asked)
{
    const struct snapshot *now = &process->now;
    int64_t now_ns = process->run_ns;

    if (condition->kind == CONDITION_SIGNAL)
        return asked;
    if (condition->kind == CONDITION_EXIT) {
        bool comes_true = process->ended && !condition->above;

        condition->above = process->ended;
        return comes_true;
    }
    if (!process->measured)
        return false;
    if (condition->generation != process->generations)
        begin(condition, process);
    switch (condition->kind) {
    case CONDITION_HEAP:
        return crosses_with_peak(condition, now->live_bytes, now->peak_bytes);
    case CONDITION_STACK:
        return crosses_with_peak(condition, now->stack_now, now->stack_peak);
    case CONDITION_GROWTH: {
        uint64_t grown = growth(condition, now_ns, now->live_bytes);

        return crosses(condition, grown, grown);
    }
    default:
        return peaks(condition, now_ns, now->peak_bytes);
    }
}
