/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples in bounded memory; no maximum is ever lost.
 *
 *   level 0   the newest samples, one by one
 *   level 1   older ones, each made of two of level 0
 *   ...
 *   last      the oldest; when it is full, neighbours are merged in place
 *
 * A full level gives its two oldest samples, merged, to the level above, so a push costs
 * O(1) amortised.  Read from the last level down to level 0 the samples are in order
 * without gaps: each begins where the one before it ended.  All memory is allocated in
 * history_new().
 */
#include "config.h"

#include "monitor/history.h"

#include <stdlib.h>

/* With 512 slots and ten samples a second the last level starts to lose resolution after
   38 days. */
#define LEVELS 16

struct history_level {
    struct sample *samples; /* a ring */
    size_t first;           /* index of the oldest */
    size_t count;
};

struct history {
    size_t slots;
    int64_t first_ns; /* time of the first sample ever pushed */
    struct history_level levels[LEVELS];
    struct sample *storage;
};

/* Goes through the samples from the oldest to the newest, with the beginning of each. */
struct cursor {
    const struct history *history;
    size_t level; /* counts down; LEVELS: before the first */
    size_t index;
    int64_t begin_ns; /* exclusive */
    const struct sample *sample;
};

struct history *
history_new(size_t slots)
{
    struct history *history = calloc(1, sizeof *history);

    if (history == NULL)
        return NULL;
    history->slots = slots < 4 ? 4 : slots;
    history->storage = calloc(LEVELS * history->slots, sizeof *history->storage);
    if (history->storage == NULL) {
        free(history);
        return NULL;
    }
    for (size_t i = 0; i < LEVELS; i++)
        history->levels[i].samples = history->storage + i * history->slots;
    return history;
}

void
history_free(struct history *history)
{
    if (history == NULL)
        return;
    free(history->storage);
    free(history);
}

static struct sample *
level_at(const struct history *history, const struct history_level *level, size_t index)
{
    return &level->samples[(level->first + index) % history->slots];
}

static struct sample
level_take(const struct history *history, struct history_level *level)
{
    struct sample oldest = *level_at(history, level, 0);

    level->first = (level->first + 1) % history->slots;
    level->count--;
    return oldest;
}

static uint64_t
known_max(uint64_t a, uint64_t b)
{
    if (a == HISTORY_UNKNOWN)
        return b;
    if (b == HISTORY_UNKNOWN)
        return a;
    return a > b ? a : b;
}

/* Appends newer to older; the result has newer's time. */
static struct sample
merge(const struct sample *older, const struct sample *newer)
{
    struct sample merged = {.time_ns = newer->time_ns};

    for (int i = 0; i < SERIES_COUNT; i++) {
        merged.max[i] = known_max(older->max[i], newer->max[i]);
        merged.last[i] =
            newer->last[i] != HISTORY_UNKNOWN ? newer->last[i] : older->last[i];
    }
    return merged;
}

/* Merges neighbours in place; a last one without a partner stays as it is. */
static void
level_halve(const struct history *history, struct history_level *level)
{
    size_t kept = 0;

    for (size_t i = 0; i < level->count; i += 2) {
        struct sample sample = *level_at(history, level, i);

        if (i + 1 < level->count)
            sample = merge(&sample, level_at(history, level, i + 1));
        *level_at(history, level, kept++) = sample;
    }
    level->count = kept;
}

static void
level_push(struct history *history, size_t number, const struct sample *sample)
{
    struct history_level *level = &history->levels[number];

    if (level->count == history->slots && number == LEVELS - 1) {
        level_halve(history, level);
    } else if (level->count == history->slots) {
        struct sample oldest = level_take(history, level);
        struct sample next = level_take(history, level);
        struct sample merged = merge(&oldest, &next);

        level_push(history, number + 1, &merged);
    }
    *level_at(history, level, level->count++) = *sample;
}

void
history_push(struct history *history, const struct sample *sample)
{
    struct history_level *newest = &history->levels[0];
    struct sample *last;
    int64_t last_ns;

    if (newest->count == 0) {
        history->first_ns = sample->time_ns;
        level_push(history, 0, sample);
        return;
    }
    last = level_at(history, newest, newest->count - 1);
    last_ns = last->time_ns;
    if (sample->time_ns > last_ns) {
        level_push(history, 0, sample);
        return;
    }
    *last = merge(last, sample);
    last->time_ns = last_ns;
}

static struct cursor
cursor_start(const struct history *history)
{
    /* The first sample has no length: it begins just before it ends. */
    return (struct cursor){
        .history = history, .level = LEVELS, .begin_ns = history->first_ns - 1};
}

