/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of memory: where the RSS went, a band a row.  Each bar begins where the
 * one above it ends, so that together they are the RSS; no colour is needed to tell
 * them apart.  Below it what is not part of the sum.  Columns leave by importance:
 * what a band means, its bar, its share.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>

#include "base/i18n.h"
#include "report/bandlines.h"

#define BYTES_COLS   12
#define SHARE_COLS   6
#define BAR_MIN      10
#define GAP          2

static enum role
line_role(int line)
{
    switch (line) {
    case BAND_REQUESTED:
    case BAND_SLACK:
        return ROLE_HEAP;
    case BAND_HELD:
    case BAND_HEAP:
        return ROLE_PEAK;
    case BAND_MMAP:
        return ROLE_RATE;
    case BAND_STACKS:
        return ROLE_STACK;
    default:
        return ROLE_NORMAL;
    }
}

int
view_memory_lines(const struct scene *scene)
{
    int lines = 0;

    for (int line = 0; line < BANDLINE_COUNT; line++)
        lines += bandline_shown(&scene->process->bands, line);
    return lines;
}

/* Columns of each part, 0: not shown. */
struct memory_columns {
    int lead, word, bytes, since, share, bar, meaning;
};

static int
wider(int cols, const char *text)
{
    int text_cols = (int)text_columns(text);

    return cols < text_cols ? text_cols : cols;
}

static struct memory_columns
choose_columns(const struct view *view, const struct bands *bands, int cols, bool since)
{
    char text[UNITS_MAX];
    struct memory_columns columns = {.bytes = wider(BYTES_COLS - 1, _("resident")) + 1};
    int share = wider(SHARE_COLS - 1, _("share")) + 1;
    int meaning = 0, least = 0, since_cols, left;

    for (int line = 0; line < BANDLINE_COUNT; line++) {
        if (!bandline_shown(bands, line))
            continue;
        columns.word = wider(columns.word, bandline_word(line));
        least = wider(least, units_bytes(text, sizeof text, bandline_bytes(bands, line),
                                         view->unit));
        meaning = wider(meaning, bandline_meaning(bands, line));
    }
    if (columns.bytes < least + 1)
        columns.bytes = least + 1;
    columns.lead = cols > columns.word + columns.bytes;
    left = cols - columns.lead - columns.word - columns.bytes;
    if (left < 0) {
        /* The end of a word rather than of a figure. */
        columns.bytes = columns.bytes + left > least + 1 ? columns.bytes + left : least + 1;
        columns.word = cols > columns.bytes ? cols - columns.bytes : 0;
        left = 0;
    }
    since_cols = wider(columns.bytes - 1, _("since mark")) + 1;
    if (since && left >= since_cols) {
        columns.since = since_cols;
        left -= columns.since;
    }
    if (left >= share) {
        columns.share = share;
        left -= share;
    }
    if (left >= BAR_MIN + 2 * GAP + meaning) {
        columns.meaning = meaning;
        left -= columns.meaning + GAP;
    }
    columns.bar = left >= BAR_MIN + GAP ? left - GAP : 0;
    return columns;
}

/* The columns of a bar up to so many of all bytes. */
static int
place(uint64_t bytes, uint64_t all, int cols)
{
    return all > 0 ? (int)((double)bytes / (double)all * cols + 0.5) : 0;
}

/* The bar of a band, from where those before it end. */
static void
draw_bar(struct picture *picture, const struct bands *bands, int line, int row, int col,
         int cols)
{
    uint64_t bytes = bandline_bytes(bands, line), before = 0;
    int begin, end;

    for (int i = 0; i < line; i++)
        if (bands->bytes[i] != BAND_UNKNOWN)
            before += bands->bytes[i];
    if (bytes == 0 || bytes == BAND_UNKNOWN)
        return;
    begin = place(before, bands->rss, cols);
    end = place(before + bytes, bands->rss, cols);
    if (place(bytes, bands->rss, cols) > 0 && begin < end)
        canvas_bar(&picture->canvas, row, col + begin, end - begin, line_role(line), 1);
    else   /* less than half a column */
        canvas_bar(&picture->canvas, row, col + (begin < cols ? begin : cols - 1), 1,
                   line_role(line), 0.1);
}

