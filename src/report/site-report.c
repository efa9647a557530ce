/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row is a call stack.  Programs free most of their memory at their end, so rows are
   those of the peak, shown with what is still alive: what remains there may be a leak. */
#include "config.h"

#include "report/site-report.h"

#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "monitor/profile-table.h"
#include "files/fields.h"
#include "report/site-hint.h"
#include "report/site-words.h"
#include "report/siteexport.h"
#include "base/textwidth.h"

#define PATH_MAX_BYTES 4096
#define PATH_COLS      160   /* of a call stack; exports have more */
#define STACK_PLACES   (SITES_DEPTH_MAX * 4)

/* Fills in the rows; false if there are none. */
static bool
fill(struct profile_table *table, const struct tracked *tracked,
     const struct site_choice *choice)
{
    const struct profile_query query = {.mode = site_choice_mode(choice, PROFILE_PEAK),
                                        .form = PROFILE_STACKS,
                                        .filter = &choice->filter,
                                        .survivors_ns = choice->survivors_ns,
                                        .column = choice->column,
                                        .past_ns = -1,
                                        .wrappers = choice->wrappers};

    profile_resolve(tracked->profile, NULL);
    profile_table_fill(table, tracked->profile, &query);
    return table->answer == PROFILE_ANSWERED && table->count > 0;
}

static bool
is_sampled(const struct tracked *tracked)
{
    int64_t run_ns;

    return tracked->profile != NULL && profile_known(tracked->profile, &run_ns);
}

/* The default choice. */
static const struct site_choice usual;

/* What a row's stack has allocated in total, and what of it is alive. */
static void
sum(const struct profile_table *table, const struct profile *profile, size_t row,
    struct site_figures *live, struct site_figures *made)
{
    static struct profile_detail detail;

    *live = *made = (struct site_figures){.bytes = 0};
    if (!profile_table_detail(table, profile, row, &detail))
        return;
    for (size_t i = 0; i < detail.size_count; i++) {
        live->bytes += detail.sizes[i].live.bytes;
        live->objects += detail.sizes[i].live.objects;
        made->bytes += detail.sizes[i].made.bytes;
        made->objects += detail.sizes[i].made.objects;
        made->blocks += detail.sizes[i].made.blocks;
    }
}

static void
write_cell(FILE *out, const char *text, size_t columns)
{
    char padded[256];

    fputs(text_pad(padded, sizeof padded, text, columns, TEXT_RIGHT), out);
}

/* Columns are measured, so translations of any width line up. */
struct row_layout {
    size_t bytes, error, samples;
};

static size_t
wider(size_t columns, const char *heading)
{
    size_t needed = text_columns(heading) + 2;

    return needed > columns ? needed : columns;
}

static struct row_layout
write_headings(FILE *out, enum profile_mode mode)
{
    const char *first = mode == PROFILE_PEAK ? _("at peak") : site_mode_word(mode);
    const struct row_layout layout = {
        wider(wider(wider(12, first), _("alive")), _("allocated")), wider(8, _("error")),
        wider(9, _("samples"))};

    write_cell(out, first, layout.bytes);
    write_cell(out, _("error"), layout.error);
    write_cell(out, _("alive"), layout.bytes);
    write_cell(out, _("allocated"), layout.bytes);
    write_cell(out, _("samples"), layout.samples);
    fprintf(out, "  %s\n", _("call stack"));
    return layout;
}

static void
write_row(FILE *out, const struct row_layout *layout, const struct profile_table *table,
          const struct profile *profile, size_t row, enum unit unit)
{
    const struct profile_figures *figures = &table->rows[row].figures;
    char text[UNITS_MAX], path[PATH_MAX_BYTES], clipped[PATH_MAX_BYTES];
    struct site_figures live, made;

    sum(table, profile, row, &live, &made);
    write_cell(out, site_bytes_text(text, sizeof text, figures->bytes, unit),
               layout->bytes);
    write_cell(out, site_error_text(text, sizeof text, figures), layout->error);
    write_cell(out, site_bytes_text(text, sizeof text, live.bytes, unit), layout->bytes);
    write_cell(out, site_bytes_text(text, sizeof text, made.bytes, unit), layout->bytes);
    write_cell(out, units_count(text, sizeof text, made.blocks), layout->samples);
    site_path_text(path, sizeof path, profile, table, row, true);
    fprintf(out, "  %s\n", text_clip(clipped, sizeof clipped, path, PATH_COLS));
}

static void
write_notes(FILE *out, const struct site_report *report)
{
    const struct sites_reading *reading = profile_reading(report->tracked->profile);
    char text[256];
    bool lack;

    if (report->processes > 1)
        fprintf(out, ngettext("%u process", "%u processes", report->processes),
                report->processes);
    for (unsigned i = 0; site_note(reading, i, report->unit, text, sizeof text, &lack);
         i++)
        fprintf(out, "%s%s", i > 0 || report->processes > 1 ? _("; ") : "", text);
    fputc('\n', out);
}

