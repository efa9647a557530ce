/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One allocation site, or all sites of a tree's row: figures, call stack with full
 * names, files and lines, block sizes, lifetimes of freed blocks and ages of live ones.
 * With the cursor in the history, as they were then, as far as known.
 */
#include "config.h"

#include "tui/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "base/path.h"
#include "report/site-words.h"

#define NAME_MAX   4352
#define LABEL_COLS 16
#define PLACE_COLS 4     /* indent below a function of the stack */
#define VALUE_COLS 12    /* narrower values are cut, not wrapped */

/* Output position.  Only the lines inside the window are drawn. */
struct lines {
    struct canvas *canvas;   /* NULL: lines are only counted */
    struct rect rect;
    int line;                /* next line; < 0: above the window */
};

static void
put(const struct lines *lines, int col, enum role role, const char *text)
{
    const struct rect *rect = &lines->rect;

    if (lines->canvas != NULL && lines->line >= 0 && lines->line < rect->rows)
        canvas_put(lines->canvas, rect->row + lines->line, rect->col + col,
                   rect->cols - col, role, text);
}

static void
put_right(const struct lines *lines, int col, int cols, enum role role, const char *text)
{
    const struct rect *rect = &lines->rect;

    if (lines->canvas != NULL && lines->line >= 0 && lines->line < rect->rows
        && col + cols <= rect->cols)
        canvas_field(lines->canvas, rect->row + lines->line, rect->col + col, cols,
                     TEXT_RIGHT, role, text);
}

/* Writes words on as many lines as they need. */
static void
put_wrapped(struct lines *lines, int col, enum role role, const char *words)
{
    int cols = lines->rect.cols - col;

    while (*words != '\0' && cols > 0) {
        char text[1024];

        words += text_line(text, sizeof text, words, (size_t)cols);
        put(lines, col, role, text);
        lines->line++;
    }
}

/* ---- figures ---- */

static int
wider(int cols, const char *label)
{
    int needed = (int)text_columns(label) + 2;

    return needed > cols ? needed : cols;
}

static int
label_cols(enum profile_mode mode)
{
    const char *const labels[] = { _("Live now"), _("Live at the peak"), _("Allocated"),
                                   _("Rate"), _("Age"), _("Growth"), _("First, last") };
    int cols = wider(LABEL_COLS, site_mode_word(mode));

    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        cols = wider(cols, labels[i]);
    return cols;
}

static void
fact(struct lines *lines, const struct view *view, const char *label, const char *value)
{
    int col = 1 + label_cols(view->sites.mode);

    put(lines, 1, ROLE_NORMAL, label);
    if (lines->rect.cols - col >= VALUE_COLS) {
        put_wrapped(lines, col, ROLE_VALUE, value);
    } else {
        put(lines, col, ROLE_VALUE, value);
        lines->line++;
    }
}

/* For ngettext(): the number to choose the plural of a count that site_count_text()
   writes; a shortened one, "24.5k", counts as many. */
static unsigned long
plural_shortened(double count)
{
    double size = fabs(count) + 0.5;

    return size < 1000 ? (unsigned long)size : 1000;
}

static void
estimate(struct lines *lines, const struct view *view, const char *label,
         const struct site_figures *figures)
{
    char bytes[UNITS_MAX], count[UNITS_MAX], text[256];
    size_t used;

    snprintf(
        text, sizeof text,
        ngettext("%s in %s block", "%s in %s blocks", plural_shortened(figures->objects)),
        site_bytes_text(bytes, sizeof bytes, figures->bytes, view->unit),
        site_count_text(count, sizeof count, figures->objects));
    used = strlen(text);
    /* TRANSLATORS: appended to the above: how many samples tell so. */
    snprintf(text + used, sizeof text - used,
             ngettext(", by %s sample", ", by %s samples", plural(figures->blocks)),
             units_count(count, sizeof count, figures->blocks));
    fact(lines, view, label, text);
}

static void
sum_sizes(const struct profile_detail *detail, struct profile_size *sum)
{
    struct site_figures *const to[] = { &sum->made, &sum->live, &sum->at_peak };

    *sum = (struct profile_size){ .from = 0 };
    for (size_t i = 0; i < detail->size_count; i++) {
        const struct profile_size *size = &detail->sizes[i];
        const struct site_figures *const from[] = { &size->made, &size->live,
                                                    &size->at_peak };

        for (int k = 0; k < 3; k++) {
            to[k]->bytes += from[k]->bytes;
            to[k]->objects += from[k]->objects;
            to[k]->blocks += from[k]->blocks;
        }
    }
}

