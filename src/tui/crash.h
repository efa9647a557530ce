/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Handles memtop's own fatal signals while the display is up: restores the terminal,
 * writes one line about what happened, and lets the signal take its effect.
 */
#ifndef MEMTOP_TUI_CRASH_H
#define MEMTOP_TUI_CRASH_H

#include <stddef.h>
#include <termios.h>

/* Starts catching fatal signals. before: the attributes to restore on the terminal. */
void crash_catch(int terminal, const struct termios *before);

/* Sets the bytes that make the terminal leave the display.  They are copied. */
void crash_set_restore(const char *bytes, size_t count);

/* Sets the line to write after a crash.  It is copied. */
void crash_set_note(const char *note);

/* Sets a function that a crash runs in a child process, which outlives memtop, to keep
   up what must go on.  It may use only async-signal-safe functions.  NULL: none. */
void crash_set_heir(void (*heir)(void));

/* Restores the handlers that were installed before crash_catch(). */
void crash_release(void);

#endif
