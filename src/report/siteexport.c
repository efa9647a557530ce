/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the formats share, writing files, and the shortest of the formats. */
#include "config.h"

#include "report/siteexport.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "report/siteexport-private.h"
#include "base/fresh.h"
#include "report/site-words.h"
#include "base/textwidth.h"

static bool (*const writers[])(FILE *out, const struct siteexport *export) = {
    [SITEEXPORT_FOLDED] = siteexport_folded,
    [SITEEXPORT_PPROF] = siteexport_pprof,
    [SITEEXPORT_MASSIF] = siteexport_massif,
    [SITEEXPORT_JSON] = siteexport_json,
};

/* Are some sites left out? */
static bool
is_chosen(const struct siteexport *export)
{
    return export->filter != NULL || export->survivors_ns > 0;
}

static enum profile_answer
choose_mode(const struct siteexport *export, enum profile_mode mode,
            struct profile_selection *selection)
{
    static const struct profile_filter everything;
    const struct profile_query query = {
        .mode = mode,
        .filter = export->filter != NULL ? export->filter : &everything,
        .survivors_ns = export->survivors_ns,
        .past_ns = -1};

    return profile_select(export->profile, &query, selection);
}

static const char *
unknown_choice(const struct siteexport *export)
{
    struct profile_selection selection;
    struct profile_table table = {.answer =
                                      choose_mode(export, export->mode, &selection)};

    profile_selection_free(&selection);
    return table.answer == PROFILE_ANSWERED ? NULL : site_answer_text(&table, SITES_OFF);
}

bool
siteexport_empty(const struct siteexport *export)
{
    const size_t count = profile_digested(export->profile, NULL)->site_count;
    struct profile_selection selection;
    bool any = false;

    if (choose_mode(export, export->mode, &selection) != PROFILE_ANSWERED)
        return true;
    for (size_t i = 0; !any && i < count; i++)
        any = selection.figures[i].bytes != 0;
    profile_selection_free(&selection);
    return !any;
}

const char *
siteexport_unknown(const struct siteexport *export)
{
    int64_t run_ns;

    if (export->profile == NULL || !profile_known(export->profile, &run_ns))
        return _("no allocation was sampled");
    if (export->mode == PROFILE_SINCE && !profile_marked(export->profile))
        return _("there is no mark");
    return is_chosen(export) ? unknown_choice(export) : NULL;
}

/* Selects for all modes, because massif's trees and pprof's values use several; modes
   other than the chosen one may have no answer. */
static bool
choose(const struct siteexport *export, struct siteexport_chosen *chosen)
{
    bool good = true;

    for (int mode = 0; mode < PROFILE_MODES; mode++)
        good &= choose_mode(export, (enum profile_mode)mode, &chosen->modes[mode])
                != PROFILE_SHORT;
    return good;
}

bool
siteexport_write(FILE *out, enum siteexport_format format,
                 const struct siteexport *export)
{
    struct siteexport_chosen chosen = {0};
    struct siteexport filtered = *export;
    bool good = true;

    if (is_chosen(export)) {
        good = choose(export, &chosen);
        filtered.chosen = &chosen;
    }
    errno = ENOMEM; /* the only failure that sets no errno */
    good = good && writers[format](out, &filtered);
    for (int mode = 0; mode < PROFILE_MODES; mode++)
        profile_selection_free(&chosen.modes[mode]);
    return good;
}

struct export_request {
    enum siteexport_format format;
    const struct siteexport *export;
};

static bool
write_request(FILE *out, void *context)
{
    const struct export_request *request = context;

    return siteexport_write(out, request->format, request->export);
}

int
siteexport_save(enum siteexport_format format, const struct siteexport *export,
                const char *path)
{
    struct export_request request = {format, export};

    return fresh_write(path, write_request, &request);
}

/* ---- shared by the formats ---- */

static struct siteexport_figures
chosen_figures(const struct siteexport *export, size_t index)
{
    const struct profile_figures *figures = export->chosen->modes[export->mode].figures;

    if (figures == NULL)
        return (struct siteexport_figures){.bytes = 0};
    figures += index;
    return (struct siteexport_figures){figures->bytes, figures->objects,
                                       figures->made_bytes, figures->made_objects};
}

