/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop's own words on the standard error. */
#ifndef MEMTOP_SAY_H
#define MEMTOP_SAY_H

/* Prints the name memtop was called by, a colon, the translated format's text
   made harmless for a terminal, and a newline. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* While the display has the terminal: what is said is handed to show(), and printed at
   the release. */
void say_hold(void (*show)(void *context, const char *text), void *context);
void say_release(void);

#endif
