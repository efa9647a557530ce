/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of memory: where the RSS went, one band per row.  Each bar begins where the
 * bar above it ends, so that together they make up the RSS and need no colours to be
 * told apart.  Below them are figures that are not part of the sum.  In a narrow window
 * columns are left out by importance: first what a band means, then its bar, then its
 * share.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>

#include "base/i18n.h"
#include "report/rss-lines.h"

#define BYTES_COLS 11
#define SHARE_COLS 5
#define BAR_COLS   10 /* least width */
#define GAP        2

/* Context of the table's rows, and the lines shown. */
struct rss_shown {
    const struct view *view;
    const struct scene *scene;
    int lines[BANDLINE_COUNT];
};

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
        lines += rss_line_shown(&scene->process->breakdown, line);
    return lines;
}

/* Number of columns that `bytes` fill, if `all` bytes fill cols. */
static int
place(uint64_t bytes, uint64_t all, int cols)
{
    return all > 0 ? (int)((double)bytes / (double)all * cols + 0.5) : 0;
}

static const struct rss_breakdown *
bands_of(const struct table_at *at)
{
    return &((const struct rss_shown *)at->data)->scene->process->breakdown;
}

static int
line_of(const struct table_at *at)
{
    return *(const int *)at->row;
}

/* Draws a band's bar, from where the bars before it end. */
static void
draw_bar(struct canvas *canvas, const struct rect *field, const struct table_at *at)
{
    const struct rss_breakdown *breakdown = bands_of(at);
    int line = line_of(at), col = field->col, cols = field->cols, begin, end;
    uint64_t bytes = rss_line_bytes(breakdown, line), before = 0;

    for (int i = 0; i < line && line < BAND_COUNT; i++)
        if (breakdown->bytes[i] != BAND_UNKNOWN)
            before += breakdown->bytes[i];
    if (line >= BAND_COUNT || bytes == 0 || bytes == BAND_UNKNOWN)
        return;
    begin = place(before, breakdown->rss, cols);
    end = place(before + bytes, breakdown->rss, cols);
    if (place(bytes, breakdown->rss, cols) > 0 && begin < end)
        canvas_bar(canvas, field->row, col + begin, end - begin, line_role(line), 1);
    else   /* less than half a column */
        canvas_bar(canvas, field->row, col + (begin < cols ? begin : cols - 1), 1,
                   line_role(line), 0.1);
}

static void
word_cell(struct table_cell *cell, const struct table_at *at)
{
    int line = line_of(at);

    cell->text = rss_line_word(line);
    cell->role = line < BAND_COUNT      ? ROLE_VALUE
                 : line == BANDLINE_RSS ? ROLE_TITLE
                                        : ROLE_NORMAL;
}

static void
bytes_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct rss_shown *shown = at->data;
    int line = line_of(at);

    units_bytes(cell->room, sizeof cell->room, rss_line_bytes(bands_of(at), line),
                shown->view->unit);
    cell->role = line == BANDLINE_RSS ? ROLE_TITLE : ROLE_NORMAL;
}

/* The difference from the mark; "-" if there is none. */
static void
since_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct rss_shown *shown = at->data;
    int line = line_of(at);
    const struct amount amount = {rss_line_bytes(bands_of(at), line),
                                  rss_line_bytes(&shown->scene->mark->breakdown, line),
                                  true};

    if (amount.now == BAND_UNKNOWN || amount.then == BAND_UNKNOWN)
        units_bytes(cell->room, sizeof cell->room, UNITS_UNKNOWN, shown->view->unit);
    else
        amount_bytes(cell->room, sizeof cell->room, &amount, shown->view->unit);
    cell->role = line == BANDLINE_RSS ? ROLE_TITLE : ROLE_NORMAL;
}

static bool
since_is_shown(const struct table_at *at)
{
    const struct mark *mark = ((const struct rss_shown *)at->data)->scene->mark;

    return mark != NULL && mark->breakdown.known;
}