struct siteexport_figures
siteexport_figures(const struct siteexport *export, size_t index)
{
    const struct site *site = &profile_digested(export->profile, NULL)->sites[index];
    struct siteexport_figures figures = {
        .bytes = site->live.bytes,
        .objects = site->live.objects,
        .made_bytes = site->made.bytes,
        .made_objects = site->made.objects,
    };
    struct site_figures made, live;

    if (export->chosen != NULL)
        return chosen_figures(export, index);
    switch (export->mode) {
    case PROFILE_PEAK:
        figures.bytes = site->at_peak.bytes;
        figures.objects = site->at_peak.objects;
        break;
    case PROFILE_MADE:
        figures.bytes = site->made.bytes;
        figures.objects = site->made.objects;
        break;
    case PROFILE_SINCE:
        profile_at_mark(export->profile, index, &made, &live);
        figures.bytes -= live.bytes;
        figures.objects -= live.objects;
        figures.made_bytes -= made.bytes;
        figures.made_objects -= made.objects;
        break;
    default:
        break;
    }
    return figures;
}

/* Removes hidden functions from a stack.  What was inlined into a hidden function then
   represents the whole address. */
static size_t
hide_places(const struct siteexport *export, struct profile_place *places, size_t count)
{
    const bool *hidden = export->chosen->modes[export->mode].hidden;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (hidden == NULL || !hidden[places[i].function]) {
            places[kept++] = places[i];
            continue;
        }
        if (!places[i].inlined && kept > 0
            && places[kept - 1].address == places[i].address)
            places[kept - 1].inlined = false;
    }
    if (kept == 0 && count > 0)
        places[kept++] = (struct profile_place){.function = PROFILE_HIDDEN};
    return kept;
}

size_t
siteexport_places(const struct siteexport *export, const struct site *site,
                  struct profile_place places[SITEEXPORT_PLACES])
{
    size_t count =
        profile_places(export->profile, site->stack, places, SITEEXPORT_PLACES);

    if (count > SITEEXPORT_PLACES)
        count = SITEEXPORT_PLACES;
    return export->chosen != NULL ? hide_places(export, places, count) : count;
}

const char *
siteexport_name(const struct siteexport *export, const struct profile_place *place,
                const char *bad, char *buffer, size_t size)
{
    const char *name = profile_function(export->profile, place->function);

    text_utf8(buffer, size, name);
    for (char *at = buffer; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f || strchr(bad, *at) != NULL)
            *at = '_';
    return buffer;
}

int64_t
siteexport_round(double figure)
{
    return figure >= 9e18 ? INT64_MAX : figure <= -9e18 ? INT64_MIN : llround(figure);
}

/* ---- folded stacks ---- */

static bool
write_folded(FILE *out, const struct siteexport *export, const struct site *site,
             int64_t bytes)
{
    static struct profile_place places[SITEEXPORT_PLACES];
    size_t count = siteexport_places(export, site, places);
    char name[1024];

    if (count == 0)
        fputs("[unknown]", out);
    while (count-- > 0)
        fprintf(out, "%s%s",
                siteexport_name(export, &places[count], ";", name, sizeof name),
                count > 0 ? ";" : "");
    return fprintf(out, " %lld\n", (long long)bytes) > 0;
}

/* Sites with the same stack and different sizes give several lines: viewers add them up.
   Negative figures since the mark cannot be shown and are left out. */
bool
siteexport_folded(FILE *out, const struct siteexport *export)
{
    const struct sites_reading *reading = profile_digested(export->profile, NULL);

    for (size_t i = 0; i < reading->site_count; i++) {
        int64_t bytes = siteexport_round(siteexport_figures(export, i).bytes);
        if (bytes > 0 && !write_folded(out, export, &reading->sites[i], bytes))
            return false;
    }
    return true;
}

/* ---- names of formats and modes ---- */

static const struct {
    const char *name, *suffix;
} formats[] = {
    [SITEEXPORT_FOLDED] = {"folded", ".folded"},
    [SITEEXPORT_PPROF] = {"pprof", ".pb.gz"},
    [SITEEXPORT_MASSIF] = {"massif", ".massif"},
    [SITEEXPORT_JSON] = {"json", ".json"},
};

static const char *const modes[PROFILE_MODES] = {
    [PROFILE_LIVE] = "live",
    [PROFILE_PEAK] = "peak",
    [PROFILE_MADE] = "allocated",
    [PROFILE_SINCE] = "since-mark",
};

bool
siteexport_format_parse(const char *name, enum siteexport_format *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(name, formats[i].name) == 0) {
            *format = (enum siteexport_format)i;
            return true;
        }
    return false;
}

bool
siteexport_mode_parse(const char *name, enum profile_mode *mode)
{
    for (int i = 0; i < PROFILE_MODES; i++)
        if (strcmp(name, modes[i]) == 0) {
            *mode = (enum profile_mode)i;
            return true;
        }
    return false;
}

const char *
siteexport_mode_name(enum profile_mode mode)
{
    return modes[mode];
}

const char *
siteexport_suffix(enum siteexport_format format)
{
    return formats[format].suffix;
}
