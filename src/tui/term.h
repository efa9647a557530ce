/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The terminal, and the only module that knows curses.  It draws on /dev/tty
 * whatever the standard streams are, and gives the terminal back on every way
 * out: on term_close(), on fatal signals (crash.h), when suspended.
 */
#ifndef MEMTOP_TUI_TERM_H
#define MEMTOP_TUI_TERM_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/canvas.h"

/* Whether there is a terminal that can show the display and that is ours to
   use now; plain: that can show lines, which every one can.  If not, why says it in
   one translated line. */
bool term_usable(bool plain, char *why, size_t size);

/* Takes the terminal over.  Returns 0 or -errno (-ENODEV: it cannot show the
   display).  term_close() gives it back; it may be called at any time.  plain: only
   keys are read and lines written, term_show() shows nothing. */
int term_open(bool colour, bool plain);
void term_close(void);

/* For poll(). */
int term_fd(void);

/* The size now, at least 1x1; after a change call term_resize(). */
void term_size(int *rows, int *cols);

/* Follows the terminal to a size; false if memory is short. */
bool term_resize(int rows, int cols);

/* True if the terminal is gone: poll() said HUP or ERR, or readable without
   there being anything to read. */
bool term_lost(short revents);

/* The next key typed (keys.h), INPUT_NONE if there is none. */
int term_read(void);

/* Bytes as typed, undecoded; how many. */
size_t term_read_raw(void *bytes, size_t size);

/* Shows the canvas, which must have the terminal's size: sends what changed. */
void term_show(const struct canvas *canvas);

/* Writes a line, if the terminal is plain. */
void term_say(const char *line);

/* The next term_show() sends everything. */
void term_forget(void);

/* Stops memtop as ^Z does elsewhere; returns when it is continued. */
void term_suspend(void);

/* Mouse events come as keys, or not any more (at first); false if the terminal has
   none.  And where the latest one was. */
bool term_mouse(bool on);
void term_mouse_place(int *row, int *col);

#endif
