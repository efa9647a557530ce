/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The footer and the help page, both made from the table of keys.
 */
#include "config.h"

#include "tui/view.h"

#include <string.h>

#include "i18n.h"
#include "tui/keys.h"

#define LABEL_COLS 7

/* Lines of the help: the listed keys. */
static int
help_lines(void)
{
    size_t count;
    const struct key *keys = keys_table(&count);
    int lines = 0;

    for (size_t i = 0; i < count; i++)
        lines += keys[i].label[0] != '\0';
    return lines;
}

/* Lines on one page: all but the title and the last row. */
static int
lines_per_page(const struct picture *picture)
{
    int lines = picture->canvas.rows - 2;

    return lines < 1 ? 1 : lines;
}

int
view_help_pages(const struct picture *picture)
{
    int each = lines_per_page(picture);

    return (help_lines() + each - 1) / each;
}

static void
help_line(struct picture *picture, int row, const char *label, const char *help)
{
    int cols = picture->canvas.cols;

    canvas_put(&picture->canvas, row, 1, LABEL_COLS, ROLE_KEY, label);
    canvas_put(&picture->canvas, row, 1 + LABEL_COLS, cols, ROLE_NORMAL, help);
}

/* Covers the rows from the top to the last but one, or as many as needed. */
void
view_help(struct picture *picture, const struct view *view)
{
    int each = lines_per_page(picture);
    int pages = view_help_pages(picture);
    /* On a larger screen there are fewer. */
    int page = view->help < pages ? view->help : pages;
    int first = (page - 1) * each;
    bool more = page < pages;
    /* The last line belongs to the message or the footer. */
    const struct rect rect = { 0, 0, picture->canvas.rows - 1, picture->canvas.cols };
    size_t count;
    const struct key *keys = keys_table(&count);
    int line = 0;

    canvas_clip(&picture->canvas, &rect);
    canvas_clear_rows(&picture->canvas, 0, rect.rows);
    canvas_rule(&picture->canvas, 0, 0, picture->canvas.cols, _("Keys"),
                more ? _("any key: more") : _("any key closes"));
    for (size_t i = 0; i < count; i++) {
        if (keys[i].label[0] == '\0' || line++ < first || line > first + each)
            continue;
        help_line(picture, line - first, keys[i].label, _(keys[i].help));
    }
}

void
view_footer(struct picture *picture, const struct view *view)
{
    const struct rect *rect = &picture->layout.block[BLOCK_FOOTER];
    size_t count;
    const struct key *keys = keys_table(&count);
    int col = rect->col;
    int end = rect->col + rect->cols;

    canvas_clip(&picture->canvas, rect);
    if (rect->rows == 0)
        return;
    if (view->interacting) {
        canvas_put(&picture->canvas, rect->row, col, end - col, ROLE_PROMPT,
                   _(" Keys go to the program; ^] takes them back "));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *word = keys[i].footer[0] != '\0' ? _(keys[i].footer) : "";
        int label_cols = (int)strlen(keys[i].label);
        int cols = label_cols + 1 + (int)text_columns(word);

        if (word[0] == '\0')
            continue;
        /* Whole items, but the way to the help stays. */
        if (i == 0 && col + cols > end && col + label_cols <= end)
            canvas_put(&picture->canvas, rect->row, col, label_cols, ROLE_KEY,
                       keys[i].label);
        if (col + cols > end)
            break;
        picture_hit(picture, &(struct hit){ .rect = { rect->row, col, 1, cols },
                                            .action = keys[i].action });
        canvas_put(&picture->canvas, rect->row, col, end - col, ROLE_KEY, keys[i].label);
        canvas_put(&picture->canvas, rect->row, col + label_cols + 1, end - col,
                   ROLE_NORMAL, word);
        col += cols + 2;
    }
}
