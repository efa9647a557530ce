/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of allocation sites: a list of call stacks or a tree of functions, the
 * figures before the names.  Columns leave by importance; the bytes stay.  How it was
 * measured, and what is missing, has a line of its own where there is room.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "report/site-words.h"
#include "tui/list.h"

#define BYTES_COLS     11
#define SHORT_COLS     7    /* in a narrow window */
#define NARROW_COLS    36
#define NOTE_FROM_ROWS 8
#define NAME_MAX       1024

/* The columns there may be before the name; sorted by what they are named after. */
enum sites_field {
    FIELD_BYTES,
    FIELD_ERROR,
    FIELD_OBJECTS,
    FIELD_GROWTH,
    FIELD_RATE,
    FIELD_AGE,
    FIELD_MADE,
    FIELD_BLOCKS,
    FIELD_OBJECTS_RATE,
    FIELD_OLDEST,
    FIELD_COUNT
};

static const enum profile_column sort_of[FIELD_COUNT] = {
    [FIELD_BYTES] = PROFILE_BY_BYTES,   [FIELD_ERROR] = PROFILE_BY_ERROR,
    [FIELD_OBJECTS] = PROFILE_BY_OBJECTS, [FIELD_GROWTH] = PROFILE_BY_GROWTH,
    [FIELD_RATE] = PROFILE_BY_RATE,     [FIELD_AGE] = PROFILE_BY_AGE,
    [FIELD_MADE] = PROFILE_BY_MADE,     [FIELD_BLOCKS] = PROFILE_BY_BLOCKS,
};

/* Their widths, 0 where they are not shown. */
struct sites_columns {
    int field[FIELD_COUNT];
    bool narrow;   /* bytes are short */
};

static const char *
heading(enum sites_field field)
{
    switch (field) {
    case FIELD_OBJECTS_RATE:
        /* TRANSLATORS: blocks allocated per second */
        return _("blocks/s");
    case FIELD_OLDEST:
        /* TRANSLATORS: age of the oldest block */
        return _("oldest");
    default:
        return view_sort_column(PAGE_SITES, sort_of[field]);
    }
}

static bool
is_bytes(enum sites_field field)
{
    return field == FIELD_BYTES || field == FIELD_GROWTH || field == FIELD_MADE;
}

/* As wide as its values and its heading need. */
static int
field_cols(const struct view *view, enum sites_field field)
{
    static const int least[FIELD_COUNT] = {
        [FIELD_ERROR] = 5, [FIELD_OBJECTS] = 6, [FIELD_RATE] = 9,         [FIELD_AGE] = 6,
        [FIELD_BLOCKS] = 6, [FIELD_OBJECTS_RATE] = 6, [FIELD_OLDEST] = 6,
    };
    int needed = (int)text_columns(heading(field)), value = least[field];
    char text[UNITS_MAX];

    if (is_bytes(field))
        value = (int)text_columns(units_bytes(text, sizeof text, 1u << 30, view->unit));
    else if (field == FIELD_RATE)
        value = (int)text_columns(units_rate(text, sizeof text, 999.0 * (1 << 20),
                                             view->unit));
    if (is_bytes(field) && value < BYTES_COLS - 2)
        value = BYTES_COLS - 2;
    return (needed > value ? needed : value) + 2;
}

static struct sites_columns
choose_columns(const struct view *view, int cols)
{
    static const enum sites_field by_rank[] = {
        FIELD_ERROR, FIELD_OBJECTS, FIELD_GROWTH,       FIELD_RATE,  FIELD_AGE,
        FIELD_MADE,  FIELD_BLOCKS,  FIELD_OBJECTS_RATE, FIELD_OLDEST};
    struct sites_columns columns = {.narrow = cols < NARROW_COLS};
    int left = cols - cols * 2 / 5;   /* the names have the rest */

    columns.field[FIELD_BYTES] = columns.narrow ? SHORT_COLS
                                                : field_cols(view, FIELD_BYTES);
    left -= columns.field[FIELD_BYTES];
    for (size_t i = 0; i < sizeof by_rank / sizeof *by_rank && !columns.narrow; i++) {
        enum sites_field field = by_rank[i];
        int needed = field_cols(view, field);

        if ((field == FIELD_GROWTH && view->sites.survivors_ns == 0
             && view->sort[PAGE_SITES].column != PROFILE_BY_GROWTH)
            || (field == FIELD_MADE && view->sites.mode == PROFILE_MADE))
            continue;
        if (needed > left)
            break;
        columns.field[field] = needed;
        left -= needed;
    }
    return columns;
}

/* ---- where things are ---- */

static bool
has_note(const struct rect *rest)
{
    return rest->rows >= NOTE_FROM_ROWS;
}

/* The rows of the list. */
static struct rect
list_rect(const struct picture *picture)
{
    struct rect rest = view_page_rest(picture);
    int above = has_note(&rest) + view_has_headings(rest.rows);

    rest.row += above;
    rest.rows -= above;
    return rest;
}

int
view_sites_lines(const struct picture *picture)
{
    return list_rect(picture).rows;
}

/* ---- rows ---- */

