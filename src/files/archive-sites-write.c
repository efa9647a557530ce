/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes allocation sites.  An address is written once, with all its names, before the
 * first stack that contains it; a stack before the first site that has it.  A site
 * refers to its stack by the stack's number in the file.  Times are run time.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "files/archive-lines.h"
#include "files/archive-sites.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define PLACES_MAX    2048 /* in one stack: 64 addresses with 32 functions each */
#define BLOCKS_A_LINE 1000
#define SITES_A_LINE  1000 /* sites in a line of a moment */

struct address {
    uint64_t address;
    UT_hash_handle hh;
};

struct sites_writer {
    FILE *out;
    pid_t of;                /* pid of another process, or 0 */
    const struct profile *profile;
    const struct sites_reading *reading;
    int64_t begin_ns;
    struct address *written; /* addresses written so far */
    uint32_t *numbers;       /* number of each stack in the file, by id; 0: not written */
    uint32_t stacks;         /* number of stacks written so far */
};

static struct object
line_of(const char *type)
{
    struct object object = object_new();

    object_set(&object, "type", json_string(type));
    return object;
}

/* Converts a time of the reading to run time; 0 means no time and remains 0. */
static int64_t
run_time(const struct sites_writer *writer, uint64_t time_ns)
{
    int64_t run_ns;

    if (time_ns == 0)
        return 0;
    if (time_ns > INT64_MAX
        || __builtin_add_overflow(writer->begin_ns, (int64_t)time_ns, &run_ns))
        return INT64_MAX;
    return run_ns > 0 ? run_ns : 1;
}

static void
set_time(struct object *object, const char *name, const struct sites_writer *writer,
         uint64_t time_ns)
{
    if (time_ns > 0)
        object_set_time(object, name, run_time(writer, time_ns));
}

static void
append(struct object *object, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        object->complete = false;
}

/* [bytes, objects, blocks, samples] */
static json_t *
figures_array(struct object *object, const struct site_figures *figures)
{
    json_t *array = json_array();

    append(object, array, fields_real(figures->bytes));
    append(object, array, fields_real(figures->objects));
    append(object, array, fields_number(figures->blocks));
    append(object, array, fields_number(figures->samples));
    append(object, array, fields_real(figures->squares));
    return array;
}

/* Omits figures that are all 0. */
static void
set_figures(struct object *object, const char *name, const struct site_figures *figures)
{
    if (figures->blocks > 0 || figures->bytes != 0)
        object_set(object, name, figures_array(object, figures));
}

static bool
write_head(struct sites_writer *writer)
{
    const struct sites_reading *reading = writer->reading;
    const struct sites_lost *lost = &reading->lost;
    struct object line = line_of("sites");
    struct site_figures made, live;
    int64_t run_ns = 0, mark_ns;
    double bytes, objects;

    profile_known(writer->profile, &run_ns);
    mark_ns = profile_at_mark(writer->profile, 0, &made, &live);
    object_set_time(&line, "t_ns", run_ns);
    object_set(&line, "rate", fields_real(reading->rate));
    object_set_number(&line, "depth", reading->depth);
    object_set_number(&line, "unwinder", reading->unwinder);
    object_set_number(&line, "sampled", reading->sampled);
    object_set(&line, "live_bytes", fields_real(reading->live_bytes));
    object_set(&line, "peak_bytes", fields_real(reading->peak_bytes));
    set_time(&line, "peak_ns", writer, reading->peak_ns);
    if (mark_ns >= 0)
        object_set_time(&line, "mark_ns", mark_ns);
    if (reading->site_count > 0 && profile_rates(writer->profile, 0, &bytes, &objects))
        object_set(&line, "rates", json_true());
    if (reading->adaptive)
        object_set(&line, "adaptive", json_true());
    object_set_number(&line, "thinned", reading->thinned);
    object_set_number(&line, "lost_stacks", lost->stacks);
    object_set_number(&line, "lost_sites", lost->sites);
    object_set_number(&line, "lost_blocks", lost->blocks);
    object_set(&line, "lost_bytes", fields_real(lost->bytes));
    object_set_number(&line, "lost_modules", lost->modules);
    object_set_number(&line, "lost_unknown", lost->unknown);
    return archive_put_line(writer->out, writer->of, line);
}

static bool
write_module(struct sites_writer *writer, const struct site_module *module)
{
    struct object line = line_of("module");
    char build_id[2 * SITE_BUILD_ID_LEN + 1] = "";

    for (size_t i = 0; i < module->build_id_size && i < SITE_BUILD_ID_LEN; i++)
        snprintf(build_id + 2 * i, 3, "%02x", module->build_id[i]);
    object_set_number(&line, "start", module->start);
    object_set_number(&line, "end", module->end);
    object_set_number(&line, "bias", module->bias);
    set_time(&line, "seen_ns", writer, module->seen_ns);
    object_set_text(&line, "build_id", build_id, sizeof build_id);
    object_set_text(&line, "path", module->path, sizeof module->path);
    return archive_put_line(writer->out, writer->of, line);
}

