/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recorded calls written in another form, one by one as they come. */
#ifndef MEMTOP_EXPORT_H
#define MEMTOP_EXPORT_H

#include <stdbool.h>

#include "programs/tracefile.h"
#include "files/trace.h"

struct export;

/* To output, a new file, or NULL for the standard output.  0 and *out, or -errno. */
int export_new(enum export_format format, const char *output, struct export **out);

/* Whether the form tells processes apart; else it takes the events of one. */
bool export_of_all(const struct export *export);

/* 0, -ENOMEM, or -ECANCELED once a write has failed. */
int export_take(struct export *export, const struct trace_info *info,
                const struct trace_event *event);

/* The end, and frees it; whole: nothing is missing.  0 or the -errno of a write. */
int export_end(struct export *export, bool whole);

#endif
