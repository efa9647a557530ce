/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of allocation sites: a list of call stacks or a tree of functions, with the
 * figures before the names.  In a narrow window columns are left out by importance, the
 * bytes last.  If there is room, one line says how the sites were measured and what is
 * missing.
 */
#include "config.h"

#include "tui/state.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "report/site-words.h"
#include "tui/list.h"

#define BYTES_COLS     9
#define SHORT_COLS     7 /* in a narrow window */
#define NARROW_COLS    36
#define NOTE_FROM_ROWS 8
#define NAME_MAX       1024

/* Context of the table's rows. */
struct sites_list {
    const struct view *view;
    const struct scene *scene;
};

/* ---- positions ---- */

static bool
has_note(const struct rect *rest)
{
    return rest->rows >= NOTE_FROM_ROWS;
}

/* The area of the list, with its headings. */
static struct rect
table_rect(const struct screen *screen)
{
    struct rect rest = view_page_rest(screen);
    int note = has_note(&rest);

    rest.row += note;
    rest.rows -= note;
    return rest;
}

int
view_sites_lines(const struct screen *screen)
{
    return table_room(table_rect(screen).rows);
}

/* ---- columns ---- */

/* Columns that cannot be sorted by, numbered after the others. */
enum sites_field { FIELD_OBJECTS_RATE = PROFILE_COLUMNS, FIELD_OLDEST };

static enum unit
unit_of(const struct table_at *at)
{
    return ((const struct sites_list *)at->data)->view->unit;
}

static const struct profile_figures *
figures_of(const struct table_at *at)
{
    return &((const struct profile_row *)at->row)->figures;
}

static unsigned
missing(const struct table_at *at)
{
    return ((const struct sites_list *)at->data)->scene->sites->table.missing;
}

/* Growth is shown with survivors, or if sorted by it.  The allocated bytes are shown
   unless the mode already shows them. */
static bool
is_shown(const struct table_at *at)
{
    const struct sites_choice *choice =
        &((const struct sites_list *)at->data)->view->sites;

    if (at->column->id == PROFILE_BY_GROWTH)
        return choice->survivors_ns != 0 || at->rows->sort->column == PROFILE_BY_GROWTH;
    return choice->mode != PROFILE_MADE;
}

static void
bytes_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct profile_figures *figures = figures_of(at);
    double bytes = at->column->id == PROFILE_BY_BYTES  ? figures->bytes
                   : at->column->id == PROFILE_BY_MADE ? figures->made_bytes
                                                       : figures->growth;

    if (at->column->id == PROFILE_BY_GROWTH && (missing(at) & PROFILE_GROWTH))
        cell->text = "-";
    else
        site_bytes_text(cell->room, sizeof cell->room, bytes, unit_of(at));
}

static void
short_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct profile_figures *figures = figures_of(at);

    units_axis_compact(cell->room, sizeof cell->room,
                       figures->bytes > 0 ? (uint64_t)figures->bytes : 0,
                       unit_of(at) & UNIT_SI);
}

static void
count_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct profile_figures *figures = figures_of(at);

    if (at->column->id == PROFILE_BY_ERROR)
        site_error_text(cell->room, sizeof cell->room, figures);
    else if (at->column->id == PROFILE_BY_OBJECTS)
        site_count_text(cell->room, sizeof cell->room, figures->objects);
    else
        units_count_compact(cell->room, sizeof cell->room, figures->blocks);
}

static void
rate_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct profile_figures *figures = figures_of(at);

    if (missing(at) & PROFILE_RATES)
        cell->text = "-";
    else if (at->column->id == PROFILE_BY_RATE)
        units_rate(cell->room, sizeof cell->room, figures->bytes_rate, unit_of(at));
    else
        site_count_text(cell->room, sizeof cell->room, figures->objects_rate);
}

static void
age_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct profile_figures *figures = figures_of(at);
    bool oldest = at->column->id == FIELD_OLDEST;
    double ns = oldest ? figures->oldest_ns : profile_age(figures);

    if ((missing(at) & PROFILE_AGES) || ns < 0 || (oldest && figures->age_objects <= 0))
        cell->text = "-";
    else
        units_offset(cell->room, sizeof cell->room, (int64_t)ns);
}

static int
bytes_content(const struct table_at *at)
{
    return table_bytes_cols(unit_of(at));
}

