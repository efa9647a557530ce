/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads allocation sites from a file that anyone may have made.  The lines become a
 * struct sites_reading like one from a segment (segment/sites.h), with the same limits,
 * and are processed like one.  Names come from the file only.
 */
#include "config.h"

#include "base/array.h"
#include "base/intern.h"
#include "files/archive-sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define KEPT_MAX       ((size_t)2 << 20) /* limit for sites at all moments together */

/* Names for an address. */
struct name {
    UT_hash_handle hh;
    uint64_t address;
    struct symbol symbol;
    struct symbol_frame frames[];
};

struct sites_intake {
    struct profile *profile;
    struct sites_reading *reading; /* belongs to the profile */
    bool begun, marked;
    uint64_t run_ns, mark_ns;
    uint32_t *stacks;              /* ids of stacks, by their number in the file */
    size_t stack_count;
    size_t stack_room, pool_room, site_room, module_room, block_room;
    size_t made_room, live_room;
    struct site_figures *made, *live; /* figures at the mark, by site */
    bool rates_known;
    size_t rate_room;
    struct rate {
        double bytes, objects;
    } *rates;                      /* by site */
    struct profile_checkpoint checkpoints[PROFILE_CHECKPOINTS_MAX];
    size_t checkpoint_count;
    struct sites_taken *taken;
    struct name *names;
    struct intern_table texts; /* of the names */
    struct symbol nowhere;     /* the name of an address that the file does not name */
};

struct sites_intake *
sites_intake_new(struct sites_taken *taken)
{
    struct sites_intake *intake = calloc(1, sizeof *intake);

    if (intake == NULL)
        return NULL;
    intake->profile = profile_new();
    if (intake->profile == NULL) {
        free(intake);
        return NULL;
    }
    intake->reading = profile_reading(intake->profile);
    intake->taken = taken;
    return intake;
}

void
sites_intake_free(struct sites_intake *intake)
{
    struct name *name, *next;

    if (intake == NULL)
        return;
    HASH_ITER(hh, intake->names, name, next) {
        HASH_DELETE(hh, intake->names, name);
        free(name);
    }
    intern_free(&intake->texts);
    for (size_t i = 0; i < intake->checkpoint_count; i++)
        free(intake->checkpoints[i].sites);
    profile_free(intake->profile);
    free(intake->rates);
    free(intake->stacks);
    free(intake->made);
    free(intake->live);
    free(intake);
}

/* ---- helpers ---- */

static bool
blame(struct fault *fault, const char *name, const char *what)
{
    if (fault->name == NULL)
        *fault = (struct fault){name, what};
    return false;
}

static bool
no_memory(struct fault *fault)
{
    *fault = (struct fault){.name = "sites"};
    return false;
}

/* Makes room for one more, zeroed element in *array, of at most `most` elements. */
static bool
make_room(void *array, size_t *room, size_t count, size_t most, size_t size,
          const char *name, struct fault *fault)
{
    if (count >= most)
        return blame(fault, name, N_("exceeds the number allowed"));
    return array_grow(array, room, count + 1, size) || no_memory(fault);
}

