/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds text in text that was made printable.  A pattern without capitals also matches
 * capitals.  An empty pattern matches nothing.
 */
#ifndef MEMTOP_TUI_SEARCH_H
#define MEMTOP_TUI_SEARCH_H

#include <stdbool.h>

#define SEARCH_MAX 128   /* size of a pattern in bytes */

/* Finds the first match that begins at column *col or later; sets *col to its beginning
   and *cols to its width.  Returns false if there is none. */
bool search_text(const char *text, const char *pattern, int *col, int *cols);

#endif