/* ---- stacks ---- */

/* Is this the first use of the address?  Remembers it. */
static bool
is_new(struct sites_writer *writer, uint64_t where)
{
    struct address *address;

    HASH_FIND(hh, writer->written, &where, sizeof where, address);
    if (address != NULL)
        return false;
    address = calloc(1, sizeof *address);
    if (address == NULL)
        return true;
    address->address = where;
    HASH_ADD(hh, writer->written, address, sizeof where, address);
    if (address->hh.tbl == NULL)
        free(address);
    return true;
}

/* A frame: [function, file, line]; file is null if not known. */
static json_t *
frame_array(struct sites_writer *writer, struct object *object,
            const struct profile_place *place)
{
    const char *function = profile_function(writer->profile, place->function);
    json_t *frame = json_array();

    append(object, frame, fields_text(function, strlen(function)));
    append(object, frame,
           place->file != NULL ? fields_text(place->file, strlen(place->file))
                               : json_null());
    append(object, frame,
           fields_number(place->line < INT32_MAX ? place->line : INT32_MAX));
    return frame;
}

/* Writes an address with its functions, of which there are several if some are
   inlined. */
static bool
write_address(struct sites_writer *writer, const struct profile_place *places,
              size_t count)
{
    struct object line = line_of("place");
    json_t *frames = json_array();

    object_set_number(&line, "address", places[0].address);
    if (places[0].module != NULL)
        object_set_text(&line, "module", places[0].module, strlen(places[0].module));
    object_set_number(&line, "offset", places[0].offset);
    for (size_t i = 0; i < count; i++)
        append(&line, frames, frame_array(writer, &line, &places[i]));
    object_set(&line, "frames", frames);
    return archive_put_line(writer->out, writer->of, line);
}

static bool
write_addresses(struct sites_writer *writer, uint32_t stack)
{
    static struct profile_place places[PLACES_MAX];
    size_t count = profile_places(writer->profile, stack, places, PLACES_MAX);
    bool good = true;

    for (size_t begin = 0, end; good && begin < count; begin = end) {
        end = begin + 1;
        while (end < count && places[end - 1].inlined)
            end++;
        if (is_new(writer, places[begin].address))
            good = write_address(writer, &places[begin], end - begin);
    }
    return good;
}

static bool
write_stack(struct sites_writer *writer, uint32_t stack)
{
    unsigned depth;
    const uint64_t *pcs = sites_stack(writer->reading, stack, &depth);

    if (pcs == NULL || depth == 0 || writer->numbers[stack] != 0)
        return true;
    if (!write_addresses(writer, stack))
        return false;
    struct object line = line_of("stack");
    json_t *list = json_array();
    for (unsigned i = 0; i < depth; i++)
        append(&line, list, fields_number(pcs[i]));
    object_set(&line, "pcs", list);
    writer->numbers[stack] = ++writer->stacks;
    return archive_put_line(writer->out, writer->of, line);
}

/* ---- sites and blocks ---- */

static void
set_mark(struct sites_writer *writer, struct object *line, size_t index)
{
    struct site_figures made, live;

    if (profile_at_mark(writer->profile, index, &made, &live) < 0)
        return;
    set_figures(line, "made_at_mark", &made);
    set_figures(line, "live_at_mark", &live);
}

static void
set_rate(struct sites_writer *writer, struct object *line, size_t index)
{
    double bytes, objects;
    json_t *array;

    if (!profile_rates(writer->profile, index, &bytes, &objects)
        || (bytes == 0 && objects == 0))
        return;
    array = json_array();
    append(line, array, fields_real(bytes));
    append(line, array, fields_real(objects));
    object_set(line, "rate", array);
}

static bool
write_site(struct sites_writer *writer, size_t index)
{
    const struct site *site = &writer->reading->sites[index];
    struct object line;

    if (!write_stack(writer, site->stack))
        return false;
    line = line_of("site");
    if (site->stack < writer->reading->pool_count)
        object_set_number(&line, "stack", writer->numbers[site->stack]);
    if (site->bucket < HISTOGRAM_COARSE)
        object_set_number(&line, "bucket", site->bucket);
    set_time(&line, "first_ns", writer, site->first_ns);
    set_time(&line, "last_ns", writer, site->last_ns);
    set_figures(&line, "made", &site->made);
    set_figures(&line, "freed", &site->freed);
    set_figures(&line, "live", &site->live);
    set_figures(&line, "at_peak", &site->at_peak);
    if (site->freed.blocks > 0) {
        json_t *lives = json_array();
        for (unsigned i = 0; i < SITE_LIFETIMES; i++)
            append(&line, lives,
                   site->freed_after[i].blocks > 0
                       ? figures_array(&line, &site->freed_after[i])
                       : json_null());
        object_set(&line, "freed_after", lives);
    }
    set_mark(writer, &line, index);
    set_rate(writer, &line, index);
    return archive_put_line(writer->out, writer->of, line);
}

