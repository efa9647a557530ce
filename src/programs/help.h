/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The help of our programs, made by argp, which counts bytes, in columns. */
#ifndef MEMTOP_HELP_H
#define MEMTOP_HELP_H

#include <argp.h>

/* For struct argp's children: what argp says of itself on the standard output (help,
   usage, version) is laid out by columns.  Does nothing if the user has chosen a layout
   with ARGP_HELP_FMT. */
extern const struct argp_child help_by_columns[];

/* As argp_parse(), but what messages quote of the command line, and the name that the
   program was called by, are made harmless for a terminal. */
void help_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                void *input);

#endif
