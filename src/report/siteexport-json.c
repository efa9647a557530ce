/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON Lines, with the rules of json.h.  The first line is the profile's, each of the
 * others a site: what was allocated with one call stack and about one size.
 *
 * profile type "profile"; v 1; command; pid; t_ns, run time of the reading;
 *           rate, the probability that a word (8 bytes) is sampled; unwinder libunwind
 *           glibc frame-pointers unwind-tables none; depth, maximum number of frames;
 *           sampled, blocks;
 *           live_bytes peak_bytes peak_ns; mark_ns, if there is a mark; mode, which of
 *           a site's figures it was exported for; lost: sampled blocks that are without
 *           stack (stacks unknown), without site (sites), in no figure at all (blocks,
 *           which stand for bytes)
 * site type "site"; from to, sizes of its blocks: to is inclusive and absent if
 *           there is no limit, both are absent if sizes are mixed; live at_peak allocated
 *           freed: objects of bytes, objects, blocks (sampled; an estimate's standard
 *           error is about 1/sqrt of that) and error (standard, of bytes); since_mark, if
 *           there is a mark: bytes and objects alive now minus those then, may be
 *           negative, allocated_bytes and allocated_objects; freed_after: sampled blocks
 *           freed within 1 ms, 10 ms, 100 ms, 1 s, 10 s, 1 min, 10 min, and later;
 *           first_ns last_ns, run time of its allocations; stack: array, innermost first,
 *           of function, file and line if known, module and offset (address in that
 *           file), inlined true if it was inlined into the next one
 *
 * Sites are in no order; those that are 0 in the mode are left out.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/siteexport-private.h"
#include "files/fields.h"

static const char *const unwinders[] = {
    [UNWIND_NONE] = "none",
    [UNWIND_LIBUNWIND] = "libunwind",
    [UNWIND_GLIBC] = "glibc",
    [UNWIND_FRAMES] = "frame-pointers",
    [UNWIND_TABLES] = "unwind-tables",
};

static void
set_text(struct object *object, const char *name, const char *text)
{
    object_set_text(object, name, text, strlen(text));
}

static void
set_estimate(struct object *object, const char *name, double value)
{
    object_set(object, name, json_integer(siteexport_round(value)));
}

static struct object
lost_object(const struct sites_lost *lost)
{
    struct object object = object_new();

    object_set_number(&object, "stacks", lost->stacks);
    object_set_number(&object, "unknown", lost->unknown);
    object_set_number(&object, "sites", lost->sites);
    object_set_number(&object, "blocks", lost->blocks);
    set_estimate(&object, "bytes", lost->bytes);
    return object;
}

static bool
write_head(FILE *out, const struct siteexport *export)
{
    const struct process *process = &export->tracked->process;
    int64_t begin_ns, run_ns = 0, mark_ns;
    const struct sites_reading *reading = profile_digested(export->profile, &begin_ns);
    struct site_figures made, live;
    struct object line = object_new();

    profile_known(export->profile, &run_ns);
    object_set_number(&line, "v", 1);
    set_text(&line, "type", "profile");
    set_text(&line, "command", tracked_command(export->tracked));
    object_set_number(&line, "pid", (uint64_t)process->pid);
    object_set_number(&line, "t_ns", (uint64_t)run_ns);
    object_set(&line, "rate", fields_real(reading->rate));
    set_text(&line, "unwinder", unwinders[reading->unwinder]);
    object_set_number(&line, "depth", reading->depth);
    object_set_number(&line, "sampled", reading->sampled);
    set_estimate(&line, "live_bytes", reading->live_bytes);
    set_estimate(&line, "peak_bytes", reading->peak_bytes);
    set_estimate(&line, "peak_ns", (double)(begin_ns + (int64_t)reading->peak_ns));
    mark_ns = profile_at_mark(export->profile, 0, &made, &live);
    if (mark_ns >= 0)
        object_set_number(&line, "mark_ns", (uint64_t)mark_ns);
    set_text(&line, "mode", siteexport_mode_name(export->mode));
    object_set_object(&line, "lost", lost_object(&reading->lost));
    return object_write(out, line);
}

/* For n blocks that stand for N objects and S bytes: S/sqrt(n) sqrt(1 - n/N), see
   profile.h. */