static bool
number_at(const json_t *array, size_t index, uint64_t most, uint64_t *out)
{
    const json_t *value = json_array_get(array, index);

    if (!json_is_integer(value) || json_integer_value(value) < 0
        || (uint64_t)json_integer_value(value) > most)
        return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static bool
real_at(const json_t *array, size_t index, double *out)
{
    const json_t *value = json_array_get(array, index);

    if (!json_is_number(value) || !(json_number_value(value) >= 0)
        || json_number_value(value) > FIELDS_REAL_MAX)
        return false;
    *out = json_number_value(value);
    return true;
}

/* [bytes, objects, blocks, samples, squares]; earlier versions have no squares. */
static bool
figures_of(const json_t *array, struct site_figures *out)
{
    if (json_array_size(array) > 4 && !real_at(array, 4, &out->squares))
        return false;
    return real_at(array, 0, &out->bytes) && real_at(array, 1, &out->objects)
           && number_at(array, 2, INT64_MAX, &out->blocks)
           && number_at(array, 3, INT64_MAX, &out->samples);
}

static void
take_figures(const json_t *line, const char *name, struct site_figures *out,
             struct fault *fault)
{
    const json_t *array = json_object_get(line, name);

    if (array != NULL && !figures_of(array, out))
        blame(fault, name, N_("is not a list of figures"));
}

/* ---- lines ---- */

static bool
take_head(struct sites_intake *intake, const json_t *line, struct fault *fault)
{
    struct sites_reading *reading = intake->reading;
    struct sites_lost *lost = &reading->lost;
    uint64_t number;

    if (intake->begun)
        return blame(fault, "sites", N_("exceeds the number allowed"));
    intake->begun = true;
    fields_take_number(line, "t_ns", FIELDS_TIME_MAX, &intake->run_ns, fault);
    if (!fields_take_real(line, "rate", &reading->rate, fault) || reading->rate > 1)
        blame(fault, "rate", N_("is not a valid number"));
    if (fields_take_number(line, "depth", SITES_DEPTH_MAX, &number, fault))
        reading->depth = (unsigned)number;
    if (fields_take_number(line, "unwinder", UNWIND_LAST, &number, fault))
        reading->unwinder = (enum site_unwinder)number;
    reading->has_modules = true;
    fields_take_number(line, "sampled", INT64_MAX, &reading->sampled, fault);
    fields_take_real(line, "live_bytes", &reading->live_bytes, fault);
    fields_take_real(line, "peak_bytes", &reading->peak_bytes, fault);
    fields_take_number(line, "peak_ns", FIELDS_TIME_MAX, &reading->peak_ns, fault);
    intake->marked =
        fields_take_number(line, "mark_ns", FIELDS_TIME_MAX, &intake->mark_ns, fault);
    intake->rates_known = fields_take_flag(line, "rates", fault);
    reading->adaptive = fields_take_flag(line, "adaptive", fault);
    fields_take_number(line, "thinned", INT64_MAX, &reading->thinned, fault);
    fields_take_number(line, "lost_stacks", INT64_MAX, &lost->stacks, fault);
    fields_take_number(line, "lost_sites", INT64_MAX, &lost->sites, fault);
    fields_take_number(line, "lost_blocks", INT64_MAX, &lost->blocks, fault);
    fields_take_real(line, "lost_bytes", &lost->bytes, fault);
    fields_take_number(line, "lost_modules", INT64_MAX, &lost->modules, fault);
    fields_take_number(line, "lost_unknown", INT64_MAX, &lost->unknown, fault);
    return fault->name == NULL;
}

static bool
take_module(struct sites_intake *intake, const json_t *line, struct fault *fault)
{
    struct sites_reading *reading = intake->reading;
    char build_id[2 * SITE_BUILD_ID_LEN + 1];

    if (!make_room(&reading->modules, &intake->module_room, reading->module_count,
                   SITES_MODULES, sizeof *reading->modules, "module", fault))
        return false;
    struct site_module *module = &reading->modules[reading->module_count++];
    fields_take_number(line, "start", INT64_MAX, &module->start, fault);
    fields_take_number(line, "end", INT64_MAX, &module->end, fault);
    fields_take_number(line, "bias", INT64_MAX, &module->bias, fault);
    fields_take_number(line, "seen_ns", FIELDS_TIME_MAX, &module->seen_ns, fault);
    fields_take_text(line, "path", module->path, sizeof module->path, fault);
    fields_take_text(line, "build_id", build_id, sizeof build_id, fault);
    for (const char *at = build_id; module->build_id_size < SITE_BUILD_ID_LEN; at += 2) {
        unsigned byte;
        if (sscanf(at, "%2x", &byte) != 1)
            break;
        module->build_id[module->build_id_size++] = (unsigned char)byte;
        if (at[1] == '\0')
            break;
    }
    return fault->name == NULL;
}

static bool
is_frame(const json_t *frame)
{
    const json_t *file = json_array_get(frame, 1);
    uint64_t line;

    return json_is_string(json_array_get(frame, 0))
           && (json_is_string(file) || json_is_null(file))
           && number_at(frame, 2, INT32_MAX, &line);
}

/* Reads [function, file, line]; false if memory is short. */
static bool
take_frame(struct sites_intake *intake, const json_t *frame, struct symbol_frame *out)
{
    const char *file = json_string_value(json_array_get(frame, 1));

    out->function =
        intern_text(&intake->texts, json_string_value(json_array_get(frame, 0)));
    out->file = intern_text(&intake->texts, file);
    out->line = (unsigned)json_integer_value(json_array_get(frame, 2));
    return out->function != NULL && (out->file != NULL || file == NULL);
}

static struct name *
name_new(struct sites_intake *intake, const json_t *line, const json_t *frames)
{
    size_t count = json_array_size(frames);
    struct name *name = calloc(1, sizeof *name + count * sizeof *name->frames);

    if (name == NULL)
        return NULL;
    name->symbol = (struct symbol){
        .state = count > 0 ? SYMBOL_KNOWN : SYMBOL_UNNAMED,
        .module = intern_text(&intake->texts,
                              json_string_value(json_object_get(line, "module"))),
        .count = (unsigned)count,
        .frames = name->frames};
    for (size_t i = 0; i < count; i++)
        if (!take_frame(intake, json_array_get(frames, i), &name->frames[i])) {
            free(name);
            return NULL;
        }
    return name;
}

static bool
take_place(struct sites_intake *intake, const json_t *line, struct fault *fault)
{
    const json_t *frames = json_object_get(line, "frames");
    uint64_t address = 0, offset = 0;
    struct name *name;

    if (json_array_size(frames) > PROFILE_INLINES_MAX)
        return blame(fault, "frames", N_("exceeds the number allowed"));
    for (size_t i = 0; i < json_array_size(frames); i++)
        if (!is_frame(json_array_get(frames, i)))
            return blame(fault, "frames", N_("is not a list of frames"));
    fields_take_number(line, "address", INT64_MAX, &address, fault);
    fields_take_number(line, "offset", INT64_MAX, &offset, fault);
    HASH_FIND(hh, intake->names, &address, sizeof address, name);
    if (fault->name != NULL || name != NULL)
        return fault->name == NULL;
    if (HASH_COUNT(intake->names) == SITES_POOL_WORDS)
        return blame(fault, "place", N_("exceeds the number allowed"));
    name = name_new(intake, line, frames);
    if (name == NULL)
        return no_memory(fault);
    name->address = address;
    name->symbol.offset = offset;
    HASH_ADD(hh, intake->names, address, sizeof name->address, name);
    if (name->hh.tbl != NULL)
        return true;
    free(name);
    return no_memory(fault);
}

static bool
add_word(struct sites_intake *intake, uint64_t word, struct fault *fault)
{
    struct sites_reading *reading = intake->reading;

    if (!make_room(&reading->pool, &intake->pool_room, reading->pool_count,
                   SITES_POOL_WORDS, sizeof *reading->pool, "stack", fault))
        return false;
    reading->pool[reading->pool_count++] = word;
    return true;
}

static bool
take_stack(struct sites_intake *intake, const json_t *line, struct fault *fault)
{
    const json_t *pcs = json_object_get(line, "pcs");
    struct sites_reading *reading = intake->reading;
    size_t depth = json_array_size(pcs);
    uint64_t pc;

    if (depth == 0 || depth > SITES_DEPTH_MAX)
        return blame(fault, "pcs", N_("is not a call stack"));
    if ((reading->pool_count == 0 && !add_word(intake, 0, fault)) /* id 0 means no
                                                                     stack */
        || !make_room(&intake->stacks, &intake->stack_room, intake->stack_count,
                      SITES_POOL_WORDS, sizeof *intake->stacks, "stack", fault))
        return false;
    intake->stacks[intake->stack_count++] = (uint32_t)reading->pool_count;
    if (!add_word(intake, depth, fault))
        return false;
    for (size_t i = 0; i < depth; i++) {
        if (!number_at(pcs, i, INT64_MAX, &pc))
            return blame(fault, "pcs", N_("is not a call stack"));
        if (!add_word(intake, pc, fault))
            return false;
    }
    return true;
}

static void
take_lives(const json_t *line, struct site *site, struct fault *fault)
{
    const json_t *lives = json_object_get(line, "freed_after");

    if (lives == NULL)
        return;
    if (json_array_size(lives) != SITE_LIFETIMES)
        blame(fault, "freed_after", N_("is not a list of figures"));
    for (size_t i = 0; fault->name == NULL && i < SITE_LIFETIMES; i++)
        if (!json_is_null(json_array_get(lives, i))
            && !figures_of(json_array_get(lives, i), &site->freed_after[i]))
            blame(fault, "freed_after", N_("is not a list of figures"));
}

/* [bytes, objects], per second */
static void
take_rate(const json_t *line, struct rate *rate, struct fault *fault)
{
    const json_t *array = json_object_get(line, "rate");

    if (array != NULL
        && (!real_at(array, 0, &rate->bytes) || !real_at(array, 1, &rate->objects)))
        blame(fault, "rate", N_("is not a list of figures"));
}

static bool
take_site(struct sites_intake *intake, const json_t *line, struct fault *fault)
{
    struct sites_reading *reading = intake->reading;
    size_t index = reading->site_count;
    uint64_t stack = 0, bucket = SITE_ANY_SIZE;

    if (++intake->taken->sites > SITES_TAKEN_MAX)
        return blame(fault, "site", N_("exceeds the number allowed"));
    if (!make_room(&reading->sites, &intake->site_room, index, SITES_RECORDS,
                   sizeof *reading->sites, "site", fault)
        || !make_room(&intake->made, &intake->made_room, index, SITES_RECORDS,
                      sizeof *intake->made, "site", fault)
        || !make_room(&intake->live, &intake->live_room, index, SITES_RECORDS,
                      sizeof *intake->live, "site", fault)
        || !make_room(&intake->rates, &intake->rate_room, index, SITES_RECORDS,
                      sizeof *intake->rates, "site", fault))
        return false;
    struct site *site = &reading->sites[reading->site_count++];
    fields_take_number(line, "stack", intake->stack_count, &stack, fault);
    fields_take_number(line, "bucket", HISTOGRAM_COARSE - 1, &bucket, fault);
    site->stack = stack > 0 && stack <= intake->stack_count ? intake->stacks[stack - 1]
                                                            : 0;
    site->bucket = (uint32_t)bucket;
    fields_take_number(line, "first_ns", FIELDS_TIME_MAX, &site->first_ns, fault);
    fields_take_number(line, "last_ns", FIELDS_TIME_MAX, &site->last_ns, fault);
    take_figures(line, "made", &site->made, fault);
    take_figures(line, "freed", &site->freed, fault);
    take_figures(line, "live", &site->live, fault);
    take_figures(line, "at_peak", &site->at_peak, fault);
    take_lives(line, site, fault);
    take_figures(line, "made_at_mark", &intake->made[index], fault);
    take_figures(line, "live_at_mark", &intake->live[index], fault);
    take_rate(line, &intake->rates[index], fault);
    return fault->name == NULL;
}

static bool
take_block(const struct sites_reading *reading, const json_t *row,
           struct sampled_block *block)
{
    uint64_t site, thread, function;

    if (!number_at(row, 0, UINT32_MAX, &site) || site >= reading->site_count
        || !number_at(row, 1, INT64_MAX, &block->size)
        || !number_at(row, 2, FIELDS_TIME_MAX, &block->born_ns)
        || !number_at(row, 3, INT64_MAX, &block->samples)
        || !number_at(row, 4, FN_COUNT - 1, &function)
        || !number_at(row, 5, UINT32_MAX, &thread))
        return false;
    if (json_array_size(row) > 6
        && (!real_at(row, 6, &block->weight) || block->weight < 1))
        return false;
    block->site = (uint32_t)site;
    block->function = (uint32_t)function;
    block->thread = (uint32_t)thread;
    return true;
}

/* The file has no addresses of blocks.  They serve only to tell blocks apart, so numbers
   replace them. */
static bool
take_blocks(struct sites_intake *intake, const json_t *line, struct fault *fault)
{
    struct sites_reading *reading = intake->reading;
    const json_t *list = json_object_get(line, "list");

    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!make_room(&reading->blocks, &intake->block_room, reading->block_count,
                       SITES_BLOCKS, sizeof *reading->blocks, "blocks", fault))
            return false;
        struct sampled_block *block = &reading->blocks[reading->block_count];
        if (!take_block(reading, json_array_get(list, i), block))
            return blame(fault, "list", N_("is not a list of blocks"));
        block->address = ++reading->block_count;
    }
    return true;
}

