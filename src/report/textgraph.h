/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A graph over time as lines of text, for files. */
#ifndef MEMTOP_TEXTGRAPH_H
#define MEMTOP_TEXTGRAPH_H

#include <stdint.h>
#include <stdio.h>

#include "monitor/history.h"
#include "base/units.h"

/* Writes the series from the program's start to to_ns, 80 columns wide, with labelled
   axes; writes nothing if nothing is known about it. */
void textgraph_write(FILE *out, const struct history *history, enum series series,
                     int64_t to_ns, enum unit unit);

#endif
