/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words about allocation sites, shared by the page and the reports. */
#ifndef MEMTOP_SITE_WORDS_H
#define MEMTOP_SITE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/profile-table.h"
#include "base/units.h"

/* "live now", "call stacks"; translated. */
const char *site_mode_word(enum profile_mode mode);
const char *site_form_word(enum profile_form form);

/* Says why there are no samples of a process, and what helps; translated. */
const char *site_lack_text(enum sites_state state);

/* Says why there are no rows, translated; "" if there is no special reason.  table was
   answered; state says why nothing may be known at all. */
const char *site_answer_text(const struct profile_table *table, enum sites_state state);

/* "2.1%" of the estimated bytes; "-" if these are 0. */
char *site_error_text(char *text, size_t size, const struct profile_figures *figures);

/* "-12.0 MiB": figures may be negative. */
char *site_bytes_text(char *text, size_t size, double bytes, enum unit unit);
char *site_count_text(char *text, size_t size, double count);

/* "f < g < main": a row's functions, innermost first, unsanitised; "f (file.c:12) < g..."
   with sources, where the source of the first one is known. */
char *site_path_text(char *text, size_t size, const struct profile *profile,
                     const struct profile_table *table, size_t row, bool sources);

/* The word for a class of lifetimes: "1-10 s". */
const char *site_lifetime_word(unsigned class);

/* Says how it was measured, one part per call, index from 0; false if there are no more.
   lack is set to whether the part says what the figures lack. */
bool site_note(const struct sites_reading *reading, unsigned index, enum unit unit,
               char *text, size_t size, bool *lack);

#endif
