/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The terminal; the only module that uses curses.  It draws on /dev/tty whatever the
 * standard streams are, and restores the terminal whenever memtop leaves it: in
 * term_close(), on fatal signals (crash.h), when suspended.
 */
#ifndef MEMTOP_TUI_TERM_H
#define MEMTOP_TUI_TERM_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/canvas.h"

/* Is there a terminal that can show the display, with memtop in its foreground?  With
   plain, any terminal will do.  If not, why holds a translated reason of one line. */
bool term_usable(bool plain, char *why, size_t size);

/* Takes over the terminal.  Returns 0 or -errno; -ENODEV if it cannot show the display.
   With plain, only keys are read and lines written; term_show() does nothing.
   term_close() restores the terminal; it may be called at any time. */
int term_open(bool colour, bool plain);
void term_close(void);

/* The descriptor to poll() for input. */
int term_fd(void);

/* The size now, at least 1x1.  Call term_resize() if it has changed. */
void term_size(int *rows, int *cols);

/* Adopts a size.  Returns false if memory is short. */
bool term_resize(int rows, int cols);

/* Is the terminal gone?  So it is if poll() said HUP or ERR, or said readable although
   there is nothing to read. */
bool term_lost(short revents);

/* The next key (keys.h), INPUT_NONE if none is waiting. */
int term_read(void);

/* Reads bytes as typed, undecoded; returns how many, 0 if none are waiting. */
size_t term_read_raw(void *bytes, size_t size);

/* Shows the canvas, which must have the terminal's size; sends only what has changed. */
void term_show(const struct canvas *canvas);

/* Writes a line, on a plain terminal only. */
void term_say(const char *line);

/* Makes the next term_show() send everything. */
void term_forget(void);

/* Stops memtop, as ^Z usually does; returns when memtop is continued. */
void term_suspend(void);

/* Turns mouse events on or off (they are off at first); returns false if the terminal
   has no mouse. */
bool term_mouse(bool on);
/* Where the last mouse event was. */
void term_mouse_place(int *row, int *col);

#endif