static void
write_table(FILE *out, const struct tracked *tracked, const struct profile_table *table,
            unsigned top, enum unit unit)
{
    const struct row_layout layout = write_headings(out, table->query.mode);

    for (size_t i = 0; i < table->count && i < top; i++)
        write_row(out, &layout, table, tracked->profile, i, unit);
}

/* A saved session may be of another machine. */
static void
write_hint(FILE *out, const struct site_report *report, const struct profile_table *table)
{
    const struct tracked *tracked = report->tracked;
    const char *file = tracked->saved_epoch_s == 0
                           ? site_hint_file(tracked->profile, table, report->top)
                           : NULL;
    char text[512];

    if (file != NULL && site_hint(text, sizeof text, file, report->servers_asked))
        fprintf(out, "%s\n", text);
}

void
report_sites(FILE *out, const struct site_report *report)
{
    const struct site_choice *choice = report->choice;
    struct profile_table table = {.count = 0};
    bool any;

    if (report->top == 0 || !is_sampled(report->tracked))
        return;
    any = fill(&table, report->tracked, choice != NULL ? choice : &usual);
    if (any || choice != NULL) {
        fprintf(out, "\n%s ", _("Allocation sites:"));
        write_notes(out, report);
    }
    if (any) {
        write_table(out, report->tracked, &table, report->top, report->unit);
        write_hint(out, report, &table);
    } else if (choice != NULL) {
        fprintf(out, "%s\n", 
                site_answer_text(&table, report->tracked->process.identity.sites_state));
    }
    profile_table_free(&table);
}

/* ---- for programs ---- */

static uint64_t
rounded(double value)
{
    return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

static void
set_place(struct object *object, const struct profile *profile,
          const struct profile_place *place)
{
    const char *function = profile_function(profile, place->function);

    object_set_text(object, "function", function, strlen(function));
    if (place->file != NULL)
        object_set_text(object, "file", place->file, strlen(place->file));
    if (place->line > 0)
        object_set_number(object, "line", place->line);
}

static struct object
place_object(const struct profile *profile, const struct profile_place *place)
{
    struct object object = object_new();

    set_place(&object, profile, place);
    if (place->inlined)
        object_set(&object, "inlined", json_true());
    return object;
}

static json_t *
stack_array(const struct profile *profile, uint32_t stack)
{
    struct profile_place places[STACK_PLACES];
    size_t count = profile_places(profile, stack, places, STACK_PLACES);
    json_t *array = json_array();

    for (size_t i = 0; i < count && i < STACK_PLACES; i++)
        json_array_append_new(array, place_object(profile, &places[i]).json);
    return array;
}

static struct object
row_object(const struct profile_table *table, const struct profile *profile, size_t row)
{
    const struct profile_figures *figures = &table->rows[row].figures;
    struct object object = object_new();
    struct profile_place first = {.function = table->rows[row].function};
    struct site_figures live, made;

    sum(table, profile, row, &live, &made);
    if (table->query.mode == PROFILE_PEAK)
        object_set_number(&object, "peak", rounded(figures->bytes));
    else
        object_set(&object, "bytes", json_integer(llround(figures->bytes)));
    object_set_number(&object, "error", rounded(sqrt(figures->bytes_variance)));
    object_set_number(&object, "live", rounded(live.bytes));
    object_set_number(&object, "live_blocks", rounded(live.objects));
    object_set_number(&object, "allocated", rounded(made.bytes));
    object_set_number(&object, "allocated_blocks", rounded(made.objects));
    object_set_number(&object, "samples", made.blocks);
    profile_table_place(table, profile, row, &first);
    set_place(&object, profile, &first);
    object_set(&object, "stack", stack_array(profile, table->rows[row].stack));
    return object;
}

bool
report_json_sites(FILE *out, const struct site_report *report)
{
    const struct tracked *tracked = report->tracked;
    const struct site_choice *choice = report->choice;
    struct profile_table table = {.count = 0};
    struct object object;
    bool written = true;

    if (report->top > 0 && is_sampled(tracked)
        && (fill(&table, tracked, choice != NULL ? choice : &usual) || choice != NULL)) {
        const struct sites_reading *reading = profile_reading(tracked->profile);
        json_t *list = json_array();

        object = object_new();
        fields_put_head(&object, "sites", &tracked->process);
        if (report->processes > 1)
            object_set_number(&object, "processes", report->processes);
        object_set(&object, "rate", fields_real(reading->rate));
        object_set_number(&object, "sampled", reading->sampled);
        object_set_number(&object, "lost", reading->lost.blocks);
        object_set_number(&object, "lost_bytes", rounded(reading->lost.bytes));
        object_set_number(&object, "live", rounded(reading->live_bytes));
        object_set_number(&object, "peak", rounded(reading->peak_bytes));
        if (choice != NULL)
            object_set(&object, "mode",
                       json_string(siteexport_mode_name(table.query.mode)));
        for (size_t i = 0; i < table.count && i < report->top; i++)
            json_array_append_new(list, row_object(&table, tracked->profile, i).json);
        object_set(&object, "list", list);
        written = object_write(out, object) && fflush(out) == 0;
    }
    profile_table_free(&table);
    return written;
}
