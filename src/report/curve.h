/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Series of a run, call by call, in fixed space: as the run gets longer it gets coarser,
 * but keeps every peak.
 */
#ifndef MEMTOP_CURVE_H
#define MEMTOP_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/history.h"

enum curve_line { CURVE_HEAP, CURVE_STACK, CURVE_TOTAL, CURVE_LINES };

struct curve;

/* Returns NULL if memory is short. */
struct curve *curve_new(void);
void curve_free(struct curve *curve);

/* Adds the values after a call.  x is the call's number or time, never less than that of
   the call before. */
void curve_add(struct curve *curve, uint64_t x, uint64_t heap, uint64_t stack);

/* The number of calls added, and the highest value of a line and its x; false if there is
   none. */
uint64_t curve_count(const struct curve *curve);
bool curve_peak(const struct curve *curve, enum curve_line line, uint64_t *value,
                uint64_t *x);

/* Divides 0..end into count columns.  Between calls the values stay as the last one left
   them. */
void curve_columns(const struct curve *curve, enum curve_line line, uint64_t end,
                   struct column *columns, size_t count);

#endif