static double
standard_error(const struct site_figures *figures)
{
    double blocks = (double)figures->blocks;

    if (blocks == 0 || figures->objects <= blocks)
        return 0;
    return figures->bytes / sqrt(blocks) * sqrt(1 - blocks / figures->objects);
}

static void
set_figures(struct object *line, const char *name, const struct site_figures *figures)
{
    struct object object = object_new();

    set_estimate(&object, "bytes", figures->bytes);
    set_estimate(&object, "objects", figures->objects);
    object_set_number(&object, "blocks", figures->blocks);
    set_estimate(&object, "error", standard_error(figures));
    object_set_object(line, name, object);
}

static void
set_since_mark(struct object *line, const struct siteexport *export, size_t index)
{
    struct siteexport since = *export;
    struct object object;

    if (!profile_marked(export->profile))
        return;
    since.mode = PROFILE_SINCE;
    const struct siteexport_figures figures = siteexport_figures(&since, index);
    object = object_new();
    set_estimate(&object, "bytes", figures.bytes);
    set_estimate(&object, "objects", figures.objects);
    set_estimate(&object, "allocated_bytes", figures.made_bytes);
    set_estimate(&object, "allocated_objects", figures.made_objects);
    object_set_object(line, "since_mark", object);
}

static void
set_sizes(struct object *line, uint32_t bucket)
{
    if (bucket >= HISTOGRAM_COARSE)
        return;
    object_set_number(line, "from", histogram_coarse_floor(bucket));
    if (bucket + 1 < HISTOGRAM_COARSE)
        object_set_number(line, "to", histogram_coarse_floor(bucket + 1) - 1);
}

static void
set_stack(struct object *line, const struct siteexport *export, const struct site *site)
{
    static struct profile_place places[SITEEXPORT_PLACES];
    size_t count = siteexport_places(export, site, places);
    json_t *stack = json_array();
    char name[4096];

    for (size_t i = 0; i < count; i++) {
        const struct profile_place *place = &places[i];
        struct object frame = object_new();

        set_text(&frame, "function",
                 siteexport_name(export, &places[i], "", name, sizeof name));
        if (place->file != NULL) {
            set_text(&frame, "file", place->file);
            object_set_number(&frame, "line", place->line);
        }
        if (place->module != NULL) {
            set_text(&frame, "module", place->module);
            object_set_number(&frame, "offset", place->offset);
        }
        if (place->inlined)
            object_set(&frame, "inlined", json_true());
        line->complete &= frame.complete;
        if (json_array_append_new(stack, frame.json) != 0)
            line->complete = false;
    }
    object_set(line, "stack", stack);
}

static bool
write_site(FILE *out, const struct siteexport *export, size_t index)
{
    int64_t begin_ns;
    const struct sites_reading *reading = profile_digested(export->profile, &begin_ns);
    const struct site *site = &reading->sites[index];
    struct object line = object_new();
    json_t *lives = json_array();

    set_text(&line, "type", "site");
    set_sizes(&line, site->bucket);
    set_figures(&line, "live", &site->live);
    set_figures(&line, "at_peak", &site->at_peak);
    set_figures(&line, "allocated", &site->made);
    set_figures(&line, "freed", &site->freed);
    set_since_mark(&line, export, index);
    for (unsigned i = 0; i < SITE_LIFETIMES; i++)
        line.complete &=
            json_array_append_new(lives, fields_number(site->freed_after[i].blocks)) == 0;
    object_set(&line, "freed_after", lives);
    if (site->first_ns > 0) {
        set_estimate(&line, "first_ns", (double)(begin_ns + (int64_t)site->first_ns));
        set_estimate(&line, "last_ns", (double)(begin_ns + (int64_t)site->last_ns));
    }
    set_stack(&line, export, site);
    return object_write(out, line);
}

bool
siteexport_json(FILE *out, const struct siteexport *export)
{
    const struct sites_reading *reading = profile_digested(export->profile, NULL);
    bool good = write_head(out, export);

    for (size_t i = 0; good && i < reading->site_count; i++) {
        const struct siteexport_figures figures = siteexport_figures(export, i);

        if (figures.bytes != 0 || figures.objects != 0
            || (export->mode == PROFILE_SINCE && figures.made_bytes != 0))
            good = write_site(out, export, i);
    }
    return good;
}
