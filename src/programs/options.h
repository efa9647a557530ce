/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop's command line. */
#ifndef MEMTOP_OPTIONS_H
#define MEMTOP_OPTIONS_H

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
    const char *read; /* or a file to be looked at, or NULL */
    const char *save; /* file for the session, or NULL */

    const char *attach; /* a process that runs already: its pid or name, or NULL */
    bool list;          /* only list the observed processes */
    bool pick;          /* ... and have one chosen to attach to */
    bool fleet;         /* ... and write the figures of all of them */

    bool batch;
    bool lines; /* -i or --format: a line an interval in batch */
    int64_t interval_ns;
    unsigned long iterations; /* lines before they cease; 0: no end */
    enum option_format format;
    bool format_given;
    const char *output; /* where lines and report go; NULL: stderr */
    bool quiet;         /* no report */
    const char *metrics; /* file of figures for Prometheus, or NULL */

    const char *progname;   /* only this program is counted; a base name, or NULL */
    const char *accounting; /* "requested", "usable", or NULL: automatic */
    bool mmap;
    bool exact;
    bool root_only;

    const char *data;   /* file for a record of every call, or NULL */
    const char *record; /* file for a trace of every call, or NULL */
    size_t buffered;    /* records written at a time */
    bool drop;          /* lose some rather than wait */
    const char *log;    /* file or descriptor for a text log of every call, or NULL */

    struct report_options report; /* by block size */

    enum option_color color;
    enum tui_graph graph;
    enum tui_on_quit on_quit;
    bool ascii;
    bool plain;         /* the display in lines */
    bool si;

    struct budget budget;
    struct sites_options sites;

    const char *snapshot_when[TRIGGER_CONDITIONS]; /* conditions, all right */
    size_t snapshots;                              /* how many */
    const char *exec;                              /* command for them, or NULL */

    const char *png;           /* as given: see options_png_name() */
    const char *title;         /* NULL: the program's name */
    int png_width, png_height; /* 0: default */
    bool time_based;           /* drawn over time, not over calls */
    bool draw_total;           /* heap and stack together too */

    bool as_memusage; /* called by that name: its statuses, files overwritten */

    /* Hidden, for tests. */
    const char *script; /* --source=script:FILE */
    const char *dump_screen;
    const char *library;
};

/* Fills *options from the command line; strings are borrowed from argv.  Ends
   memtop for --help, --usage and --version (0), and with a message for a wrong
   command line (STATUS_USAGE). */
void options_parse(int argc, char **argv, struct options *options);

/* Whether every call is to be recorded. */
bool options_record(const struct options *options);

/* Whether allocations are to be sampled: asked for, or needed for an export. */
bool options_sites(const struct options *options);

/* The words of MEMTOP_OPTIONS (libmemtop(7)). */
void options_words(const struct options *options, char *buffer, size_t size);

/* The file for the picture: ".png" is appended unless it is there. */
void options_png_name(const char *name, char *buffer, size_t size);

/* Whether the display is coloured, and what goes to the descriptor. */
bool options_display_colour(const struct options *options);
bool options_colour(const struct options *options, int descriptor);

#endif
