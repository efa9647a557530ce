/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of options.  What is none is said with argp_error(), which ends the program. */
#ifndef MEMTOP_VALUE_H
#define MEMTOP_VALUE_H

#include <argp.h>

/* Says what the option takes (translated) instead of the word. */
void value_refuse(struct argp_state *state, const char *option, const char *word,
                  const char *what);

/* The place of the word among words, "one, another, third". */
int value_word(struct argp_state *state, const char *option, const char *word,
               const char *words);

/* A number from least to most, neither of which is negative. */
long value_number(struct argp_state *state, const char *option, const char *word,
                  long least, long most);

/* The name of a file: it is not empty. */
const char *value_file(struct argp_state *state, const char *option, const char *name);

#endif
