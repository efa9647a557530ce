/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Terminal output as lines of text: the latest ones, without escape sequences.  Not a
 * terminal emulator: a carriage return starts the line anew, a backspace removes the last
 * character, cursor movements are ignored.
 */
#ifndef MEMTOP_LINES_H
#define MEMTOP_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer line is continued on the next one. */
#define LINE_BYTES 1024

struct line_ring;

/* Keeps the latest limit finished lines.  Returns NULL if memory is short. */
struct line_ring *lines_new(size_t limit);
void lines_free(struct line_ring *lines);

void lines_feed(struct line_ring *lines, const char *bytes, size_t count);

/* As capture.h says. */
size_t lines_count(const struct line_ring *lines);
const char *lines_get(const struct line_ring *lines, size_t index, size_t *length);
uint64_t lines_dropped(const struct line_ring *lines);
bool lines_full_screen(const struct line_ring *lines);

#endif