static void
put_rates(struct lines *lines, const struct view *view, const struct scene *scene,
          const struct profile_figures *figures)
{
    unsigned missing = scene->sites->table.missing;
    char first[UNITS_MAX], second[UNITS_MAX], text[256];

    if (!(missing & PROFILE_RATES)) {
        snprintf(text, sizeof text,
                 ngettext("%s, %s block/s", "%s, %s blocks/s",
                          plural_shortened(figures->objects_rate)),
                 units_rate(first, sizeof first, figures->bytes_rate, view->unit),
                 site_count_text(second, sizeof second, figures->objects_rate));
        fact(lines, view, _("Rate"), text);
    }
    if (!(missing & PROFILE_AGES) && figures->age_objects > 0) {
        snprintf(text, sizeof text, _("%s on average, the oldest %s"),
                 units_offset(first, sizeof first, (int64_t)profile_age(figures)),
                 units_offset(second, sizeof second, (int64_t)figures->oldest_ns));
        fact(lines, view, _("Age"), text);
    }
    if (!(missing & PROFILE_GROWTH)) {
        int64_t since = profile_growth_since(scene->sites->profile);

        snprintf(text, sizeof text, _("%s more on average in the second half since %s"),
                 site_bytes_text(first, sizeof first, figures->growth, view->unit),
                 view_time(second, sizeof second, scene->process, since));
        fact(lines, view, _("Growth"), text);
    }
}

static void
put_figures(struct lines *lines, const struct view *view, const struct scene *scene)
{
    const struct sites_shown *sites = scene->sites;
    const struct profile_figures *figures = &sites->table.rows[view->sites.index].figures;
    char first[UNITS_MAX], last[UNITS_MAX], text[256], error[UNITS_MAX];
    struct profile_size sum;

    snprintf(text, sizeof text, _("%s, error %s"),
             site_bytes_text(first, sizeof first, figures->bytes, view->unit),
             site_error_text(error, sizeof error, figures));
    put(lines, 1, ROLE_NORMAL, site_mode_word(view->sites.mode));
    put(lines, 1 + label_cols(view->sites.mode), ROLE_TITLE, text);
    lines->line += 2;
    sum_sizes(&sites->detail, &sum);
    estimate(lines, view, _("Live now"), &sum.live);
    estimate(lines, view, _("Live at the peak"), &sum.at_peak);
    estimate(lines, view, _("Allocated"), &sum.made);
    put_rates(lines, view, scene, figures);
    if (sites->detail.first_ns < 0)
        return;
    snprintf(text, sizeof text, "%s%s%s",
             view_time(first, sizeof first, scene->process, sites->detail.first_ns),
             _(", "),
             sites->detail.last_ns < 0
                 ? "-"
                 : view_time(last, sizeof last, scene->process, sites->detail.last_ns));
    fact(lines, view, _("First, last"), text);
}

/* ---- the stack ---- */

/* "list.cc:12 in libfoo.so, inlined" */
static void
place_text(char *text, size_t size, const struct profile_place *place)
{
    size_t used = 0;

    text[0] = '\0';
    if (place->file != NULL)
        used = (size_t)snprintf(text, size, place->line > 0 ? "%s:%u " : "%s ",
                                place->file, place->line);
    if (used >= size)
        return;
    if (place->inlined)
        snprintf(text + used, size - used, "%s", _("inlined"));
    else if (place->module != NULL)
        snprintf(text + used, size - used, "%s+0x%llx", path_name(place->module),
                 (unsigned long long)place->offset);
}

static void
put_stack(struct lines *lines, const struct scene *scene, const struct profile_row *row)
{
    const struct sites_shown *sites = scene->sites;
    char text[NAME_MAX], clean[NAME_MAX];

    lines->line++;
    if (row->stacks > 1)
        snprintf(text, sizeof text, _("Call stack with the most bytes, of %zu"),
                 row->stacks);
    else
        snprintf(text, sizeof text, "%s", _("Call stack"));
    put(lines, 1, ROLE_TITLE, text);
    lines->line++;
    for (size_t i = 0; i < sites->place_count; i++) {
        const struct profile_place *place = &sites->places[i];
        const char *name = profile_function(sites->profile, place->function);

        put_wrapped(lines, 1, place->wrapper ? ROLE_DIM : ROLE_VALUE,
                    text_sanitise(clean, sizeof clean, name, strlen(name)));
        place_text(text, sizeof text, place);
        put_wrapped(lines, 1 + PLACE_COLS, ROLE_DIM,
                    text_sanitise(clean, sizeof clean, text, strlen(text)));
    }
    if (sites->place_count == 0) {
        put(lines, 1, ROLE_NORMAL, profile_function(sites->profile, PROFILE_NO_STACK));
        lines->line++;
    }
}

