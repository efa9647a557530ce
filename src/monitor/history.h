/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The data of the graphs: samples of a process over its whole run in bounded memory.
 * Recent samples are kept one by one, older ones are merged pairwise, repeatedly; a merge
 * keeps the maximum, so a spike never vanishes.
 */
#ifndef MEMTOP_HISTORY_H
#define MEMTOP_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum series {
    SERIES_HEAP,
    SERIES_STACK,
    SERIES_RSS,
    SERIES_CALLS,   /* calls per second */
    SERIES_COUNT
};

/* Stands for a value that was not measured. */
#define HISTORY_UNKNOWN UINT64_MAX

/* Ends at time_ns (since the program's start) and begins where the sample before it
   ended.  max is the highest value seen in between, last the value at its end. */
struct sample {
    int64_t time_ns;
    uint64_t max[SERIES_COUNT];
    uint64_t last[SERIES_COUNT];
};

/* One column of a graph. */
struct column {
    uint64_t max;
    uint64_t last;
    bool known;     /* false: no sample here, or not measured */
};

struct history;

/* slots >= 4 bounds each level.  Returns NULL if memory is short. */
struct history *history_new(size_t slots);
void history_free(struct history *history);

/* Adds a sample.  Times must not decrease; a sample not later than the last one replaces
   it (keeping the maxima). */
void history_push(struct history *history, const struct sample *sample);

/* Calls visit for every sample kept, oldest first.  The first one begins where the
   history does (history_span()). */
void history_each(const struct history *history,
                  void (*visit)(void *context, const struct sample *sample),
                  void *context);

/* Makes a history of these samples, ordered by time, which begins at first_ns: it shows
   the same as the one they came from.  Returns NULL if memory is short. */
struct history *history_restore(int64_t first_ns, const struct sample *samples,
                                size_t count);

/* Fills columns[0..count) for the span from_ns..to_ns cut into count equal parts.  A
   sample that spans several columns is shown in each. */
void history_columns(const struct history *history, enum series series,
                     int64_t from_ns, int64_t to_ns,
                     struct column *columns, size_t count);

/* Finds the highest value in the span and the end of its sample; false if there is
   none. */
bool history_peak(const struct history *history, enum series series,
                  int64_t from_ns, int64_t to_ns,
                  uint64_t *value, int64_t *time_ns);

/* Finds the end of the first sample with the series above limit; false if there is
   none. */
bool history_first_above(const struct history *history, enum series series,
                         uint64_t limit, int64_t *time_ns);

/* Returns the times of the first and last sample; false if the history is empty. */
bool history_span(const struct history *history, int64_t *first_ns, int64_t *last_ns);

#endif