/* [site, size, born, samples, function, thread, weight] */
static json_t *
block_array(struct sites_writer *writer, struct object *object,
            const struct sampled_block *block)
{
    json_t *row = json_array();

    append(object, row, fields_number(block->site));
    append(object, row, fields_number(block->size));
    append(object, row, fields_time(run_time(writer, block->born_ns)));
    append(object, row, fields_number(block->samples));
    append(object, row, fields_number(block->function));
    append(object, row, fields_number(block->thread));
    if (block->weight > 0)
        append(object, row, fields_real(block->weight));
    return row;
}

static bool
write_blocks(struct sites_writer *writer)
{
    const struct sites_reading *reading = writer->reading;
    bool good = true;

    for (size_t at = 0; good && at < reading->block_count;) {
        struct object line = line_of("blocks");
        json_t *list = json_array();

        for (size_t end = at + BLOCKS_A_LINE; at < reading->block_count && at < end; at++)
            append(&line, list, block_array(writer, &line, &reading->blocks[at]));
        object_set(&line, "list", list);
        good = archive_put_line(writer->out, writer->of, line);
    }
    return good;
}

/* ---- moments ---- */

static const struct profile_kept_site *
kept_at(const struct profile_checkpoint *checkpoint, size_t index)
{
    static const struct profile_kept_site nothing;

    return checkpoint != NULL && index < checkpoint->count ? &checkpoint->sites[index]
                                                           : &nothing;
}

static void
append_kept(struct object *object, json_t *row, const struct profile_kept *kept)
{
    append(object, row, fields_real((double)kept->bytes));
    append(object, row, fields_real((double)kept->objects));
    append(object, row, fields_number(kept->blocks));
}

/* A row: [site, allocated bytes, objects, blocks, then the same of live blocks and at
   the peak]. */
static json_t *
kept_array(struct object *object, size_t index, const struct profile_kept_site *kept)
{
    json_t *row = json_array();

    append(object, row, fields_number(index));
    append_kept(object, row, &kept->made);
    append_kept(object, row, &kept->live);
    append_kept(object, row, &kept->at_peak);
    return row;
}

/* Writes the sites that have changed since the moment before, from *at on, as many as
   fit a line. */
static bool
write_checkpoint_part(struct sites_writer *writer,
                      const struct profile_checkpoint *checkpoint,
                      const struct profile_checkpoint *before, size_t *at)
{
    struct object line = line_of("sites_moment");
    json_t *list = json_array();

    object_set_time(&line, "t_ns", checkpoint->run_ns);
    object_set_number(&line, "sites", checkpoint->count);
    for (; *at < checkpoint->count && json_array_size(list) < SITES_A_LINE; ++*at)
        if (memcmp(kept_at(checkpoint, *at), kept_at(before, *at),
                   sizeof(struct profile_kept_site))
            != 0)
            append(&line, list, kept_array(&line, *at, kept_at(checkpoint, *at)));
    object_set(&line, "list", list);
    return archive_put_line(writer->out, writer->of, line);
}

/* Does the moment have a later time?  Readers would take two of the same time for one. */
static bool
comes_after(const struct profile_checkpoint *checkpoint,
            const struct profile_checkpoint *before)
{
    return before == NULL
           || (checkpoint->run_ns > before->run_ns && checkpoint->run_ns > 0
               && before->run_ns < (int64_t)FIELDS_TIME_MAX);
}

static bool
write_checkpoints(struct sites_writer *writer)
{
    size_t count;
    const struct profile_checkpoint *checkpoints =
        profile_checkpoints(writer->profile, &count);
    const struct profile_checkpoint *before = NULL;

    for (size_t i = 0; i < count; i++) {
        size_t at = 0;

        if (!comes_after(&checkpoints[i], before))
            continue;
        do
            if (!write_checkpoint_part(writer, &checkpoints[i], before, &at))
                return false;
        while (at < checkpoints[i].count);
        before = &checkpoints[i];
    }
    return true;
}

bool
archive_put_sites(FILE *out, pid_t of, const struct profile *profile)
{
    struct sites_writer writer = {.out = out, .of = of, .profile = profile};
    struct address *address, *next;
    int64_t run_ns;
    bool good;

    if (profile == NULL || !profile_known(profile, &run_ns))
        return true;
    writer.reading = profile_digested(profile, &writer.begin_ns);
    writer.numbers = calloc(writer.reading->pool_count + 1, sizeof *writer.numbers);
    good = writer.numbers != NULL && write_head(&writer);
    for (size_t i = 0; good && i < writer.reading->module_count; i++)
        good = write_module(&writer, &writer.reading->modules[i]);
    for (size_t i = 0; good && i < writer.reading->site_count; i++)
        good = write_site(&writer, i);
    good = good && write_blocks(&writer) && write_checkpoints(&writer);
    HASH_ITER(hh, writer.written, address, next) {
        HASH_DELETE(hh, writer.written, address);
        free(address);
    }
    free(writer.numbers);
    return good;
}
