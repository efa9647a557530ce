/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The latest lines the program printed: some on the overview, all that are kept on their
 * own page.  They rest at their end; scroll counts back from there.  Every byte is
 * untrusted.
 */
#include "config.h"

#include "tui/state.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "system/capture.h"

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

/* Copies the line with its tabs expanded. */
static void
expand_tabs(char *text, size_t size, const char *bytes, size_t length)
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

char *
view_output_text(const struct scene *scene, int index, char *text, size_t size)
{
    char expanded[LINE_BYTES];
    size_t length;
    const char *bytes = capture_line(scene->capture, (size_t)index, &length);

    expand_tabs(expanded, sizeof expanded, bytes, length);
    return text_sanitise(text, size, expanded, strlen(expanded));
}

static void
draw_line(struct screen *screen, const struct view *view, const struct scene *scene,
          const struct rect *rect, int row, int index)
{
    char text[OUTPUT_TEXT_MAX];
    int col = 0, cols;

    view_output_text(scene, index, text, sizeof text);
    canvas_put(&screen->canvas, row, rect->col + 1, rect->cols - 1, ROLE_NORMAL, text);
    for (; search_text(text, view->search, &col, &cols); col += cols > 0 ? cols : 1)
        canvas_paint(&screen->canvas, row, rect->col + 1 + col, cols, ROLE_PROMPT);
    /* The line of the search also gets a sign, not only a look. */
    if (view->search[0] != '\0' && view->found_any
        && view->found == capture_lines_dropped(scene->capture) + (uint64_t)index)
        canvas_char(&screen->canvas, row, rect->col, ROLE_VALUE, L'>');
}

static void
draw_title(struct screen *screen, const struct view *view, const struct rect *rect,
           int scroll)
{
    char right[SEARCH_MAX + 80] = "";

    if (scroll > 0)
        snprintf(right, sizeof right,
                 ngettext("%d line back", "%d lines back", (unsigned)scroll), scroll);
    else if (view->search[0] != '\0')
        snprintf(right, sizeof right, _("search: %s"), view->search);
    view_block_title(screen, rect, PAGE_OUTPUT, pages_title(PAGE_OUTPUT), right);
}

static struct rect
below_title(const struct rect *rect)
{
    return (struct rect){ rect->row + 1, rect->col, rect->rows - 1, rect->cols };
}

void
view_output_block(struct screen *screen, const struct view *view,
                  const struct scene *scene, const struct rect *rect, int scroll)
{
    struct rect rest =
        view->page == PAGE_OUTPUT ? view_page_rest(screen) : below_title(rect);
    int lines = view_output_lines(scene);
    int first = lines - rest.rows - scroll;

    canvas_clip(&screen->canvas, rect);
    if (rect->rows == 0)
        return;
    if (rest.rows < rect->rows)
        draw_title(screen, view, rect, scroll);
    if (scene->capture == NULL) {
        canvas_put(&screen->canvas, rest.row, rest.col + 1, rest.cols - 1,
                   ROLE_NORMAL, scene->saved
                                    ? _("The output was not recorded.")
                                    : _("The output is redirected, not captured."));
        return;
    }
    if (first < 0)
        first = 0;
    for (int row = 0; row < rest.rows && first + row < lines; row++)
        draw_line(screen, view, scene, rect, rest.row + row, first + row);
}

static void
draw(struct screen *screen, const struct view *view, const struct scene *scene)
{
    view_output_block(screen, view, scene, &screen->layout.block[BLOCK_BODY],
                      view->scroll);
}

static int
count_lines(const struct screen *screen, const struct view *view,
            const struct scene *scene)
{
    (void)screen;
    (void)view;
    return view_output_lines(scene);
}

const struct page_def page_output = {
    .title = N_("Output of the program"),
    .draw = draw,
    .lines = count_lines,
    .at_end = true,
    .asks = N_("Search: %s_"),
    .find = find_output,
};