/* ---- moments ---- */

static bool
kept_of(const json_t *row, size_t from, struct profile_kept *kept)
{
    double bytes, objects;
    uint64_t blocks;

    if (!real_at(row, from, &bytes) || !real_at(row, from + 1, &objects)
        || !number_at(row, from + 2, UINT32_MAX, &blocks))
        return false;
    *kept = (struct profile_kept){(float)bytes, (float)objects, (uint32_t)blocks};
    return true;
}

/* A row: [site, allocated..., live..., at the peak...]. */
static bool
take_kept(const json_t *row, const struct profile_checkpoint *checkpoint)
{
    uint64_t site;

    return number_at(row, 0, UINT32_MAX, &site) && site < checkpoint->count
           && kept_of(row, 1, &checkpoint->sites[site].made)
           && kept_of(row, 4, &checkpoint->sites[site].live)
           && kept_of(row, 7, &checkpoint->sites[site].at_peak);
}

/* Begins a moment with `count` sites.  At first they are as at the moment before. */
static struct profile_checkpoint *
begin_checkpoint(struct sites_intake *intake, uint64_t run_ns, uint64_t count,
                 struct fault *fault)
{
    struct profile_checkpoint *checkpoint =
        &intake->checkpoints[intake->checkpoint_count];
    const struct profile_checkpoint *before =
        intake->checkpoint_count > 0 ? checkpoint - 1 : NULL;
    size_t same = before != NULL && before->count < count ? before->count : count;

