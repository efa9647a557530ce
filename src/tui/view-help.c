/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The footer and the help page, both made from the table of keys.
 */
#include "config.h"

#include "tui/view.h"

#include <string.h>

#include "base/i18n.h"
#include "tui/keys.h"

#define LABEL_COLS 7

/* Lines on one page: all except the title and the last row. */
static int
lines_per_page(const struct screen *screen)
{
    int lines = screen->canvas.rows - 2;

    return lines < 1 ? 1 : lines;
}

/* Width of the labels, which depends on the language. */
static int
label_cols(void)
{
    size_t count;
    const struct key *keys = keys_table(&count);
    int widest = LABEL_COLS;

    for (size_t i = 0; i < count; i++) {
        int cols = (int)text_columns(keys_label(&keys[i])) + 1;

        if (cols > widest)
            widest = cols;
    }
    return widest;
}

/* Lines the help of one key takes. */
static int
help_lines(const char *help, int cols)
{
    int lines = 0;

    for (; *help != '\0'; lines++)
        help += text_line(NULL, 0, help, (size_t)cols);
    return lines;
}

/* Where the next line goes. */
struct place {
    int page, line;
};

/* Places the help of one key after a label of width `labels`; draws it only if it is on
   the wanted page. */
static void
help_of_key(struct screen *screen, const struct key *key, int labels,
            struct place *place, int page)
{
    int each = lines_per_page(screen), room = screen->canvas.cols - 1 - labels;
    int cols = room < 1 ? 1 : room;
    const char *help = _(key->help);
    int lines = help_lines(help, cols);
    bool whole = place->line + lines <= each || lines > each;

    for (int line = 0; line < lines; line++) {
        char text[1024];

        if (place->line == each || (line == 0 && !whole))
            *place = (struct place){ place->page + 1, 0 };
        place->line++;
        help += text_line(text, sizeof text, help, (size_t)cols);
        if (place->page != page)
            continue;
        if (line == 0)
            canvas_put(&screen->canvas, place->line, 1, labels, ROLE_KEY,
                       keys_label(key));
        canvas_put(&screen->canvas, place->line, 1 + labels, cols, ROLE_NORMAL, text);
    }
}

/* Draws a page of the help, nothing if page is 0.  Returns the number of pages. */
static int
help_pages(struct screen *screen, int page)
{
    struct place place = { 1, 0 };
    size_t count;
    const struct key *keys = keys_table(&count);
    int labels = label_cols();

    for (size_t i = 0; i < count; i++)
        if (keys[i].label[0] != '\0')
            help_of_key(screen, &keys[i], labels, &place, page);
    return place.page;
}

int
view_help_pages(struct screen *screen)
{
    return help_pages(screen, 0);
}

/* Covers all rows but the last, which belongs to the message or the footer. */
void
view_help(struct screen *screen, const struct view *view)
{
    int pages = view_help_pages(screen);
    /* The screen may have grown since, and have fewer pages now. */
    int page = view->help < pages ? view->help : pages;
    const struct rect rect = { 0, 0, screen->canvas.rows - 1, screen->canvas.cols };

    canvas_clip(&screen->canvas, &rect);
    canvas_clear_rows(&screen->canvas, 0, rect.rows);
    canvas_rule(&screen->canvas, 0, 0, screen->canvas.cols, _("Keys"),
                page < pages ? _("any key: more") : _("any key closes"));
    help_pages(screen, page);
}

/* Number of keys in the footer that every page uses; the keys of the page follow them. */
#define EVERYWHERE 3

/* Draws a key and its word at *col and moves *col on.  Returns false if there is no
   room. */
static bool
footer_item(struct screen *screen, int *col, int end, const struct key *key,
            const char *word)
{
    const struct rect *rect = &screen->layout.block[BLOCK_FOOTER];
    const char *label = keys_label(key);
    int key_cols = (int)text_columns(label);
    int cols = key_cols + 1 + (int)text_columns(word);

    if (*col + cols > end)
        return false;
    picture_hit(screen, &(struct hit){ .rect = { rect->row, *col, 1, cols },
                                        .action = key->action });
    canvas_put(&screen->canvas, rect->row, *col, end - *col, ROLE_KEY, label);
    canvas_put(&screen->canvas, rect->row, *col + key_cols + 1, end - *col,
               ROLE_NORMAL, word);
    *col += cols + 2;
    return true;
}

static bool
footer_of_page(struct screen *screen, int *col, int end, const struct page_def *page)
{
    size_t count;
    const struct key *keys = keys_table(&count);

    for (size_t i = 0; i < page->word_count; i++)
        for (size_t k = 0; k < count; k++)
            if (keys[k].action == page->words[i].action
                && !footer_item(screen, col, end, &keys[k], _(page->words[i].word)))
                return false;
    return true;
}

void
view_footer(struct screen *screen, const struct view *view)
{
    const struct rect *rect = &screen->layout.block[BLOCK_FOOTER];
    size_t count, words = 0;
    const struct key *keys = keys_table(&count);
    int col = rect->col;
    int end = rect->col + rect->cols;

    canvas_clip(&screen->canvas, rect);
    if (rect->rows == 0)
        return;
    if (view->interacting) {
        canvas_put(&screen->canvas, rect->row, col, end - col, ROLE_PROMPT,
                   _(" Keys go to the program; ^] takes them back "));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (keys[i].footer[0] == '\0')
            continue;
        if (words++ == EVERYWHERE
            && !footer_of_page(screen, &col, end, pages_def(view->page)))
            return;
        if (footer_item(screen, &col, end, &keys[i], _(keys[i].footer)))
            continue;
        /* Only whole items are drawn, but the key of the help always is. */
        if (i == 0)
            canvas_put(&screen->canvas, rect->row, col, end - col, ROLE_KEY,
                       keys_label(&keys[i]));
        return;
    }
}