/* ---- sizes and ages ---- */

/* Least widths; the first column grows with its words. */
#define FIRST_COLS 20
#define NEXT_COLS  14

static int
first_cols(void)
{
    return wider(wider(FIRST_COLS, _("By size, in bytes")), _("By time"));
}

static void
put_headings(struct lines *lines, const char *first, const char *const *others, int count)
{
    lines->line++;
    put(lines, 1, ROLE_TITLE, first);
    for (int i = 0; i < count; i++)
        put_right(lines, first_cols() + i * NEXT_COLS, NEXT_COLS, ROLE_DIM, others[i]);
    lines->line++;
}

static void
put_figure(const struct lines *lines, const struct view *view, int column,
           const struct site_figures *figures)
{
    int col = first_cols() + column * NEXT_COLS;
    char text[UNITS_MAX];

    if (figures->blocks == 0)
        return;
    put_right(lines, col, NEXT_COLS, ROLE_NORMAL,
              site_bytes_text(text, sizeof text, figures->bytes, view->unit));
    put_right(lines, col + NEXT_COLS, NEXT_COLS, ROLE_NORMAL,
              site_count_text(text, sizeof text, figures->objects));
}

/* Long ranges such as "3221225472-3758096383" become "3 GiB-3.5 GiB". */
static void
size_text(char *text, size_t size, const struct profile_size *sizes, enum unit unit)
{
    char from[UNITS_MAX], to[UNITS_MAX];

    snprintf(text, size, "%llu-%llu", (unsigned long long)sizes->from,
             (unsigned long long)sizes->to);
    if (sizes->to == UINT64_MAX)
        /* TRANSLATORS: a lower or upper bound that is not set. */
        snprintf(text, size, "%s", _("any"));
    else if (text_columns(text) > FIRST_COLS - 2)
        snprintf(text, size, "%s-%s", units_axis(from, sizeof from, sizes->from, unit),
                 units_axis(to, sizeof to, sizes->to + 1, unit));
}

static void
put_sizes(struct lines *lines, const struct view *view,
          const struct profile_detail *detail)
{
    const char *const headings[] = { _("live"), _("blocks"), _("allocated"),
                                     _("blocks") };

    put_headings(lines, _("By size, in bytes"), headings, 4);
    for (size_t i = 0; i < detail->size_count; i++) {
        const struct profile_size *size = &detail->sizes[i];
        char text[2 * UNITS_MAX + 2];

        size_text(text, sizeof text, size, view->unit);
        put(lines, 1, ROLE_NORMAL, text);
        put_figure(lines, view, 0, &size->live);
        put_figure(lines, view, 2, &size->made);
        lines->line++;
    }
}

static void
put_lives(struct lines *lines, const struct view *view,
          const struct profile_detail *detail)
{
    const char *const headings[] = { _("alive for"), _("blocks"), _("freed after"),
                                     _("blocks") };

    put_headings(lines, _("By time"), headings, 4);
    for (unsigned i = 0; i < SITE_LIFETIMES; i++) {
        if (detail->alive_for[i].blocks == 0 && detail->freed_after[i].blocks == 0)
            continue;
        put(lines, 1, ROLE_NORMAL, site_lifetime_word(i));
        put_figure(lines, view, 0, &detail->alive_for[i]);
        put_figure(lines, view, 2, &detail->freed_after[i]);
        lines->line++;
    }
}

static void
put_site(struct lines *lines, const struct view *view, const struct scene *scene)
{
    const struct sites_shown *sites = scene->sites;

    if (view->sites.index >= sites->table.count)
        return;
    put_figures(lines, view, scene);
    put_stack(lines, scene, &sites->table.rows[view->sites.index]);
    put_sizes(lines, view, &sites->detail);
    if (!(sites->table.missing & PROFILE_AGES))
        put_lives(lines, view, &sites->detail);
}

void
view_site(struct screen *screen, const struct view *view, const struct scene *scene,
          const struct rect *rest)
{
    struct lines lines = { &screen->canvas, *rest, -view->scroll };

    put_site(&lines, view, scene);
}

int
view_site_lines(const struct screen *screen, const struct view *view,
                const struct scene *scene)
{
    struct lines lines = { NULL, view_page_rest(screen), 0 };

    if (scene->sites == NULL || scene->sites->profile == NULL || !view->sites.opened)
        return 0;
    put_site(&lines, view, scene);
    return lines.line;
}
