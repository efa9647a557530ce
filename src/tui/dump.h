/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the screen to a text file, for tests. */
#ifndef MEMTOP_TUI_DUMP_H
#define MEMTOP_TUI_DUMP_H

#include "tui/canvas.h"

/* Replaces the file by the screen: one line per row, without trailing blanks.  The file
   is complete at any moment.  Returns 0 or -errno. */
int dump_screen(const char *path, const struct canvas *canvas);

#endif
