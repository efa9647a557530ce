/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop's command line. */
#ifndef MEMTOP_OPTIONS_H
#define MEMTOP_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "programs/budget.h"
#include "programs/report-options.h"
#include "programs/sites-options.h"
#include "programs/trigger.h"
#include "tui/app.h"

#define INTERVAL_DEFAULT_NS INT64_C(1000000000)

enum option_format { FORMAT_TEXT, FORMAT_JSON };
enum option_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct options {
    char **program; /* program and arguments, NULL at the end */
    const char *read; /* file to look at instead of a program, or NULL */
    const char *save; /* file for the session, or NULL */

    const char *attach; /* a running process: its pid or name, or NULL */
    bool list;          /* only list the processes with the library */
    bool pick;          /* let the user choose one to attach to */
    bool fleet;         /* write figures of all processes with the library */

    bool batch;
    bool lines; /* -i or --format: one line per interval in batch mode */
    int64_t interval_ns;
    unsigned long iterations; /* number of lines; 0: no limit */
    enum option_format format;
    bool format_given;
    const char *output; /* where lines and report go; NULL: stderr */
    bool quiet;         /* no report at the end */
    const char *metrics; /* file of figures for Prometheus, or NULL */

    const char *progname;   /* count only this program; a base name, or NULL */
    const char *accounting; /* "requested", "usable", or NULL: automatic */
    bool mmap;
    bool exact;
    bool root_only;

    const char *data;   /* file for a record of every call, or NULL */
    const char *record; /* file for a trace of every call, or NULL */
    size_t buffered;    /* records written at a time */
    bool drop;          /* lose calls rather than wait */
    const char *log;    /* file or descriptor for a text log of every call, or NULL */

    struct report_options report; /* reports by block size */

    enum option_color color;
    enum tui_graph graph;
    enum tui_on_quit on_quit;
    bool ascii;
    bool plain;         /* display as lines of text */
    bool si;

    struct budget budget;
    struct sites_options sites;

    const char *snapshot_when[TRIGGER_CONDITIONS]; /* conditions, already checked */
    size_t snapshots;                              /* their number */
    const char *exec;                              /* command to run with snapshots, or
                                                      NULL */

    const char *png;           /* as given: see options_png_name() */
    const char *title;         /* NULL: the program's name */
    int png_width, png_height; /* 0: default size */
    bool time_based;           /* draw over time, not over calls */
    bool draw_total;           /* also draw heap and stack together */

    /* Called by the name memusage: exit statuses as memusage's, files are overwritten. */
    bool as_memusage;

    /* Hidden options for tests. */
    const char *script; /* --source=script:FILE */
    const char *dump_screen;
    const char *library;
};

/* Fills *options from the command line; strings are borrowed from argv.  Ends memtop
   with status 0 after --help, --usage and --version, and with a message and the status
   of STATUS_USAGE if the command line is wrong. */
void options_parse(int argc, char **argv, struct options *options);

/* Must every call be recorded? */
bool options_record(const struct options *options);

/* Must allocations be sampled: asked for, or needed for an export? */
bool options_sites(const struct options *options);

/* Writes the words for MEMTOP_OPTIONS (libmemtop(7)). */
void options_words(const struct options *options, char *buffer, size_t size);

/* Writes the name of the picture's file: ".png" is appended unless present. */
void options_png_name(const char *name, char *buffer, size_t size);

/* Is the display coloured?  Is text coloured that goes to descriptor? */
bool options_display_colour(const struct options *options);
bool options_colour(const struct options *options, int descriptor);

/* ---- abbreviations (spellings.c) ---- */

/*
 * memusage accepts each of its long options from a certain length on. argp accepts an
 * abbreviation only if it is unique, and memtop has more options than memusage, so
 * memusage's abbreviations are added as hidden options.  Returns table (which ends in
 * zeros) with these added, in static storage.
 */
const struct argp_option *spellings_add(const struct argp_option *table);

#endif