static char *
age_text(char *text, size_t size, double ns, bool known)
{
    if (!known || ns < 0)
        snprintf(text, size, "-");
    else
        units_offset(text, size, (int64_t)ns);
    return text;
}

static void
field_text(char *text, size_t size, const struct view *view, enum sites_field field,
           const struct profile_figures *figures, unsigned missing)
{
    const bool ages = !(missing & PROFILE_AGES), rates = !(missing & PROFILE_RATES);

    switch (field) {
    case FIELD_BYTES:
        site_bytes_text(text, size, figures->bytes, view->unit);
        break;
    case FIELD_ERROR:
        site_error_text(text, size, figures);
        break;
    case FIELD_OBJECTS:
        site_count_text(text, size, figures->objects);
        break;
    case FIELD_GROWTH:
        if (missing & PROFILE_GROWTH)
            snprintf(text, size, "-");
        else
            site_bytes_text(text, size, figures->growth, view->unit);
        break;
    case FIELD_RATE:
        if (rates)
            units_rate(text, size, figures->bytes_rate, view->unit);
        else
            snprintf(text, size, "-");
        break;
    case FIELD_OBJECTS_RATE:
        if (rates)
            site_count_text(text, size, figures->objects_rate);
        else
            snprintf(text, size, "-");
        break;
    case FIELD_AGE:
        age_text(text, size, profile_age(figures), ages);
        break;
    case FIELD_OLDEST:
        age_text(text, size, figures->oldest_ns, ages && figures->age_objects > 0);
        break;
    case FIELD_MADE:
        site_bytes_text(text, size, figures->made_bytes, view->unit);
        break;
    default:
        units_count_compact(text, size, figures->blocks);
    }
}

/* The lines that lead from callers to callees, or the other way round; the column
   behind them. */
static int
draw_branches(struct canvas *canvas, const struct profile_row *row, int line, int col,
              int end)
{
    unsigned indent = row->indent < 64 ? row->indent : 63;
    /* Deep trees keep room for names. */
    unsigned shown = (unsigned)((end - col) / 2);

    for (unsigned i = indent > shown ? indent - shown : 0; i < indent && col < end; i++) {
        bool goes_on = row->guides >> (i + 1) & 1;

        if (i + 1 == indent && row->branch)
            canvas_glyph(canvas, line, col, ROLE_DIM,
                         goes_on ? GLYPH_BRANCH : GLYPH_CORNER);
        else if (goes_on)
            canvas_glyph(canvas, line, col, ROLE_DIM, GLYPH_VERTICAL);
        col++;
    }
    return col;
}

static void
draw_name(struct picture *picture, const struct scene *scene, size_t index, int line,
          int col, int end)
{
    const struct profile_table *table = &scene->sites->table;
    const struct profile_row *row = &table->rows[index];
    char text[NAME_MAX];

    if (table->query.form == PROFILE_STACKS) {
        site_path_text(text, sizeof text, scene->sites->profile, table, index);
        canvas_put(&picture->canvas, line, col, end - col, ROLE_NORMAL, text);
        return;
    }
    col = draw_branches(&picture->canvas, row, line, col, end);
    if (row->more)
        canvas_put(&picture->canvas, line, col, end - col, ROLE_KEY,
                   row->open ? "-" : "+");
    canvas_put(&picture->canvas, line, col + 2, end - col - 2, ROLE_NORMAL,
               profile_function(scene->sites->profile, row->function));
}

static void
draw_row(struct picture *picture, const struct view *view, const struct scene *scene,
         const struct sites_columns *columns, size_t index, int line)
{
    const struct rect *body = &picture->layout.block[BLOCK_BODY];
    const struct profile_table *table = &scene->sites->table;
    const struct profile_figures *figures = &table->rows[index].figures;
    char text[UNITS_MAX];
    int col = body->col;

    for (int i = 0; i < FIELD_COUNT; i++) {
        enum role role = i == FIELD_BYTES ? ROLE_VALUE : ROLE_NORMAL;

        if (columns->field[i] == 0)
            continue;
        if (columns->narrow)
            units_axis_compact(text, sizeof text,
                               figures->bytes > 0 ? (uint64_t)figures->bytes : 0,
                               view->unit & UNIT_SI);
        else
            field_text(text, sizeof text, view, (enum sites_field)i, figures,
                       table->missing);
        canvas_field(&picture->canvas, line, col + 1, columns->field[i] - 1, TEXT_RIGHT,
                     role, text);
        col += columns->field[i];
    }
    draw_name(picture, scene, index, line, col + 2 - columns->narrow,
              body->col + body->cols);
    if (index != view->sites.index)
        return;
    canvas_put(&picture->canvas, line, body->col, 1, ROLE_PROMPT, ">");
    canvas_paint(&picture->canvas, line, body->col, body->cols, ROLE_PROMPT);
}

