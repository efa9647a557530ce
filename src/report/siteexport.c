/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the formats have in common, files; and the shortest of them. */
#include "config.h"

#include "report/siteexport.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "i18n.h"
#include "report/siteexport-private.h"
#include "report/fresh.h"
#include "report/textwidth.h"

static bool (*const writers[])(FILE *out, const struct siteexport *export) = {
    [SITEEXPORT_FOLDED] = siteexport_folded,
    [SITEEXPORT_PPROF] = siteexport_pprof,
    [SITEEXPORT_MASSIF] = siteexport_massif,
    [SITEEXPORT_JSON] = siteexport_json,
};

const char *
siteexport_unknown(const struct siteexport *export)
{
    int64_t run_ns;

    if (export->profile == NULL || !profile_known(export->profile, &run_ns))
        return _("allocation sites were not sampled (--sites)");
    if (export->mode == PROFILE_SINCE && !profile_marked(export->profile))
        return _("there is no mark");
    return NULL;
}

bool
siteexport_write(FILE *out, enum siteexport_format format, const struct siteexport *export)
{
    errno = ENOMEM; /* the one reason that leaves none */
    return writers[format](out, export);
}

struct request {
    enum siteexport_format format;
    const struct siteexport *export;
};

static bool
write_request(FILE *out, void *context)
{
    const struct request *request = context;

    return siteexport_write(out, request->format, request->export);
}

int
siteexport_save(enum siteexport_format format, const struct siteexport *export, const char *path)
{
    struct request request = {format, export};

    return fresh_write(path, write_request, &request);
}

/* ---- what they have in common ---- */

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

size_t
siteexport_places(const struct siteexport *export, const struct site *site,
              struct siteexport_place places[SITEEXPORT_PLACES])
{
    const struct sites_reading *reading = profile_digested(export->profile, NULL);
    static struct profile_place named[SITEEXPORT_PLACES];
    size_t count = profile_places(export->profile, site->stack, named, SITEEXPORT_PLACES);
    unsigned depth, at = 0;
    const uint64_t *pcs = sites_stack(reading, site->stack, &depth);

    if (count > SITEEXPORT_PLACES)
        count = SITEEXPORT_PLACES;
    for (size_t i = 0; i < count; i++) {
        uint64_t pc = at < depth ? pcs[at] : 0;
        places[i].place = named[i];
        places[i].address = sites_call(pc);
        places[i].module = sites_module(reading, pc, site->first_ns);
        at += !named[i].inlined;
    }
    return count;
}

const char *
siteexport_name(const struct siteexport *export, const struct siteexport_place *place,
            const char *bad, char *buffer, size_t size)
{
    const char *name = profile_function(export->profile, place->place.function);

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
    static struct siteexport_place places[SITEEXPORT_PLACES];
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

/* Sites of one stack and several sizes make several lines: viewers add them up.  What
   has become less since the mark has no place in a picture of parts. */
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