/* The difference to the mark; "-" if there is none. */
static char *
since_text(char *text, size_t size, const struct view *view, const struct scene *scene,
           int line)
{
    const struct amount amount = { bandline_bytes(&scene->process->bands, line),
                                   bandline_bytes(&scene->mark->bands, line), true };

    if (amount.now == BAND_UNKNOWN || amount.then == BAND_UNKNOWN)
        return units_bytes(text, size, UNITS_UNKNOWN, view->unit);
    return amount_bytes(text, size, &amount, view->unit);
}

static void
draw_line(struct picture *picture, const struct view *view, const struct scene *scene,
          const struct memory_columns *columns, int line, int row, int col)
{
    struct canvas *canvas = &picture->canvas;
    const struct bands *bands = &scene->process->bands;
    bool part = line < BAND_COUNT;
    enum role role = line == BANDLINE_RSS ? ROLE_TITLE : ROLE_NORMAL;
    char text[UNITS_MAX];

    col += columns->lead;
    canvas_field(canvas, row, col, columns->word, TEXT_LEFT, part ? ROLE_VALUE : role,
                 bandline_word(line));
    col += columns->word;
    canvas_field(canvas, row, col, columns->bytes, TEXT_RIGHT, role,
                 units_bytes(text, sizeof text, bandline_bytes(bands, line), view->unit));
    col += columns->bytes;
    if (columns->since > 0)
        canvas_field(canvas, row, col, columns->since, TEXT_RIGHT, role,
                     since_text(text, sizeof text, view, scene, line));
    col += columns->since;
    if (columns->share > 0 && part)
        canvas_field(canvas, row, col, columns->share, TEXT_RIGHT, role,
                     bandline_share(text, sizeof text, bands, line));
    col += columns->share + GAP;
    if (columns->bar > 0 && part)
        draw_bar(picture, bands, line, row, col, columns->bar);
    col += columns->bar > 0 ? columns->bar + GAP : 0;
    if (columns->meaning > 0)
        canvas_put(canvas, row, col, columns->meaning, ROLE_DIM,
                   bandline_meaning(bands, line));
}

static void
draw_heading(struct picture *picture, const struct memory_columns *columns, int row,
             int col)
{
    struct canvas *canvas = &picture->canvas;

    col += columns->lead + columns->word;
    canvas_field(canvas, row, col + 1, columns->bytes - 1, TEXT_RIGHT, ROLE_DIM,
                 _("resident"));
    col += columns->bytes;
    if (columns->since > 0)
        canvas_field(canvas, row, col + 1, columns->since - 1, TEXT_RIGHT, ROLE_DIM,
                     _("since mark"));
    col += columns->since;
    if (columns->share > 0)
        canvas_field(canvas, row, col + 1, columns->share - 1, TEXT_RIGHT, ROLE_DIM,
                     _("share"));
}

/* Why there is nothing to show. */
static const char *
why_nothing(const struct view *view, const struct scene *scene)
{
    if (view->history)
        return _("Not recorded at this moment.");
    if (scene->saved)
        return _("not recorded");
    if (scene->process->ended)
        return _("Not read before the program ended.");
    return _("Not read: the kernel does not tell.");
}

void
view_memory(struct picture *picture, const struct view *view, const struct scene *scene)
{
    const struct bands *bands = &scene->process->bands;
    char time[UNITS_MAX], title[128] = "";
    struct memory_columns columns;
    struct rect rest;
    int top, row;

    if (bands->known)
        /* TRANSLATORS: a moment of the run. */
        snprintf(title, sizeof title, _("read at %s"),
                 units_duration(time, sizeof time, bands->run_ns));
    rest = view_page_title(picture, _("Memory"), title);
    if (!bands->known) {
        canvas_put(&picture->canvas, rest.row, rest.col + 1, rest.cols - 1, ROLE_NORMAL,
                   why_nothing(view, scene));
        return;
    }
    columns = choose_columns(view, bands, rest.cols,
                             scene->mark != NULL && scene->mark->bands.known);
    top = rest.row + view_has_headings(rest.rows);
    if (top > rest.row)
        draw_heading(picture, &columns, rest.row, rest.col);
    row = top - view->scroll;
    for (int line = 0; line < BANDLINE_COUNT; line++) {
        if (!bandline_shown(bands, line))
            continue;
        if (row >= top)
            draw_line(picture, view, scene, &columns, line, row, rest.col);
        row++;
    }
}
