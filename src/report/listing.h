/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes as a table for people and as lines for programs. */
#ifndef MEMTOP_LISTING_H
#define MEMTOP_LISTING_H

#include <stdbool.h>
#include <stdio.h>

#include "monitor/process-list.h"
#include "base/units.h"

/* Writes a heading and one line each.  Returns false if writing failed. */
bool listing_text(FILE *out, const struct process_list *process_list, enum unit unit);

/*
 * Writes one object per line: type "process", pid, parent, command, state, measured,
 * age_ns; why_not if it is not measured; otherwise heap, heap_peak; rss if known.  Sizes
 * are in bytes.  Returns false if writing failed or memory is short.
 */
bool listing_json(FILE *out, const struct process_list *process_list);

#endif
