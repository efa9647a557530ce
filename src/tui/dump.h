/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The screen as a text file, for tests. */
#ifndef MEMTOP_TUI_DUMP_H
#define MEMTOP_TUI_DUMP_H

#include "tui/canvas.h"

/* Replaces the file by the picture, a line for each row without trailing
   blanks; whole at any moment.  Returns 0 or -errno. */
int dump_screen(const char *path, const struct canvas *canvas);

#endif
