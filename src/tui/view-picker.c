/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws the picker: a title, the list of processes and a footer. */
#include "config.h"

#include "tui/picker.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "tui/processes.h"

#define GAP "   "   /* between two keys */

static char *
last_gap(char *text)
{
    char *last = NULL;

    for (char *gap = text; (gap = strstr(gap, GAP)) != NULL; gap += strlen(GAP))
        last = gap;
    return last;
}

/* Draws as many whole keys as fit. */
static void
draw_keys(struct canvas *canvas, const struct rect *footer, const char *keys)
{
    int room = footer->cols - 1;
    char text[256];
    char *gap;

    snprintf(text, sizeof text, "%s", keys);
    while ((int)text_columns(text) > room && (gap = last_gap(text)) != NULL)
        *gap = '\0';
    canvas_put(canvas, footer->row, 1, room, ROLE_DIM, text);
}

void
picker_draw(struct canvas *canvas, const struct processes *list)
{
    const struct rect body = { 1, 0, canvas->rows - 2, canvas->cols };
    const struct rect footer = { canvas->rows - 1, 0, 1, canvas->cols - 1 };
    char sum[256];

    canvas_clear(canvas);
    processes_sum(sum, sizeof sum, list->process_list, canvas->cols - 30, list->unit);
    canvas_rule(canvas, 0, 0, canvas->cols, _("Processes with libmemtop"), sum);
    if (process_list_count(list->process_list) == 0 && body.rows > 0)
        canvas_put(canvas, 1, 1, canvas->cols - 1, ROLE_NORMAL,
                   _("None: start one with memtop -B PROGRAM, or with "
                     "LD_PRELOAD=libmemtop.so"));
    else if (body.rows > 0)
        processes_draw(canvas, &body, list);
    if (canvas->rows > 1 && footer.cols > 0) {
        canvas_clip(canvas, &footer);
        draw_keys(canvas, &footer,
                  /* TRANSLATORS: keys of a list; three blanks between the parts. */
                  _("Up, Down select   Enter shows it   s R sort   q quits"));
    }
}
