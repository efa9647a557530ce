/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every process of this user (of root's: of everybody) that runs under the library,
   whoever started it. */
#ifndef MEMTOP_OBSERVED_H
#define MEMTOP_OBSERVED_H

#include <stdint.h>

#include "monitor/roster.h"

struct observed;

/* What dead processes have left behind is taken away on the way.  NULL if memory is
   short. */
struct observed *observed_new(void);
void observed_free(struct observed *observed);

/* Reads everything once; now_ns is CLOCK_MONOTONIC. */
void observed_poll(struct observed *observed, int64_t now_ns);

const struct roster *observed_roster(const struct observed *observed);

#endif
