/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text and the columns it takes on a terminal.  Command lines, output of the
 * target and strings from a segment are hostile: whatever goes through here
 * comes out without control characters, escapes, direction overrides or
 * invalid bytes: each becomes one '?', but the end of a line and a tab a blank.
 *
 * Every function writes at most size bytes including the final NUL, never cuts
 * inside a character, and returns buf.
 */
#ifndef MEMTOP_TEXTWIDTH_H
#define MEMTOP_TEXTWIDTH_H

#include <stdbool.h>
#include <stddef.h>

enum text_align { TEXT_LEFT, TEXT_RIGHT };

/* Columns of text, counting what would become '?' as one. */
size_t text_columns(const char *text);

/* Makes length bytes printable. */
char *text_sanitise(char *buf, size_t size, const char *bytes, size_t length);

/* At most so many columns of text; if it is longer it ends in an ellipsis
   (one column in UTF-8, else three, as far as they fit). */
char *text_clip(char *buf, size_t size, const char *text, size_t columns);

/* Exactly so many columns: clipped, or padded with blanks so that the text
   stands left or right. */
char *text_pad(char *buf, size_t size, const char *text, size_t columns,
               enum text_align align);

/* The beginning of text that makes a line of so many columns, cut after a word, or at a
   character of double width, if there is one to cut after: at least a character.  Returns the bytes of text until the next
   line, unlike the others; buf may be NULL. */
size_t text_line(char *buf, size_t size, const char *text, size_t columns);

/* The end of text that has so many columns at most: from the beginning of a word if it
   is cut and there is one, else from that of a character.  Points into text. */
const char *text_tail(const char *text, size_t columns);

/* Text for files and programs that take UTF-8 whatever the locale: bytes that
   are valid UTF-8 stay, others are taken in the locale's charset. */
char *text_utf8(char *buf, size_t size, const char *text);

/* From now on use three dots for the ellipsis in UTF-8 too (--ascii). */
void text_ascii_ellipsis(bool ascii);

#endif
