/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The help of memtop's programs, made by argp, which counts bytes, but laid out by
   columns. */
#ifndef MEMTOP_HELP_H
#define MEMTOP_HELP_H

#include <argp.h>

/* A child for struct argp: what argp writes to the standard output (help, usage,
   version) is laid out by columns.  Does nothing if the user has chosen a layout with
   ARGP_HELP_FMT. */
extern const struct argp_child help_by_columns[];

/* Like argp_parse(), but makes the program's name, and words that messages quote from
   the command line, harmless for a terminal. */
void help_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                void *input);

#endif