    if (intake->checkpoint_count == PROFILE_CHECKPOINTS_MAX
        || count > KEPT_MAX - intake->taken->kept) {
        blame(fault, "sites_moment", N_("exceeds the number allowed"));
        return NULL;
    }
    if (count > intake->reading->site_count
        || (before != NULL && run_ns < (uint64_t)before->run_ns)) {
        blame(fault, "sites_moment", N_("does not belong to any sites"));
        return NULL;
    }
    *checkpoint = (struct profile_checkpoint){.run_ns = (int64_t)run_ns, .count = count};
    checkpoint->sites = calloc(count + 1, sizeof *checkpoint->sites);
    if (checkpoint->sites == NULL) {
        no_memory(fault);
        return NULL;
    }
    if (before != NULL)
        memcpy(checkpoint->sites, before->sites, same * sizeof *checkpoint->sites);
    intake->checkpoint_count++;
    intake->taken->kept += count;
    return checkpoint;
}

/* Takes more sites for the current moment, or begins another one. */
static bool
take_sites_checkpoint(struct sites_intake *intake, const json_t *line,
                      struct fault *fault)
{
    const json_t *list = json_object_get(line, "list");
    struct profile_checkpoint *checkpoint =
        intake->checkpoint_count > 0 ? &intake->checkpoints[intake->checkpoint_count - 1]
                                     : NULL;
    uint64_t run_ns = 0, count = 0;

