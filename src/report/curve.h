/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The course of a run, call by call, in fixed room: as it grows longer it gets
 * coarser, and keeps every peak.
 */
#ifndef MEMTOP_CURVE_H
#define MEMTOP_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/history.h"

enum curve_line { CURVE_HEAP, CURVE_STACK, CURVE_TOTAL, CURVE_LINES };

struct curve;

/* NULL if memory is short. */
struct curve *curve_new(void);
void curve_free(struct curve *curve);

/* Adds what a call left.  x is its number or its time, never less than that of
   the call before. */
void curve_add(struct curve *curve, uint64_t x, uint64_t heap, uint64_t stack);

/* Calls added, and the highest value of a line and where; false if none. */
uint64_t curve_count(const struct curve *curve);
bool curve_peak(const struct curve *curve, enum curve_line line, uint64_t *value,
                uint64_t *x);

/* The stretch 0..end in so many columns.  Between calls everything stays as the
   last one left it. */
void curve_columns(const struct curve *curve, enum curve_line line, uint64_t end,
                   struct column *columns, size_t count);

#endif
