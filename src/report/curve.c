/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bins of equal width.  When x exceeds them, every two become one and the width doubles:
 * then half of the bins are in use, and no plot is as wide as that.
 */
#include "config.h"

#include "report/curve.h"

#include <stdlib.h>
#include <string.h>

#include "base/figures.h"

#define BINS 32768u

struct bin {
    bool known;
    uint64_t max[CURVE_LINES];
    uint64_t last[CURVE_LINES];
};

struct curve {
    unsigned shift; /* a bin is 1 << shift wide */
    uint64_t count;
    uint64_t peak[CURVE_LINES];
    uint64_t peak_x[CURVE_LINES];
    struct bin bins[BINS];
};

struct curve *
curve_new(void)
{
    return calloc(1, sizeof(struct curve));
}

void
curve_free(struct curve *curve)
{
    free(curve);
}

static void
merge(struct bin *bin, const struct bin *later)
{
    if (!later->known)
        return;
    for (unsigned i = 0; i < CURVE_LINES; i++)
        raise_to(&bin->max[i], later->max[i]);
    memcpy(bin->last, later->last, sizeof bin->last);
    bin->known = true;
}

static void
double_width(struct curve *curve)
{
    for (unsigned i = 0; i < BINS / 2; i++) {
        struct bin bin = curve->bins[2 * i];

        merge(&bin, &curve->bins[2 * i + 1]);
        curve->bins[i] = bin;
    }
    memset(&curve->bins[BINS / 2], 0, BINS / 2 * sizeof *curve->bins);
    curve->shift++;
}

void
curve_add(struct curve *curve, uint64_t x, uint64_t heap, uint64_t stack)
{
    struct bin bin = {.known = true};

    bin.last[CURVE_HEAP] = heap;
    bin.last[CURVE_STACK] = stack;
    bin.last[CURVE_TOTAL] = add_saturating(heap, stack);
    memcpy(bin.max, bin.last, sizeof bin.max);
    for (unsigned i = 0; i < CURVE_LINES; i++)
        if (curve->count == 0 || bin.last[i] > curve->peak[i]) {
            curve->peak[i] = bin.last[i];
            curve->peak_x[i] = x;
        }
    curve->count++;
    while (x >> curve->shift >= BINS)
        double_width(curve);
    merge(&curve->bins[x >> curve->shift], &bin);
}

uint64_t
curve_count(const struct curve *curve)
{
    return curve->count;
}

bool
curve_peak(const struct curve *curve, enum curve_line line, uint64_t *value, uint64_t *x)
{
    *value = curve->peak[line];
    *x = curve->peak_x[line];
    return curve->count > 0;
}

/* Fills gaps: between calls the values do not change. */
static void
fill_gaps(struct column *columns, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!columns[i].known && columns[i - 1].known)
            columns[i] = (struct column){columns[i - 1].last, columns[i - 1].last, true};
}

void
curve_columns(const struct curve *curve, enum curve_line line, uint64_t end,
              struct column *columns, size_t count)
{
    memset(columns, 0, count * sizeof *columns);
    for (uint64_t i = 0; i < BINS && end > 0; i++) {
        const struct bin *bin = &curve->bins[i];
        double place = (double)(i << curve->shift) / (double)end * (double)count;
        size_t at = place < (double)count ? (size_t)place : count - 1;

        if (!bin->known)
            continue;
        raise_to(&columns[at].max, bin->max[line]);
        columns[at].last = bin->last[line];
        columns[at].known = true;
    }
    fill_gaps(columns, count);
}
