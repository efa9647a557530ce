/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The latest lines the program printed: some on the overview, all that are kept
 * on the page of their own.  They rest at their end; scroll counts back from
 * there.  Every byte is untrusted.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>

#include "i18n.h"
#include "monitor/capture.h"

#define TAB_COLS   8
#define LINE_BYTES 4096

int
view_output_lines(const struct scene *scene)
{
    uint64_t dropped, count;

    if (scene->capture == NULL)
        return 0;
    dropped = capture_lines_dropped(scene->capture);
    count = capture_line_count(scene->capture);
    if (dropped + count > scene->output_end)
        count = scene->output_end > dropped ? scene->output_end - dropped : 0;
    return (int)count;
}

/* The line as text, tabs expanded. */
static void
line_text(char *text, size_t size, const char *bytes, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length && used + TAB_COLS < size; i++) {
        if (bytes[i] != '\t') {
            text[used++] = bytes[i] != '\0' ? bytes[i] : '?';
            continue;
        }
        do
            text[used++] = ' ';
        while (used % TAB_COLS != 0);
    }
    text[used] = '\0';
}

void
view_output_block(struct picture *picture, const struct scene *scene,
                  const struct rect *rect, int scroll)
{
    char text[LINE_BYTES], right[80] = "";
    int rows = rect->rows - 1;
    int lines = view_output_lines(scene);
    int first = lines - rows - scroll;

    canvas_clip(&picture->canvas, rect);
    if (rect->rows == 0)
        return;
    if (scroll > 0)
        snprintf(right, sizeof right,
                 ngettext("%d line back", "%d lines back", (unsigned)scroll), scroll);
    canvas_rule(&picture->canvas, rect->row, rect->col, rect->cols,
                _("Output of the program"), right);
    if (scene->capture == NULL) {
        canvas_put(&picture->canvas, rect->row + 1, rect->col + 1, rect->cols - 1,
                   ROLE_NORMAL, _("The output is redirected, not captured."));
        return;
    }
    if (first < 0)
        first = 0;
    for (int row = 0; row < rows && first + row < lines; row++) {
        size_t length;
        const char *bytes = capture_line(scene->capture, (size_t)(first + row), &length);

        line_text(text, sizeof text, bytes, length);
        canvas_put(&picture->canvas, rect->row + 1 + row, rect->col + 1, rect->cols - 1,
                   ROLE_NORMAL, text);
    }
}
