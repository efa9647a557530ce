/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes recorded calls in another format, one by one as they come. */
#ifndef MEMTOP_EXPORT_H
#define MEMTOP_EXPORT_H

#include <stdbool.h>

#include "programs/tracefile.h"
#include "files/trace.h"

struct export;

/* output: a new file, or NULL for the standard output.  Returns 0 and sets *out, or
   -errno. */
int export_new(enum export_format format, const char *output, struct export **out);

/* Can the format tell processes apart?  Otherwise only events of one process may be
   passed. */
bool export_of_all(const struct export *export);

/* Takes an event.  Returns 0, -ENOMEM, or -ECANCELED if a write has failed. */
int export_take(struct export *export, const struct trace_info *info,
                const struct trace_event *event);

/* Finishes the output and frees export. whole: nothing is missing.  Returns 0, or the
   -errno of a write. */
int export_end(struct export *export, bool whole);

#endif