static bool
cursor_next(struct cursor *cursor)
{
    const struct history *history = cursor->history;

    if (cursor->sample != NULL)
        cursor->begin_ns = cursor->sample->time_ns;
    while (cursor->level == LEVELS
           || cursor->index == history->levels[cursor->level].count) {
        if (cursor->level == 0)
            return false;
        cursor->level--;
        cursor->index = 0;
    }
    cursor->sample = level_at(history, &history->levels[cursor->level], cursor->index++);
    return true;
}

void
history_each(const struct history *history,
             void (*visit)(void *context, const struct sample *sample), void *context)
{
    struct cursor cursor = cursor_start(history);

    while (cursor_next(&cursor))
        visit(context, cursor.sample);
}

/* All samples go on the first level: they were merged already and must not be again. */
struct history *
history_restore(int64_t first_ns, const struct sample *samples, size_t count)
{
    struct history *history = history_new(count);

    for (size_t i = 0; history != NULL && i < count; i++)
        history_push(history, &samples[i]);
    if (history != NULL && count > 0)
        history->first_ns = first_ns;
    return history;
}

/* Time at which a column begins; columns are at least one nanosecond wide. */
static int64_t
column_begin(int64_t from_ns, int64_t to_ns, size_t count, size_t number)
{
    return from_ns
           + (int64_t)((__int128)(to_ns - from_ns) * (__int128)number / (__int128)count);
}

static size_t
column_of(int64_t from_ns, int64_t to_ns, size_t count, int64_t time_ns)
{
    size_t number;

    if (time_ns >= to_ns)
        return count - 1;
    number =
        (size_t)((__int128)(time_ns - from_ns) * (__int128)count / (to_ns - from_ns));
    /* The division above rounds where column_begin() does too. */
    if (number + 1 < count && column_begin(from_ns, to_ns, count, number + 1) <= time_ns)
        number++;
    return number;
}

static void
column_add(struct column *column, uint64_t max, uint64_t last)
{
    if (max == HISTORY_UNKNOWN)
        return;
    if (!column->known || max > column->max)
        column->max = max;
    if (!column->known || last != HISTORY_UNKNOWN)
        column->last = last == HISTORY_UNKNOWN ? max : last;
    column->known = true;
}

void
history_columns(const struct history *history, enum series series, int64_t from_ns,
                int64_t to_ns, struct column *columns, size_t count)
{
    struct cursor cursor = cursor_start(history);

    for (size_t i = 0; i < count; i++)
        columns[i] = (struct column){0};
    if (count == 0 || to_ns < from_ns)
        return;
    while (cursor_next(&cursor)) {
        const struct sample *sample = cursor.sample;
        int64_t begin_ns = cursor.begin_ns + 1;

        if (sample->time_ns < from_ns || begin_ns > to_ns)
            continue;
        if (begin_ns < from_ns)
            begin_ns = from_ns;
        size_t first = column_of(from_ns, to_ns, count, begin_ns);
        size_t last = column_of(from_ns, to_ns, count, sample->time_ns);
        for (size_t i = first; i <= last; i++)
            column_add(&columns[i], sample->max[series], sample->last[series]);
    }
}

bool
history_peak(const struct history *history, enum series series, int64_t from_ns,
             int64_t to_ns, uint64_t *value, int64_t *time_ns)
{
    struct cursor cursor = cursor_start(history);
    bool found = false;

    while (cursor_next(&cursor)) {
        const struct sample *sample = cursor.sample;

        if (sample->time_ns < from_ns || cursor.begin_ns >= to_ns)
            continue;
        if (sample->max[series] == HISTORY_UNKNOWN)
            continue;
        if (found && sample->max[series] <= *value)
            continue;
        found = true;
        *value = sample->max[series];
        *time_ns = sample->time_ns;
    }
    return found;
}

bool
history_first_above(const struct history *history, enum series series, uint64_t limit,
                    int64_t *time_ns)
{
    struct cursor cursor = cursor_start(history);

    while (cursor_next(&cursor)) {
        uint64_t max = cursor.sample->max[series];

        if (max == HISTORY_UNKNOWN || max <= limit)
            continue;
        *time_ns = cursor.sample->time_ns;
        return true;
    }
    return false;
}

bool
history_span(const struct history *history, int64_t *first_ns, int64_t *last_ns)
{
    const struct history_level *newest = &history->levels[0];

    if (newest->count == 0)
        return false;
    *first_ns = history->first_ns;
    *last_ns = level_at(history, newest, newest->count - 1)->time_ns;
    return true;
}
