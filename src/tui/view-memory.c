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

#include "i18n.h"

#define BYTES_COLS   12   /* with a sign */
#define SHARE_COLS   6
#define BAR_MIN      10
#define GAP          2
#define HEADING_FROM 4    /* rows: fewer are for the figures alone */
#define UNSURE_SHARE 20   /* told from 1/20 of the RSS on */

/* A row: a band, or one of the lines below them. */
struct line {
    const char *word;
    const char *meaning;
    struct amount amount;
    uint64_t begin;      /* bytes of the bands above it */
    bool part;           /* of the RSS: it has a share and a bar */
    enum role role;
};

#define LINES_MAX (BAND_COUNT + 5)

struct lines {
    struct line items[LINES_MAX];
    int count;
    int word_cols, meaning_cols;   /* of the longest */
};

static enum role
band_role(enum band band)
{
    switch (band) {
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

static void
add_line(struct lines *lines, const struct line *line)
{
    int word = (int)text_columns(line->word), meaning = (int)text_columns(line->meaning);

    lines->items[lines->count++] = *line;
    if (lines->word_cols < word)
        lines->word_cols = word;
    if (lines->meaning_cols < meaning)
        lines->meaning_cols = meaning;
}

/* What was not known at the mark, or is not now, has no difference. */
static struct amount
change(const struct scene *scene, uint64_t now, uint64_t then)
{
    const struct amount amount = { now, then,
                                   scene->mark != NULL && scene->mark->bands.known };

    if (amount.since && (now == BAND_UNKNOWN || then == BAND_UNKNOWN))
        return (struct amount){ BAND_UNKNOWN, 0, false };
    return amount;
}

static void
add_bands(struct lines *lines, const struct scene *scene)
{
    const struct bands *bands = &scene->process->bands;
    uint64_t begin = 0;

    for (int i = 0; i < BAND_COUNT; i++) {
        enum band band = (enum band)i;
        uint64_t bytes = bands->bytes[band];
        uint64_t then = scene->mark != NULL ? scene->mark->bands.bytes[band] : 0;

        /* The heap as a whole is for those whose blocks are not known. */
        if (band == BAND_HEAP && bands->bytes[BAND_REQUESTED] != BAND_UNKNOWN)
            continue;
        add_line(lines, &(struct line){ band_word(band), band_meaning(bands, band),
                                        change(scene, bytes, then), begin, true,
                                        band_role(band) });
        begin += bytes == BAND_UNKNOWN ? 0 : bytes;
    }
}

static void
add_others(struct lines *lines, const struct scene *scene)
{
    static const struct bands none;
    const struct bands *now = &scene->process->bands;
    const struct bands *then = scene->mark != NULL ? &scene->mark->bands : &none;
    const struct {
        const char *word, *meaning;
        uint64_t now, then;
        bool shown;
    } others[] = {
        { _("RSS"), _("all of these"), now->rss, then->rss, true },
        { _("PSS"), _("what is shared, in part"), now->pss, then->pss, now->pss > 0 },
        { _("swap"), _("not in memory"), now->swap, then->swap, now->swap > 0 },
        { _("absent"), _("live blocks, not resident"), now->absent, then->absent,
          now->absent > 0 },
        { _("unsure"), _("requested, or mmap"), now->unsure, then->unsure,
          now->unsure > now->rss / UNSURE_SHARE },
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].shown)
            add_line(lines, &(struct line){ others[i].word, others[i].meaning,
                                            change(scene, others[i].now, others[i].then),
                                            0, false,
                                            i == 0 ? ROLE_TITLE : ROLE_DIM });
}

static void
fill(struct lines *lines, const struct scene *scene)
{
    lines->count = lines->word_cols = lines->meaning_cols = 0;
    if (!scene->process->bands.known)
        return;
    add_bands(lines, scene);
    add_others(lines, scene);
}

int
view_memory_lines(const struct scene *scene)
{
    struct lines lines;

    fill(&lines, scene);
    return lines.count + 1;   /* the heading */
}

/* Columns of each part, 0: not shown. */
struct columns {
    int lead, word, bytes, since, share, bar, meaning;
};

static struct columns
choose_columns(const struct lines *lines, int cols, bool since)
{
    struct columns columns = { .lead = cols > lines->word_cols + BYTES_COLS,
                               .word = lines->word_cols,
                               .bytes = BYTES_COLS };
    int left = cols - columns.lead - columns.word - columns.bytes;

    if (left < 0)
        columns.bytes += left;

    if (since && left >= BYTES_COLS) {
        columns.since = BYTES_COLS;
        left -= columns.since;
    }
    if (left >= SHARE_COLS) {
        columns.share = SHARE_COLS;
        left -= SHARE_COLS;
    }
    if (left >= BAR_MIN + 2 * GAP + lines->meaning_cols) {
        columns.meaning = lines->meaning_cols;
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

static void
draw_bar(struct picture *picture, const struct line *line, uint64_t rss, int row, int col,
         int cols)
{
    uint64_t bytes = line->amount.now;
    int begin, end;

    if (bytes == 0 || bytes == BAND_UNKNOWN)
        return;
    begin = place(line->begin, rss, cols);
    end = place(line->begin + bytes, rss, cols);
    if (place(bytes, rss, cols) > 0 && begin < end)
        canvas_bar(&picture->canvas, row, col + begin, end - begin, line->role, 1);
    else   /* less than half a column */
        canvas_bar(&picture->canvas, row, col + (begin < cols ? begin : cols - 1), 1,
                   line->role, 0.1);
}

static void
share_text(char *text, size_t size, uint64_t bytes, uint64_t rss)
{
    double share = rss > 0 ? 100 * (double)bytes / (double)rss : 0;

    if (bytes == BAND_UNKNOWN)
        text[0] = '\0';
    else if (bytes > 0 && share < 0.5)
        snprintf(text, size, "<1%%");
    else
        snprintf(text, size, "%.0f%%", share);
}

static void
draw_line(struct picture *picture, const struct view *view, const struct line *line,
          const struct columns *columns, uint64_t rss, int row, int col)
{
    struct canvas *canvas = &picture->canvas;
    enum role role = line->role == ROLE_TITLE ? ROLE_TITLE : ROLE_NORMAL;
    const struct amount now = { line->amount.now, 0, false };
    char text[UNITS_MAX];

    col += columns->lead;
    canvas_field(canvas, row, col, columns->word, TEXT_LEFT,
                 line->part ? ROLE_VALUE : role, line->word);
    col += columns->word;
    canvas_field(canvas, row, col, columns->bytes, TEXT_RIGHT, role,
                 amount_bytes(text, sizeof text, &now, view->unit));
    col += columns->bytes;
    if (columns->since > 0)
        canvas_field(canvas, row, col, columns->since, TEXT_RIGHT, role,
                     line->amount.since
                         ? amount_bytes(text, sizeof text, &line->amount, view->unit)
                         : "-");
    col += columns->since;
    share_text(text, sizeof text, line->amount.now, rss);
    if (columns->share > 0 && line->part)
        canvas_field(canvas, row, col, columns->share, TEXT_RIGHT, role, text);
    col += columns->share + GAP;
    if (columns->bar > 0 && line->part)
        draw_bar(picture, line, rss, row, col, columns->bar);
    col += columns->bar > 0 ? columns->bar + GAP : 0;
    if (columns->meaning > 0)
        canvas_put(canvas, row, col, columns->meaning, ROLE_DIM, line->meaning);
}

static void
draw_heading(struct picture *picture, const struct columns *columns, int row, int col)
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

static void
draw_title(struct picture *picture, const struct scene *scene, const struct rect *body)
{
    const struct bands *bands = &scene->process->bands;
    char time[UNITS_MAX], text[128] = "";

    if (bands->known)
        snprintf(text, sizeof text, _("read at %s"),
                 units_duration(time, sizeof time, bands->run_ns));
    canvas_rule(&picture->canvas, body->row, body->col, body->cols, _("Memory"), text);
}

void
view_memory(struct picture *picture, const struct view *view, const struct scene *scene)
{
    const struct rect *body = &picture->layout.block[BLOCK_BODY];
    bool since = scene->mark != NULL && scene->mark->bands.known;
    bool heading = body->rows >= HEADING_FROM;
    int row = body->row + (heading ? 2 : 0);
    struct columns columns;
    struct lines lines;

    canvas_clip(&picture->canvas, body);
    if (body->rows == 0)
        return;
    fill(&lines, scene);
    columns = choose_columns(&lines, body->cols, since);
    if (heading)
        draw_title(picture, scene, body);
    if (lines.count == 0)
        canvas_put(&picture->canvas, body->row + heading, body->col + 1, body->cols - 1,
                   ROLE_NORMAL, why_nothing(view, scene));
    else if (heading)
        draw_heading(picture, &columns, body->row + 1, body->col);
    for (int i = view->scroll; i < lines.count; i++)
        draw_line(picture, view, &lines.items[i], &columns, scene->process->bands.rss,
                  row + i - view->scroll, body->col);
}
