/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memtop's own fatal signals while the display is up: the terminal is given back,
 * one line says what happened, and the signal does what it does.
 */
#ifndef MEMTOP_TUI_CRASH_H
#define MEMTOP_TUI_CRASH_H

#include <stddef.h>
#include <termios.h>

/* From now on: the terminal, its attributes as they were before. */
void crash_catch(int terminal, const struct termios *before);

/* The bytes that leave the display. */
void crash_set_restore(const char *bytes, size_t count);

/* What to say. */
void crash_set_note(const char *note);

/* Called in a process of its own that outlives memtop, to keep what must go on;
   may use async-signal-safe functions only and does not return.  NULL: nothing. */
void crash_set_heir(void (*heir)(void));

/* No more. */
void crash_release(void);

#endif
