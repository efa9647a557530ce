/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The result is a reading of a process that never was.  Each file gets addresses of its
 * own in it, one after the other, and an address lies there at its offset in the file;
 * generated code lies above them.  Stacks, sites and blocks then are those of all
 * processes with these addresses, and their names are the ones that the profiles had.
 */
#include "config.h"

#include "monitor/merged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Addresses of a file: more than any file has. */
#define FILE_BYTES (UINT64_C(1) << 40)
#define FILES_MAX  ((size_t)1 << 20)

/* Generated code, and what lies beyond FILE_BYTES: a few addresses each. */
#define GENERATED       (UINT64_C(1) << 63)
#define GENERATED_BYTES 16

/* Places in a stack: 64 addresses with 32 functions each. */
#define PLACES_MAX (SITES_DEPTH_MAX * PROFILE_INLINES_MAX)

/* The names of an address in the result. */
struct merged_address {
    uint64_t address;
    struct symbol symbol;
    struct symbol_frame frames[PROFILE_INLINES_MAX];
    UT_hash_handle hh;
};

struct merged {
    struct sites_reading reading; /* what the result will read */
    size_t module_room, pool_room, site_room, block_room;
    struct merged_address *addresses;
    struct intern_table texts;
    struct intern_table generated; /* names of generated code */
    struct intern_table stacks;    /* by their addresses; ids has their ids */
    uint32_t *ids;
    size_t id_room;
    struct intern_table sites;     /* struct site_identity; numbers are indices */
    unsigned count;
};

/* All bytes are compared. */
struct site_identity {
    uint32_t stack, bucket;
};

struct merged *
merged_new(void)
{
    struct merged *merged = calloc(1, sizeof *merged);

    if (merged == NULL)
        return NULL;
    merged->reading.has_modules = true;
    /* Id 0 is the unknown stack. */
    if (ARRAY_GROW(merged->reading.pool, merged->pool_room, 1)) {
        merged->reading.pool_count = 1;
        return merged;
    }
    free(merged);
    return NULL;
}

void
merged_free(struct merged *merged)
{
    struct merged_address *address, *next;

    if (merged == NULL)
        return;
    HASH_ITER(hh, merged->addresses, address, next)
    {
        HASH_DEL(merged->addresses, address);
        free(address);
    }
    sites_free(&merged->reading);
    intern_free(&merged->texts);
    intern_free(&merged->generated);
    intern_free(&merged->stacks);
    intern_free(&merged->sites);
    free(merged->ids);
    free(merged);
}

unsigned
merged_count(const struct merged *merged)
{
    return merged->count;
}

/* ---- addresses ---- */

/* The module of a reading that a place lies in; NULL if it is not known. */
static const struct site_module *
module_at(const struct sites_reading *reading, const struct profile_place *place)
{
    for (size_t i = reading->module_count; i-- > 0;) {
        const struct site_module *module = &reading->modules[i];

        if (place->address >= module->start && place->address < module->end)
            return module;
    }
    return NULL;
}

static bool
is_same_module(const struct site_module *a, const struct site_module *b)
{
    if (a->build_id_size > 0 || b->build_id_size > 0)
        return a->build_id_size == b->build_id_size
               && memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
    return strcmp(a->path, b->path) == 0;
}

/* Finds or adds a file; returns its first address, 0 if there is no room. */
static uint64_t
file_base(struct merged *merged, const struct site_module *from, const char *path)
{
    struct sites_reading *reading = &merged->reading;
    struct site_module module = {.start = 0};

    if (from != NULL) {
        module.build_id_size = from->build_id_size;
        memcpy(module.build_id, from->build_id, sizeof module.build_id);
    }
    strncpy(module.path, path, SITE_PATH_LEN);
    for (size_t i = 0; i < reading->module_count; i++)
        if (is_same_module(&reading->modules[i], &module))
            return reading->modules[i].start;
    if (reading->module_count == FILES_MAX
        || !ARRAY_GROW(reading->modules, merged->module_room, reading->module_count + 1))
        return 0;
    module.start = module.bias = (reading->module_count + 1) * FILE_BYTES;
    module.end = module.start + FILE_BYTES;
    reading->modules[reading->module_count++] = module;
    return module.start;
}

/* The address that stands for that of a place; 0 if memory is short. */
static uint64_t
address_of(struct merged *merged, const struct profile *profile,
           const struct profile_place *place)
{
    const struct sites_reading *reading = profile_digested(profile, NULL);
    const char *name = profile_function(profile, place->function);
    const struct interned *generated;
    char key[INTERN_TEXT_MAX];

    if (place->module != NULL && place->offset < FILE_BYTES) {
        uint64_t base = file_base(merged, module_at(reading, place), place->module);

        return base != 0 ? base + place->offset : 0;
    }
    snprintf(key, sizeof key, "%s\n%s:%u", name, place->file != NULL ? place->file : "",
             place->line);
    generated = intern_bytes(&merged->generated, key, strlen(key));
    return generated != NULL
               ? GENERATED + ((uint64_t)generated->number + 1) * GENERATED_BYTES
               : 0;
}

