/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where names of functions can be had that rows of allocation sites lack. */
#ifndef MEMTOP_SITE_HINT_H
#define MEMTOP_SITE_HINT_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/profile-table.h"

/* The path of the file with most functions without names in the first rows; NULL if all
   have names. */
const char *site_hint_file(const struct profile *profile,
                           const struct profile_table *table, size_t rows);

/* Says in a translated line what may have the names of such a file's functions: a package
   of Debian, and servers unless they were asked already.  Returns false if nothing is
   known that would help.  Reads dpkg's lists. */
bool site_hint(char *text, size_t size, const char *file, bool servers_asked);

#endif
