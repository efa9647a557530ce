/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finding text in text that was made printable.  A pattern of small letters alone
 * finds capitals too.  Nothing is found for an empty pattern.
 */
#ifndef MEMTOP_TUI_SEARCH_H
#define MEMTOP_TUI_SEARCH_H

#include <stdbool.h>

#define SEARCH_MAX 128   /* bytes of a pattern */

/* The first match that begins at column *col or later: *col becomes where it
   begins, *cols how wide it is.  False if there is none. */
bool search_text(const char *text, const char *pattern, int *col, int *cols);

#endif