/* ---- names ---- */

/* Takes the names of count places at one address.  An address without a name in a file is
   left to the result to name. */
static bool
set_names(struct merged *merged, struct merged_address *address,
          const struct profile *profile, const struct profile_place *places, size_t count)
{
    const char *module = intern_text(&merged->texts, places[0].module);
    bool unnamed = places[0].unnamed && module != NULL;

    address->symbol = (struct symbol){.state = unnamed ? SYMBOL_UNNAMED : SYMBOL_KNOWN,
                                      .module = module,
                                      .offset = places[0].offset,
                                      .count = unnamed ? 0 : (unsigned)count,
                                      .frames = address->frames};
    for (size_t i = 0; i < address->symbol.count; i++) {
        const char *name = profile_function(profile, places[i].function);

        address->frames[i] =
            (struct symbol_frame){.function = intern_text(&merged->texts, name),
                                  .file = intern_text(&merged->texts, places[i].file),
                                  .line = places[i].line};
        if (address->frames[i].function == NULL)
            return false;
    }
    return true;
}

/* Finds or adds the address of count places; 0 if memory is short. */
static uint64_t
take_address(struct merged *merged, const struct profile *profile,
             const struct profile_place *places, size_t count)
{
    uint64_t where = address_of(merged, profile, places);
    struct merged_address *address;

    if (where == 0)
        return 0;
    if (count > PROFILE_INLINES_MAX)
        count = PROFILE_INLINES_MAX;
    HASH_FIND(hh, merged->addresses, &where, sizeof where, address);
    if (address == NULL) {
        address = calloc(1, sizeof *address);
        if (address == NULL)
            return 0;
        address->address = where;
        HASH_ADD(hh, merged->addresses, address, sizeof where, address);
        if (address->hh.tbl == NULL) {
            free(address);
            return 0;
        }
    } else if (address->symbol.count > 0 || places[0].unnamed) {
        return where;
    }
    return set_names(merged, address, profile, places, count) ? where : 0;
}

/* ---- stacks ---- */

/* The id, in the result, of a stack with these addresses; 0 if memory is short. */
static uint32_t
add_stack(struct merged *merged, const uint64_t *pcs, size_t depth)
{
    const size_t before = merged->stacks.count;
    struct sites_reading *reading = &merged->reading;
    const struct interned *stack =
        intern_bytes(&merged->stacks, pcs, depth * sizeof *pcs);

    if (stack == NULL)
        return 0;
    if (merged->stacks.count == before)
        return merged->ids[stack->number];
    if (!ARRAY_GROW(merged->ids, merged->id_room, merged->stacks.count)
        || !ARRAY_GROW(reading->pool, merged->pool_room,
                       reading->pool_count + 1 + depth)
        || reading->pool_count > UINT32_MAX - SITES_DEPTH_MAX - 1)
        return 0;
    merged->ids[stack->number] = (uint32_t)reading->pool_count;
    reading->pool[reading->pool_count++] = depth;
    memcpy(reading->pool + reading->pool_count, pcs, depth * sizeof *pcs);
    reading->pool_count += depth;
    return merged->ids[stack->number];
}

/* Translates a stack of a profile.  Returns false if memory is short. */
static bool
take_stack(struct merged *merged, const struct profile *profile, uint32_t from,
           uint32_t *to)
{
    static struct profile_place places[PLACES_MAX];
    size_t count = profile_places(profile, from, places, PLACES_MAX), depth = 0;
    uint64_t pcs[SITES_DEPTH_MAX];

    if (count > PLACES_MAX)
        count = PLACES_MAX;
    for (size_t begin = 0, end; begin < count && depth < SITES_DEPTH_MAX; begin = end) {
        end = begin + 1;
        while (end < count && places[end - 1].inlined)
            end++;
        uint64_t address = take_address(merged, profile, &places[begin], end - begin);
        if (address == 0)
            return false;
        pcs[depth++] = address + 1; /* sites_call() */
    }
    *to = depth > 0 ? add_stack(merged, pcs, depth) : 0;
    return depth == 0 || *to != 0;
}

/* ---- sites ---- */

static void
add_figures(struct site_figures *to, const struct site_figures *from)
{
    to->bytes += from->bytes;
    to->objects += from->objects;
    to->blocks += from->blocks;
    to->samples += from->samples;
}

/* Run times of processes that began at different times; 0 remains 0. */
static uint64_t
run_time(uint64_t time_ns, int64_t begin_ns)
{
    int64_t run_ns;

    if (time_ns == 0)
        return 0;
    if (time_ns > INT64_MAX
        || __builtin_add_overflow((int64_t)time_ns, begin_ns, &run_ns))
        return INT64_MAX;
    return run_ns > 0 ? (uint64_t)run_ns : 1;
}