static void
draw_headings(struct picture *picture, const struct view *view,
              const struct sites_columns *columns, int line)
{
    const struct rect *body = &picture->layout.block[BLOCK_BODY];
    int col = body->col;

    for (int i = 0; i < FIELD_COUNT; i++) {
        const struct rect field = { line, col, 1, columns->field[i] };

        if (columns->field[i] == 0)
            continue;
        view_heading(picture, &field, heading((enum sites_field)i),
                     &view->sort[PAGE_SITES], sort_of[i] > 0 ? sort_of[i] : UINT32_MAX);
        col += columns->field[i];
    }
    canvas_put(&picture->canvas, line, col + 2, body->cols - col - 2, ROLE_DIM,
               site_form_word(view->sites.form));
}

static void
draw_list(struct picture *picture, const struct view *view, const struct scene *scene)
{
    const struct profile_table *table = &scene->sites->table;
    const struct rect list = list_rect(picture);
    const struct sites_columns columns = choose_columns(view, list.cols);
    const struct hit hit = { .rect = list, .action = ACTION_ROW };
    size_t first = (size_t)list_first(view->sites.index, view->scroll, list.rows);

    if (view_has_headings(view_page_rest(picture).rows))
        draw_headings(picture, view, &columns, list.row - 1);
    for (int i = 0; i < list.rows && first + (size_t)i < table->count; i++)
        draw_row(picture, view, scene, &columns, first + (size_t)i, list.row + i);
    picture_hit(picture, &hit);
}

/* ---- around the list ---- */

/* How it was measured; what is missing comes first and is a warning. */
static void
draw_note(struct picture *picture, const struct view *view, const struct scene *scene,
          const struct rect *rest)
{
    const struct sites_reading *reading = profile_reading(scene->sites->profile);
    int col = rest->col + 1, end = rest->col + rest->cols;
    char text[256];
    bool lack;

    if (!has_note(rest))
        return;
    for (unsigned i = 0; site_note(reading, i, view->unit, text, sizeof text, &lack);
         i++) {
        int cols = (int)text_columns(text);

        if (col + cols > end && i > 0)
            return;
        canvas_put(&picture->canvas, rest->row, col, end - col,
                   lack ? ROLE_WARN : ROLE_DIM, text);
        col += cols + 3;
    }
}

static void
append(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%s", used > 0 ? _("; ") : "", more);
}

/* What all rows are: what is left out, how much it is together, which names are still
   asked for. */
static void
right_title(char *text, size_t size, const struct view *view, const struct scene *scene)
{
    const struct sites_shown *sites = scene->sites;
    const struct profile_table *table = &sites->table;
    char bytes[UNITS_MAX], error[UNITS_MAX], part[SEARCH_MAX + 64];

    text[0] = '\0';
    if (sites->names_known < sites->names_asked) {
        snprintf(part, sizeof part, _("names %zu of %zu"), sites->names_known,
                 sites->names_asked);
        append(text, size, part);
    }
    if (view->sites.filter_text[0] != '\0') {
        snprintf(part, sizeof part, _("filter %s"), view->sites.filter_text);
        append(text, size, part);
    }
    if (view->sites.survivors_ns > 0) {
        snprintf(part, sizeof part, _("older than %s"),
                 units_offset(bytes, sizeof bytes, view->sites.survivors_ns));
        append(text, size, part);
    }
    if (table->answer != PROFILE_ANSWERED)
        return;
    if (view->history) {
        snprintf(part, sizeof part, _("as of %s"),
                 view_time(bytes, sizeof bytes, scene->process, table->run_ns));
        append(text, size, part);
    }
    snprintf(part, sizeof part, _("%s, error %s"),
             site_bytes_text(bytes, sizeof bytes, table->sum.bytes, view->unit),
             site_error_text(error, sizeof error, &table->sum));
    append(text, size, part);
}

/* A sentence, wrapped. */
static void
draw_reason(struct picture *picture, const struct rect *rest, const char *reason)
{
    for (int line = 0; *reason != '\0' && line < rest->rows && rest->cols > 1; line++) {
        char text[512];

        reason += text_line(text, sizeof text, reason, (size_t)rest->cols - 1);
        canvas_put(&picture->canvas, rest->row + line, rest->col + 1, rest->cols - 1,
                   ROLE_NORMAL, text);
    }
}

void
view_sites(struct picture *picture, const struct view *view, const struct scene *scene)
{
    const struct sites_shown *sites = scene->sites;
    char title[128], right[256] = "";
    struct rect rest;

    snprintf(title, sizeof title, _("Sites: %s"), site_mode_word(view->sites.mode));
    if (sites != NULL && sites->profile != NULL)
        right_title(right, sizeof right, view, scene);
    rest = view_page_title(picture, title, right);
    if (!scene->process->measured && !view->history) {
        view_not_measured(picture, scene, rest.row, rest.col + 1, rest.cols - 1);
    } else if (sites == NULL || sites->profile == NULL) {
        draw_reason(picture, &rest,
                    scene->saved ? _("Allocation sites were not recorded.")
                                 : site_offer());
    } else if (sites->table.answer != PROFILE_ANSWERED || sites->table.count == 0) {
        draw_reason(picture, &rest, site_answer_text(&sites->table));
    } else if (view->sites.opened) {
        view_site(picture, view, scene, &rest);
    } else {
        draw_note(picture, view, scene, &rest);
        draw_list(picture, view, scene);
    }
}
