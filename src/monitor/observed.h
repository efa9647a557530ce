/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The system-wide list: every process of this user (for root: of everybody) that runs
   under the library, whoever started it. */
#ifndef MEMTOP_OBSERVED_H
#define MEMTOP_OBSERVED_H

#include <stdint.h>

#include "monitor/roster.h"

struct observed;

/* Removes what dead processes have left behind on the way.  Returns NULL if memory is
   short. */
struct observed *observed_new(void);
void observed_free(struct observed *observed);

/* Reads everything once; now_ns is CLOCK_MONOTONIC. */
void observed_poll(struct observed *observed, int64_t now_ns);

const struct roster *observed_roster(const struct observed *observed);

#endif