static void
add_site(struct site *to, const struct site *from, int64_t begin_ns)
{
    uint64_t first_ns = run_time(from->first_ns, begin_ns);
    uint64_t last_ns = run_time(from->last_ns, begin_ns);

    add_figures(&to->made, &from->made);
    add_figures(&to->freed, &from->freed);
    add_figures(&to->live, &from->live);
    add_figures(&to->at_peak, &from->at_peak);
    for (unsigned i = 0; i < SITE_LIFETIMES; i++)
        add_figures(&to->freed_after[i], &from->freed_after[i]);
    if (first_ns > 0 && (to->first_ns == 0 || first_ns < to->first_ns))
        to->first_ns = first_ns;
    if (last_ns > to->last_ns)
        to->last_ns = last_ns;
}

/* Finds or adds the site that stands for one of a profile; false if memory is short. */
static bool
take_site(struct merged *merged, const struct profile *profile, size_t index,
          uint32_t *number)
{
    int64_t begin_ns;
    const struct site *from = &profile_digested(profile, &begin_ns)->sites[index];
    struct sites_reading *reading = &merged->reading;
    struct site_identity identity = {.bucket = from->bucket};
    const struct interned *site;

    if (!take_stack(merged, profile, from->stack, &identity.stack)
        || (site = intern_bytes(&merged->sites, &identity, sizeof identity)) == NULL
        || !ARRAY_GROW(reading->sites, merged->site_room, merged->sites.count))
        return false;
    *number = site->number;
    reading->site_count = merged->sites.count;
    reading->sites[*number].stack = identity.stack;
    reading->sites[*number].bucket = identity.bucket;
    add_site(&reading->sites[*number], from, begin_ns);
    return true;
}

static bool
take_blocks(struct merged *merged, const struct profile *profile,
            const uint32_t *numbers)
{
    int64_t begin_ns;
    const struct sites_reading *from = profile_digested(profile, &begin_ns);
    struct sites_reading *reading = &merged->reading;

    if (!ARRAY_GROW(reading->blocks, merged->block_room,
                    reading->block_count + from->block_count))
        return false;
    for (size_t i = 0; i < from->block_count; i++) {
        struct sampled_block block = from->blocks[i];

        block.site = numbers[block.site];
        block.born_ns = run_time(block.born_ns, begin_ns);
        reading->blocks[reading->block_count++] = block;
    }
    return true;
}

/* ---- the whole ---- */

/* How it was measured is as in the first profile. */
static void
take_head(struct merged *merged, const struct profile *profile)
{
    int64_t begin_ns;
    const struct sites_reading *from = profile_digested(profile, &begin_ns);
    struct sites_reading *to = &merged->reading;

    if (merged->count == 0) {
        to->rate = from->rate;
        to->depth = from->depth;
        to->unwinder = from->unwinder;
        to->peak_ns = run_time(from->peak_ns, begin_ns);
    }
    to->sampled += from->sampled;
    to->live_bytes += from->live_bytes;
    to->peak_bytes += from->peak_bytes;
    to->lost.stacks += from->lost.stacks;
    to->lost.sites += from->lost.sites;
    to->lost.blocks += from->lost.blocks;
    to->lost.bytes += from->lost.bytes;
    to->lost.modules += from->lost.modules;
    to->lost.unknown += from->lost.unknown;
}

bool
merged_add(struct merged *merged, const struct profile *profile)
{
    const size_t count = profile_digested(profile, NULL)->site_count;
    uint32_t *numbers = calloc(count + 1, sizeof *numbers);
    bool good = numbers != NULL;

    for (size_t i = 0; good && i < count; i++)
        good = take_site(merged, profile, i, &numbers[i]);
    good = good && take_blocks(merged, profile, numbers);
    free(numbers);
    if (good)
        take_head(merged, profile);
    merged->count += good;
    return good;
}

static const struct symbol *
name(void *context, uint64_t where)
{
    static const struct symbol nowhere = {.state = SYMBOL_NO_MODULE};
    const struct merged *merged = context;
    const struct merged_address *address;

    HASH_FIND(hh, merged->addresses, &where, sizeof where, address);
    return address != NULL ? &address->symbol : &nowhere;
}

struct profile *
merged_finish(struct merged *merged, int64_t run_ns)
{
    const struct profile_namer namer = {merged, name};
    struct profile *profile = profile_new();

    if (profile == NULL)
        return NULL;
    *profile_reading(profile) = merged->reading;
    merged->reading = (struct sites_reading){.rate = 0};
    if (profile_digest(profile, run_ns, 0)) {
        profile_resolve(profile, &namer);
        return profile;
    }
    profile_free(profile);
    return NULL;
}
