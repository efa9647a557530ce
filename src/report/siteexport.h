/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exports where memory was allocated (monitor/profile.h) for other programs:
 *
 *   folded   one line per stack, outermost function first, "a;b;c BYTES": read by
 *            flamegraph viewers
 *   pprof    profile.proto, compressed, with objects and bytes, alive and allocated:
 *            read by go tool pprof and others
 *   massif   what valgrind's massif writes, for ms_print and massif-visualizer: the
 *            heap over time, with trees at its peak and at the end
 *   json     everything, one object per line (see siteexport-json.c)
 *
 * All figures are estimates.  Names are made valid UTF-8 without control characters.
 */
#ifndef MEMTOP_SITEEXPORT_H
#define MEMTOP_SITEEXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "monitor/profile-table.h"
#include "monitor/tracked.h"

enum siteexport_format {
    SITEEXPORT_FOLDED,
    SITEEXPORT_PPROF,
    SITEEXPORT_MASSIF,
    SITEEXPORT_JSON
};

/* What is exported.  Everything is borrowed. */
struct siteexport {
    const struct profile *profile;
    const struct tracked *tracked; /* the process it belongs to */
    enum profile_mode mode;        /* which bytes: live, at the peak, allocated, since the
                                      mark.  massif always has live and peak; pprof all,
                                      but peak or since may replace live. */
    const struct profile_filter *filter; /* or NULL; json lists passing sites in full */
    int64_t survivors_ns;          /* only live blocks at least that old; 0: any */
    const struct siteexport_chosen *chosen; /* private: NULL */
};

/* By name; false if there is none of that name. */
bool siteexport_format_parse(const char *name, enum siteexport_format *format);
bool siteexport_mode_parse(const char *name, enum profile_mode *mode);
const char *siteexport_mode_name(enum profile_mode mode);

/* The suffix of the format's file names: ".folded", ".pb.gz"... */
const char *siteexport_suffix(enum siteexport_format format);

/* Says why there would be nothing in it, in a translated line; NULL: there would be. */
const char *siteexport_unknown(const struct siteexport *export);

/* Do the mode and the filter leave nothing, although something is known? */
bool siteexport_empty(const struct siteexport *export);

/* Writes the export.  Returns false (errno) on failure. */
bool siteexport_write(FILE *out, enum siteexport_format format,
                      const struct siteexport *export);

/* Writes it into a new file, which appears complete or not at all; an existing file is
   not touched (-EEXIST).  Returns 0 or -errno. */
int siteexport_save(enum siteexport_format format, const struct siteexport *export,
                const char *path);

#endif