static int
rate_content(const struct table_at *at)
{
    char text[UNITS_MAX];

    return (int)text_columns(
        units_rate(text, sizeof text, 999.0 * (1 << 20), unit_of(at)));
}

/* Starts two columns after the figures, even if the names start nearer. */
static void
name_heading(struct table_cell *cell, const struct table_at *at)
{
    const struct sites_list *list = at->data;

    if (at->cols > 2)
        snprintf(cell->room, sizeof cell->room, "%*s%s", 2 - at->column->gap, "",
                 site_form_word(list->view->sites.form));
}

/* Draws the lines between callers and callees; returns the column after them. */
static int
draw_branches(struct canvas *canvas, const struct profile_row *row, int line, int col,
              int end)
{
    unsigned indent = row->indent < 64 ? row->indent : 63;
    /* A deep tree is indented less, to leave room for names. */
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
draw_name(struct canvas *canvas, const struct rect *field, const struct table_at *at)
{
    const struct sites_shown *sites = ((const struct sites_list *)at->data)->scene->sites;
    const struct profile_row *row = at->row;
    int col = field->col, end = field->col + field->cols;
    char text[NAME_MAX];

    if (sites->table.query.form == PROFILE_STACKS) {
        site_path_text(text, sizeof text, sites->profile, &sites->table,
                       (size_t)(row - sites->table.rows), false);
        canvas_put(canvas, field->row, col, end - col, ROLE_NORMAL, text);
        return;
    }
    col = draw_branches(canvas, row, field->row, col, end);
    if (row->more)
        canvas_put(canvas, field->row, col, end - col, ROLE_KEY, row->open ? "-" : "+");
    canvas_put(canvas, field->row, col + 2, end - col - 2, ROLE_NORMAL,
               profile_function(sites->profile, row->function));
}

#define BYTES(field)                                                                     \
    TABLE_SIGNED, .id = (field), .least = BYTES_COLS, .content = bytes_content,          \
                  .cell = bytes_cell, .sort = (field)
#define COUNT(field) TABLE_SIGNED, .id = (field), .cell = count_cell, .sort = (field)
#define NAME .grow = true, .heading = name_heading, .draw = draw_name

static const struct table_column narrow_columns[] = {
    {TABLE_FIGURE, .title = N_("bytes"), .role = ROLE_VALUE, .fixed = SHORT_COLS,
     .cell = short_cell, .sort = PROFILE_BY_BYTES},
    {NAME, .gap = 1},
};
static const struct table narrow_table = {TABLE_COLUMNS(narrow_columns)};

static const struct table_column columns[] = {
    {BYTES(PROFILE_BY_BYTES), .title = N_("bytes"), .role = ROLE_VALUE},
    {COUNT(PROFILE_BY_ERROR), .title = N_("error"), .least = 5, .rank = 1},
    {COUNT(PROFILE_BY_OBJECTS), .title = N_("blocks"), .least = 6, .rank = 2},
    {BYTES(PROFILE_BY_GROWTH), .title = N_("growth"), .rank = 3, .shown = is_shown},
    {TABLE_SIGNED, .id = PROFILE_BY_RATE, .title = N_("rate"), .content = rate_content,
     .rank = 4, .cell = rate_cell, .sort = PROFILE_BY_RATE},
    {TABLE_SIGNED, .id = PROFILE_BY_AGE, .title = N_("age"), .least = 6, .rank = 5,
     .cell = age_cell, .sort = PROFILE_BY_AGE},
    {BYTES(PROFILE_BY_MADE), .title = N_("allocated"), .rank = 6, .shown = is_shown},
    {COUNT(PROFILE_BY_BLOCKS), .title = N_("samples"), .least = 6, .rank = 7},
    /* TRANSLATORS: blocks allocated per second */
    {TABLE_SIGNED, .id = FIELD_OBJECTS_RATE, .title = N_("blocks/s"), .least = 6,
     .rank = 8, .cell = rate_cell},
    /* TRANSLATORS: age of the oldest block */
    {TABLE_SIGNED, .id = FIELD_OLDEST, .title = N_("oldest"), .least = 6, .rank = 9,
     .cell = age_cell},
    {NAME, .gap = 2, .part = {2, 5}},
};
static const struct table sites_table = {
    TABLE_COLUMNS(columns), .narrow_below = NARROW_COLS, .narrow = &narrow_table};

static const void *
site_row(const struct table_rows *rows, size_t index)
{
    return &((const struct sites_list *)rows->data)->scene->sites->table.rows[index];
}

static void
draw_list(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const struct sites_list shown = {view, scene};
    const struct rect rect = table_rect(screen);
    int room = table_room(rect.rows), above = rect.rows - room;
    const struct table_rows rows = {
        .data = &shown,
        .count = scene->sites->table.count,
        .row = site_row,
        .first = (size_t)list_first(view->sites.index, view->scroll, room),
        .selected = view->sites.index,
        .sort = &view->sort[PAGE_SITES],
    };
    const struct hit hit = {.rect = {rect.row + above, rect.col, room, rect.cols},
                            .action = ACTION_ROW};

    table_draw(&screen->canvas, &rect, &sites_table, &rows);
    picture_hit(screen, &hit);
}

/* ---- around the list ---- */

/* Says how the sites were measured.  What is missing comes first, as a warning. */
static void
draw_note(struct screen *screen, const struct view *view, const struct scene *scene,
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
        canvas_put(&screen->canvas, rest->row, col, end - col,
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

/* What concerns all rows: names still being looked up, the filter, and the sum. */
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
    if (sites->all != NULL) {
        snprintf(part, sizeof part,
                 ngettext("%u process", "%u processes", sites->processes),
                 sites->processes);
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

/* Draws a sentence, wrapped. */
static void
draw_reason(struct screen *screen, const struct rect *rest, const char *reason)
{
    for (int line = 0; *reason != '\0' && line < rest->rows && rest->cols > 1; line++) {
        char text[512];

        reason += text_line(text, sizeof text, reason, (size_t)rest->cols - 1);
        canvas_put(&screen->canvas, rest->row + line, rest->col + 1, rest->cols - 1,
                   ROLE_NORMAL, text);
    }
}

static void
draw(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const struct sites_shown *sites = scene->sites;
    char title[128], right[256] = "";
    struct rect rest;

    snprintf(title, sizeof title, pages_title(PAGE_SITES),
             site_mode_word(view->sites.mode));
    if (sites != NULL && sites->profile != NULL)
        right_title(right, sizeof right, view, scene);
    rest = view_page_title(screen, title, right);
    if (!scene->process->measured && !view->history) {
        view_not_measured(screen, scene, rest.row, rest.col + 1, rest.cols - 1);
    } else if (sites == NULL || sites->profile == NULL) {
        draw_reason(screen, &rest,
                    scene->saved ? _("Allocation sites were not recorded.")
                                 : site_lack_text(scene->process->identity.sites_state));
    } else if (sites->table.answer != PROFILE_ANSWERED || sites->table.count == 0) {
        draw_reason(screen, &rest, site_answer_text(&sites->table,
                                              scene->process->identity.sites_state));
    } else if (view->sites.opened) {
        view_site(screen, view, scene, &rest);
    } else {
        draw_note(screen, view, scene, &rest);
        draw_list(screen, view, scene);
    }
}

static bool
key(struct app *app, enum action action)
{
    if (action == ACTION_CANCEL)
        return !app->view.history && sites_close(app);
    if (action == ACTION_FOLLOW)
        sites_open(app);
    return action == ACTION_FOLLOW;
}

static bool
scroll(struct app *app, int lines)
{
    if (!app->view.sites.opened)
        sites_step(app, lines);
    return !app->view.sites.opened;
}

static const char *
typed(const struct view *view)
{
    return view->sites.filter_text;
}

static const struct page_word words[] = {
    {ACTION_SITES_MODE, N_("Figures")}, {ACTION_SITES_FORM, N_("Tree")},
    {ACTION_EXPAND, N_("Open")},        {ACTION_SEARCH, N_("Filter")},
    {ACTION_SURVIVORS, N_("Old")},
};

const struct page_def page_sites = {
    .title = N_("Sites: %s"),
    .reads = PAGE_READS_PROFILE,
    .draw = draw,
    .lines = view_site_lines,
    .table = &sites_table,
    .words = words,
    .word_count = sizeof words / sizeof *words,
    .asks = N_("Filter: %s_"),
    .find = sites_filter,
    .typed = typed,
    .key = key,
    .scroll = scroll,
    .click = sites_click,
};