static void
share_cell(struct table_cell *cell, const struct table_at *at)
{
    if (line_of(at) < BAND_COUNT)
        rss_line_share(cell->room, sizeof cell->room, bands_of(at), line_of(at));
}

static void
meaning_cell(struct table_cell *cell, const struct table_at *at)
{
    cell->text = rss_line_meaning(bands_of(at), line_of(at));
}

#define WORD .fit = true, .cell = word_cell
#define FIGURE .align = TEXT_RIGHT, .room = 1
#define BYTES FIGURE, .title = N_("resident"), .fit = true, .cell = bytes_cell

/* As wide as the column of the figures themselves. */
static int
since_content(const struct table_at *at)
{
    static const struct table_column bytes = {BYTES, .least = BYTES_COLS};

    return table_needs(at, &bytes) - 1;
}

/* The word is clipped if the figure needs its room. */
static int
narrow_word(const struct table_at *at)
{
    static const struct table_column whole = {WORD}, figure = {BYTES, .grow = true};
    int word = table_needs(at, &whole);
    int bytes = table_needs(at, &figure);

    return word < at->cols - bytes ? word : at->cols > bytes ? at->cols - bytes : 0;
}

static const struct table_column narrow_columns[] = {
    {.content = narrow_word, .cell = word_cell},
    {BYTES, .grow = true},
};
static const struct table narrow_table = {TABLE_COLUMNS(narrow_columns)};

static const struct table_column columns[] = {
    {.fixed = 1, .rank = 1},
    {WORD},
    {BYTES, .least = BYTES_COLS},
    {FIGURE, .title = N_("since mark"), .content = since_content, .rank = 2,
     .loose = true, .shown = since_is_shown, .cell = since_cell},
    {FIGURE, .title = N_("share"), .least = SHARE_COLS, .rank = 3, .loose = true,
     .cell = share_cell},
    {.gap = GAP,
     .least = BAR_COLS,
     .grow = true,
     .rank = 4,
     .loose = true,
     .draw = draw_bar},
    {.gap = GAP,
     .fit = true,
     .role = ROLE_DIM,
     .rank = 5,
     .loose = true,
     .cell = meaning_cell},
};
static const struct table memory_table = {TABLE_COLUMNS(columns),
                                          .narrow = &narrow_table};

static const void *
band_row(const struct table_rows *rows, size_t index)
{
    return &((const struct rss_shown *)rows->data)->lines[index];
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
    return _("Not read: the kernel does not report it.");
}

static int
count_lines(const struct screen *screen, const struct view *view,
            const struct scene *scene)
{
    (void)view;
    return table_has_headings(view_page_rest(screen).rows) + view_memory_lines(scene);
}

static void
draw(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const struct rss_breakdown *breakdown = &scene->process->breakdown;
    struct rss_shown shown = {.view = view, .scene = scene};
    struct table_rows rows = {.data = &shown,
                              .row = band_row,
                              .first = (size_t)view->scroll,
                              .selected = TABLE_NO_ROW};
    char time[UNITS_MAX], title[128] = "";
    struct rect rest;

    if (breakdown->known)
        /* TRANSLATORS: a moment of the run. */
        snprintf(title, sizeof title, _("read at %s"),
                 units_duration(time, sizeof time, breakdown->run_ns));
    rest = view_page_title(screen, pages_title(PAGE_MEMORY), title);
    if (!breakdown->known) {
        canvas_put(&screen->canvas, rest.row, rest.col + 1, rest.cols - 1, ROLE_NORMAL,
                   why_nothing(view, scene));
        return;
    }
    for (int line = 0; line < BANDLINE_COUNT; line++)
        if (rss_line_shown(breakdown, line))
            shown.lines[rows.count++] = line;
    table_draw(&screen->canvas, &rest, &memory_table, &rows);
}

const struct page_def page_memory = {
    .title = N_("Memory"),
    .reads = PAGE_READS_BANDS,
    .draw = draw,
    .lines = count_lines,
};
