/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text and the columns it takes on a terminal.  Command lines, output of the target and
 * strings from a segment are hostile.  Text returned by these functions has no control
 * characters, escapes, direction overrides or invalid bytes: each becomes one '?', except
 * that the end of a line and a tab become a blank.
 *
 * Every function writes at most size bytes including the final NUL, never cuts inside a
 * character, and returns buf.
 */
#ifndef MEMTOP_TEXTWIDTH_H
#define MEMTOP_TEXTWIDTH_H

#include <stdbool.h>
#include <stddef.h>

enum text_align { TEXT_LEFT, TEXT_RIGHT };

/* Columns of text; what would become '?' counts as one. */
size_t text_columns(const char *text);

/* Makes length bytes printable. */
char *text_sanitise(char *buf, size_t size, const char *bytes, size_t length);

/* At most that many columns of text; if it is longer it ends in an ellipsis (one column
   in UTF-8, otherwise three, as far as they fit). */
char *text_clip(char *buf, size_t size, const char *text, size_t columns);

/* Exactly that many columns: clipped, or padded with blanks so that the text is aligned
   left or right. */
char *text_pad(char *buf, size_t size, const char *text, size_t columns,
               enum text_align align);

/* The beginning of text that fits a line of that many columns, but at least a character.
   It is cut after a word, or at a character of double width, if there is one.  Unlike the
   others, returns the number of bytes of text until the next line; buf may be NULL. */
size_t text_line(char *buf, size_t size, const char *text, size_t columns);

/* The end of text that fits that many columns: if it is cut, from the beginning of a word
   if there is one, otherwise of a character.  Points into text. */
const char *text_tail(const char *text, size_t columns);

/* Text for files and programs that take UTF-8 whatever the locale is: valid UTF-8 is
   kept, other bytes are converted from the locale's charset. */
char *text_utf8(char *buf, size_t size, const char *text);

/* From now on the ellipsis is three dots in UTF-8 too (--ascii). */
void text_ascii_ellipsis(bool ascii);

#endif
