/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where memory was allocated (monitor/profile.h), for other programs' eyes:
 *
 *   folded   a line a stack, outermost function first, "a;b;c BYTES": what flamegraph
 *            viewers read
 *   pprof    profile.proto, compressed, with all of objects and bytes alive and
 *            allocated: go tool pprof, and what else reads that
 *   massif   what valgrind's massif writes, for ms_print and massif-visualizer: the
 *            heap over time, with trees at its peak and at the end
 *   json     everything, an object a line (siteexport-json.c says what)
 *
 * All figures are estimates.  Names are made valid UTF-8 without control characters.
 */
#ifndef MEMTOP_SITEEXPORT_H
#define MEMTOP_SITEEXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "monitor/profile-table.h"
#include "monitor/subject.h"

enum siteexport_format { SITEEXPORT_FOLDED, SITEEXPORT_PPROF, SITEEXPORT_MASSIF, SITEEXPORT_JSON };

/* What is exported.  All of it is borrowed. */
struct siteexport {
    const struct profile *profile;
    const struct subject *subject; /* whose it is */
    enum profile_mode mode;        /* which bytes: live, at the peak, allocated, since
                                      the mark.  massif shows live and peak always;
                                      pprof all, but live may be peak or since. */
    const struct profile_filter *filter; /* or NULL.  json lists what passes as it is */
    int64_t survivors_ns;          /* only what is alive and as old; 0: any */
    const struct siteexport_chosen *chosen; /* private: NULL */
};

/* By name; false if there is none such. */
bool siteexport_format_parse(const char *name, enum siteexport_format *format);
bool siteexport_mode_parse(const char *name, enum profile_mode *mode);
const char *siteexport_mode_name(enum profile_mode mode);

/* What file names of this format end in: ".folded", ".pb.gz"... */
const char *siteexport_suffix(enum siteexport_format format);

/* Why there would be nothing in it: a translated line; NULL: there is. */
const char *siteexport_unknown(const struct siteexport *export);

/* Whether the mode and the filter leave nothing; it is not unknown. */
bool siteexport_empty(const struct siteexport *export);

/* False (errno) if that failed. */
bool siteexport_write(FILE *out, enum siteexport_format format, const struct siteexport *export);

/* Into a new file: it appears whole or not at all, and what exists is left alone
   (-EEXIST).  0 or -errno. */
int siteexport_save(enum siteexport_format format, const struct siteexport *export,
                const char *path);

#endif
