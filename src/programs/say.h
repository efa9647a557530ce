/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop's messages on the standard error. */
#ifndef MEMTOP_SAY_H
#define MEMTOP_SAY_H

/* Prints the name memtop was called by, a colon, the formatted text with control
   characters made harmless, and a newline. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* While the display uses the terminal, messages are passed to show(), and printed by
   say_release(). */
void say_hold(void (*show)(void *context, const char *text), void *context);
void say_release(void);

#endif