    fields_take_number(line, "t_ns", FIELDS_TIME_MAX, &run_ns, fault);
    fields_take_number(line, "sites", SITES_RECORDS, &count, fault);
    if (fault->name != NULL)
        return false;
    if (checkpoint == NULL || checkpoint->run_ns != (int64_t)run_ns)
        checkpoint = begin_checkpoint(intake, run_ns, count, fault);
    for (size_t i = 0; checkpoint != NULL && i < json_array_size(list); i++)
        if (!take_kept(json_array_get(list, i), checkpoint))
            return blame(fault, "list", N_("is not a list of figures"));
    return checkpoint != NULL;
}

/* ---- all lines ---- */

static const struct {
    const char *type;
    bool (*take)(struct sites_intake *intake, const json_t *line, struct fault *fault);
} types[] = {
    {"sites", take_head},
    {"module", take_module},
    {"place", take_place},
    {"stack", take_stack},
    {"site", take_site},
    {"blocks", take_blocks},
    {"sites_moment", take_sites_checkpoint},
};

bool
sites_intake_knows(const char *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].type) == 0)
            return true;
    return false;
}

bool
sites_intake_take(struct sites_intake *intake, const char *type, const json_t *line,
                  struct fault *fault)
{
    size_t i = 0;

    while (strcmp(type, types[i].type) != 0)
        i++;
    if (!intake->begun && i != 0)
        return blame(fault, types[i].type, N_("does not belong to any sites"));
    return types[i].take(intake, line, fault);
}

/* Names an address as the file does. */
static const struct symbol *
name_address(void *context, uint64_t address)
{
    struct sites_intake *intake = context;
    const struct name *name;

    HASH_FIND(hh, intake->names, &address, sizeof address, name);
    if (name != NULL)
        return &name->symbol;
    intake->nowhere = (struct symbol){.state = SYMBOL_NO_MODULE, .offset = address};
    return &intake->nowhere;
}

/* Restores the rates, moments and mark of earlier readings. */
static bool
restore_past(struct sites_intake *intake)
{
    struct profile *profile = intake->profile;
    const size_t count = intake->reading->site_count;

    for (size_t i = 0; intake->rates_known && i < count; i++)
        profile_restore_rates(profile, i, intake->rates[i].bytes,
                              intake->rates[i].objects);
    if (intake->checkpoint_count > 0
        && !profile_restore_checkpoints(profile, intake->checkpoints,
                                        intake->checkpoint_count))
        return false;
    intake->checkpoint_count = 0;
    return !intake->marked
           || profile_restore_mark(profile, (int64_t)intake->mark_ns, intake->made,
                                   intake->live, count);
}

struct profile *
sites_intake_finish(struct sites_intake *intake)
{
    const struct profile_namer namer = {intake, name_address};
    struct profile *profile = intake->profile;

    if (!intake->begun || !profile_digest(profile, (int64_t)intake->run_ns, 0))
        return NULL;
    if (!restore_past(intake))
        return NULL;
    profile_resolve(profile, &namer);
    intake->profile = NULL;
    return profile;
}
