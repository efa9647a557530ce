/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * --dump-screen: the screen as last drawn.  It is written beside the file and then
 * renamed, so that a reader never sees half a screen.
 */
#include "config.h"

#include "tui/dump.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

int
dump_screen(const char *path, const struct canvas *canvas)
{
    char beside[PATH_MAX];
    char *line = malloc(canvas_row_bytes(canvas));
    FILE *file = NULL;
    int error = 0;

    snprintf(beside, sizeof beside, "%s.new", path);
    if (line == NULL || (file = fopen(beside, "we")) == NULL) {
        error = line == NULL ? -ENOMEM : -errno;
        free(line);
        return error;
    }
    for (int row = 0; row < canvas->rows; row++) {
        canvas_row_text(canvas, row, line);
        fprintf(file, "%s\n", line);
    }
    free(line);
    if (ferror(file))
        error = -EIO;
    if (fclose(file) != 0 || (error == 0 && rename(beside, path) != 0))
        error = -errno;
    return error;
}
