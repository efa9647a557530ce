/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of options.  A wrong value is reported with argp_error(), which ends the
   program. */
#ifndef MEMTOP_VALUE_H
#define MEMTOP_VALUE_H

#include <argp.h>

/* Refuses word; what: what the option takes instead, translated. */
void value_refuse(struct argp_state *state, const char *option, const char *word,
                  const char *what);

/* The index of word in a list "one, another, third". */
int value_word(struct argp_state *state, const char *option, const char *word,
               const char *words);

/* Parses a number from least to most, neither of which is negative. */
long value_number(struct argp_state *state, const char *option, const char *word,
                  long least, long most);

/* Returns the name of a file, which must not be empty. */
const char *value_file(struct argp_state *state, const char *option, const char *name);

#endif
