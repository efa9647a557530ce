/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The run without display: one line of text per interval, also used by screen readers. */
#ifndef MEMTOP_LINE_H
#define MEMTOP_LINE_H

#include <stdbool.h>
#include <stdio.h>

#include "monitor/session.h"

/* Writes "00:02:24 heap 248.3 MiB peak 400.1 MiB live 24537 malloc/s 28114
   free/s 27990" and flushes; false if that failed. */
bool report_line(FILE *out, const struct process *process);

#endif
