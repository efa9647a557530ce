/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the sampled allocations (sites-layout.h): first their numbers, then raw copies.
 * The memory for the copies is allocated between visits of the mapping, because a visit
 * may be left by a jump.  Only the copies are interpreted.
 *
 * The process goes on meanwhile.  The tables are read in the order blocks, sites, stacks,
 * because references between them are written the other way round; and for each site what
 * was freed is read before what was made, so that nothing appears live that is not.
 */
#include "config.h"

#include "segment/sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/figures.h"
#include "segment/reader-private.h"
#include "segment/sampling.h"
#include "segment/seqlock.h"

#define SUM_WORDS (sizeof(struct site_sums) / sizeof(uint64_t))

enum { ROOM_SITES, ROOM_BLOCKS, ROOM_MODULES, ROOM_POOL, ROOM_PLACES };

/* A raw copy of the tables. */
struct raw_sites {
    struct sites_head head;
    uint64_t created_ns;
    size_t sites, blocks, modules, pool, places; /* how many there are */
    size_t site_room, block_room, module_room;   /* how many fit into the arrays */
    struct site_record *site;
    struct block_record *block;
    struct sites_module *module;
    struct sites_reading *reading; /* whose pool is continued */
};

/* Arguments of a visit. */
struct visit {
    const struct mapping *mapping;
    struct raw_sites *raw;
};

/* ---- raw copies ---- */

static const unsigned char *
sites_part(const struct mapping *mapping, uint64_t at)
{
    return mapping->base + mapping->sites_offset + at;
}

static void
copy_words(void *to, const void *from, size_t words)
{
    uint64_t *copy = to;
    const uint64_t *word = from;

    for (size_t i = 0; i < words; i++)
        copy[i] = word_load(&word[i]);
}

static size_t
used(const uint32_t *word, uint32_t limit)
{
    uint32_t count = mapping_load32(word);

    return count < limit ? count : limit;
}

/* Pages of a table that may be absent, though its head says they are there: they may have
   been swapped out. */
#define ABSENT_PAGES_MAX 4096u

/* Reading a page that is not there would allocate it, and a head that lies could let
   memtop fill the file system.  Returns how many of the entries can be read. */
static size_t
entries_there(const struct mapping *mapping, uint64_t at, size_t count, size_t size)
{
    const unsigned char *start = sites_part(mapping, at);
    size_t pages = (count * size + SEGMENT_PAGE - 1) / SEGMENT_PAGE, absent = 0;
    unsigned char present[1024];

    for (size_t page = 0; page < pages; page += sizeof present) {
        size_t some = pages - page < sizeof present ? pages - page : sizeof present;

        if (mincore((void *)(uintptr_t)(start + page * SEGMENT_PAGE), some * SEGMENT_PAGE,
                    present)
            != 0)
            return count; /* the pages are not a file's: a test's */
        for (size_t i = 0; i < some; i++)
            if ((present[i] & 1) == 0 && ++absent > ABSENT_PAGES_MAX)
                return (page + i) * SEGMENT_PAGE / size;
    }
    return count;
}

static size_t
used64(const uint64_t *word, uint32_t limit)
{
    uint64_t count = word_load(word);

    return count < limit ? (size_t)count : limit;
}

static void
visit_head(void *context, void *out)
{
    struct visit *visit = context;
    struct raw_sites *raw = out;
    const struct sites_head *head = (const void *)sites_part(visit->mapping, 0);

    raw->created_ns = word_load(&mapping_header(visit->mapping)->created_ns);
    copy_words(&raw->head, head, sizeof *head / sizeof(uint64_t));
    raw->blocks = entries_there(visit->mapping, SITES_BLOCKS_AT,
                                used(&head->blocks_used, SITES_BLOCKS),
                                sizeof(struct block_record));
    raw->sites = entries_there(visit->mapping, SITES_RECORDS_AT,
                               used(&head->sites_used, SITES_RECORDS),
                               sizeof(struct site_record));
    raw->modules = used(&head->modules_used, SITES_MODULES);
    raw->places = used64(&head->places_used, SITES_PLACES);
    raw->pool = entries_there(visit->mapping, SITES_POOL_AT,
                              used(&head->pool_used, SITES_POOL_WORDS), sizeof(uint64_t));
}

/* Copies a record; one that is rewritten meanwhile is left out. */
static void
copy_block(const struct block_record *record, struct block_record *copy)
{
    uint64_t address = __atomic_load_n(&record->address, __ATOMIC_ACQUIRE);

    copy->address = 0;
    if (address == 0)
        return;
    copy_words(copy, record, sizeof *copy / sizeof(uint64_t));
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (word_load(&record->address) != address
        || word_load(&record->born_ns) != copy->born_ns)
        address = 0;
    copy->address = address;
}

static void
copy_site(const struct site_record *record, struct site_record *copy)
{
    copy->key = __atomic_load_n(&record->key, __ATOMIC_ACQUIRE);
    copy->peak_epoch = word_load(&record->peak_epoch);
    copy_words(&copy->at_peak, &record->at_peak, SUM_WORDS);
    copy_words(&copy->forgotten, &record->forgotten, SUM_WORDS);
    copy_words(&copy->live, &record->live, SUM_WORDS);
    copy_words(copy->freed, record->freed, SUM_WORDS * SITE_LIFETIMES);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    copy_words(&copy->made, &record->made, SUM_WORDS);
    copy_words(&copy->inherited, &record->inherited, SUM_WORDS);
    copy->first_ns = word_load(&record->first_ns);
    copy->last_ns = word_load(&record->last_ns);
}

static size_t
at_most(size_t count, size_t room)
{
    return count < room ? count : room;
}

/* Copies a stack again that was not complete when the pool was copied. */
static void
complete_stack(struct sites_reading *reading, const uint64_t *pool, uint64_t id)
{
    if (id == 0 || id >= reading->pool_count || reading->pool[id] != 0)
        return;
    copy_words(reading->pool + id, pool + id,
               at_most(1 + SITES_DEPTH_MAX, reading->pool_count - id));
}

/* Copies the places that are new, or were not complete before. */
static void
copy_places(struct sites_reading *reading, const struct site_place *places, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (i < reading->place_count && reading->places[i].ready)
            continue;
        if (__atomic_load_n(&places[i].ready, __ATOMIC_ACQUIRE))
            copy_words(&reading->places[i], &places[i],
                       sizeof *places / sizeof(uint64_t));
        else
            reading->places[i].ready = 0;
    }
    if (count > reading->place_count)
        reading->place_count = count;
}

static void
visit_tables(void *context, void *out)
{
    struct visit *visit = context;
    struct raw_sites *raw = out;
    struct sites_reading *reading = raw->reading;
    const struct sites_head *head = (const void *)sites_part(visit->mapping, 0);
    const struct block_record *block =
        (const void *)sites_part(visit->mapping, SITES_BLOCKS_AT);
    const struct site_record *site =
        (const void *)sites_part(visit->mapping, SITES_RECORDS_AT);
    const uint64_t *pool = (const void *)sites_part(visit->mapping, SITES_POOL_AT);
    size_t words;

    raw->blocks = at_most(used(&head->blocks_used, SITES_BLOCKS), raw->block_room);
    for (size_t i = 0; i < raw->blocks; i++)
        copy_block(&block[i], &raw->block[i]);
    raw->sites = at_most(used(&head->sites_used, SITES_RECORDS), raw->site_room);
    for (size_t i = 0; i < raw->sites; i++)
        copy_site(&site[i], &raw->site[i]);
    words = at_most(used(&head->pool_used, SITES_POOL_WORDS), reading->room[ROOM_POOL]);
    if (words > reading->pool_count) {
        copy_words(reading->pool + reading->pool_count, pool + reading->pool_count,
                   words - reading->pool_count);
        reading->pool_count = words;
    }
    for (size_t i = 0; i < raw->sites; i++)
        complete_stack(reading, pool, raw->site[i].key >> 32);
    copy_places(reading, (const void *)sites_part(visit->mapping, SITES_PLACES_AT),
                at_most(used64(&head->places_used, SITES_PLACES),
                        reading->room[ROOM_PLACES]));
    raw->modules = at_most(used(&head->modules_used, SITES_MODULES), raw->module_room);
    copy_words(raw->module, sites_part(visit->mapping, SITES_MODULES_AT),
               raw->modules * sizeof *raw->module / sizeof(uint64_t));
    copy_words(&raw->head, head, sizeof *head / sizeof(uint64_t));
}

/* ---- memory ---- */

/* Adds a reserve for entries that come before they are copied. */
static size_t
with_reserve(size_t count, size_t limit)
{
    return at_most(count + count / 8 + 64, limit);
}

static bool
grow(void **array, size_t *room, size_t count, size_t size)
{
    void *grown;

    if (count <= *room)
        return true;
    grown = realloc(*array, count * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *room = count;
    return true;
}

static bool
raw_make_room(struct raw_sites *raw)
{
    struct sites_reading *reading = raw->reading;

    raw->site_room = with_reserve(raw->sites, SITES_RECORDS);
    raw->block_room = with_reserve(raw->blocks, SITES_BLOCKS);
    raw->module_room = with_reserve(raw->modules, SITES_MODULES);
    raw->site = malloc(raw->site_room * sizeof *raw->site);
    raw->block = malloc(raw->block_room * sizeof *raw->block);
    raw->module = malloc(raw->module_room * sizeof *raw->module);
    return raw->site != NULL && raw->block != NULL && raw->module != NULL
           && grow((void **)&reading->pool, &reading->room[ROOM_POOL],
                   with_reserve(raw->pool, SITES_POOL_WORDS), sizeof *reading->pool)
           && grow((void **)&reading->places, &reading->room[ROOM_PLACES],
                   with_reserve(raw->places, SITES_PLACES), sizeof *reading->places)
           && grow((void **)&reading->sites, &reading->room[ROOM_SITES], raw->site_room,
                   sizeof *reading->sites)
           && grow((void **)&reading->blocks, &reading->room[ROOM_BLOCKS],
                   raw->block_room, sizeof *reading->blocks)
           && grow((void **)&reading->modules, &reading->room[ROOM_MODULES],
                   raw->module_room, sizeof *reading->modules);
}

/* ---- interpreting the copies ---- */

static uint64_t
since(const struct raw_sites *raw, uint64_t monotonic_ns)
{
    return subtract_floor(monotonic_ns, raw->created_ns);
}

static struct site_sums
sums_added(struct site_sums a, const struct site_sums *b)
{
    a.blocks = add_saturating(a.blocks, b->blocks);
    a.samples = add_saturating(a.samples, b->samples);
    a.bytes = add_saturating(a.bytes, b->bytes);
    a.objects = add_saturating(a.objects, b->objects);
    a.squares = add_saturating(a.squares, b->squares);
    return a;
}

static struct site_sums
sums_subtracted(struct site_sums a, const struct site_sums *b)
{
    a.blocks = subtract_floor(a.blocks, b->blocks);
    a.samples = subtract_floor(a.samples, b->samples);
    a.bytes = subtract_floor(a.bytes, b->bytes);
    a.objects = subtract_floor(a.objects, b->objects);
    a.squares = subtract_floor(a.squares, b->squares);
    return a;
}

/* What was live while it was copied may be a little below 0. */
static struct site_sums
not_negative(const struct site_sums *sums)
{
    struct site_sums result = *sums;
    uint64_t *word = &result.blocks;

    for (size_t i = 0; i < SUM_WORDS; i++)
        word[i] = word[i] > INT64_MAX ? 0 : word[i];
    return result;
}

static struct site_figures
figures(const struct site_sums *sums)
{
    return (struct site_figures){
        .bytes = (double)sums->bytes / SITES_BYTES_ONE,
        .objects = (double)sums->objects / SITES_OBJECTS_ONE,
        .squares = (double)sums->squares / SITES_SQUARES_ONE,
        .blocks = sums->blocks,
        .samples = sums->samples,
    };
}

/* Returns the stack's id, or 0 if there is no such stack. */
static uint32_t
stack_checked(const struct sites_reading *reading, uint64_t key)
{
    unsigned depth;

    return sites_stack(reading, (uint32_t)(key >> 32), &depth) != NULL
               ? (uint32_t)(key >> 32)
               : 0;
}

static uint32_t
bucket_checked(uint64_t key)
{
    uint32_t bucket = (uint32_t)key - 1;

    return bucket < HISTOGRAM_COARSE ? bucket : SITE_ANY_SIZE;
}

static void
take_site(const struct raw_sites *raw, const struct site_record *record,
          struct site *site)
{
    struct site_sums live = not_negative(&record->live);
    struct site_sums freed = sums_added(record->inherited, &record->made);

    freed = sums_subtracted(sums_subtracted(freed, &record->forgotten), &live);
    site->stack = stack_checked(raw->reading, record->key);
    site->bucket = bucket_checked(record->key);
    site->first_ns = since(raw, record->first_ns);
    site->last_ns = since(raw, record->last_ns);
    for (unsigned i = 0; i < SITE_LIFETIMES; i++)
        site->freed_after[i] = figures(&record->freed[i]);
    site->made = figures(&record->made);
    site->freed = figures(&freed);
    site->live = figures(&live);
    site->at_peak = record->peak_epoch == raw->head.peak_epoch ? figures(&record->at_peak)
                                                               : site->live;
}

static void
take_blocks(const struct raw_sites *raw, struct sites_reading *reading)
{
    reading->block_count = 0;
    for (size_t i = 0; i < raw->blocks; i++) {
        const struct block_record *record = &raw->block[i];

        if (record->address == 0 || record->site >= raw->sites
            || !(record->weight >= 1 && record->weight < 1e15))
            continue;
        reading->blocks[reading->block_count++] = (struct sampled_block){
            .address = record->address,
            .size = record->size,
            .born_ns = since(raw, record->born_ns),
            .weight = record->weight,
            .samples = record->samples,
            .site = record->site,
            .thread = record->thread,
            .function = record->function < FN_COUNT ? record->function : FN_MALLOC,
        };
    }
}

static void
take_module(const struct raw_sites *raw, const struct sites_module *entry,
            struct site_module *module)
{
    module->start = entry->start;
    module->end = entry->end;
    module->bias = entry->bias;
    module->seen_ns = since(raw, entry->seen_ns);
    module->device = entry->device;
    module->inode = entry->inode;
    module->build_id_size = at_most(entry->build_id_size, SITE_BUILD_ID_LEN);
    memcpy(module->build_id, entry->build_id, SITE_BUILD_ID_LEN);
    memcpy(module->path, entry->path, SITE_PATH_LEN);
    module->path[SITE_PATH_LEN] = '\0';
    module->path_cut = entry->path_cut != 0;
}

static void
take_modules(const struct raw_sites *raw, struct sites_reading *reading)
{
    reading->module_count = 0;
    for (size_t i = 0; i < raw->modules; i++)
        if (raw->module[i].ready != 0 && raw->module[i].start < raw->module[i].end)
            take_module(raw, &raw->module[i], &reading->modules[reading->module_count++]);
}

static void
take_head(const struct raw_sites *raw, struct sites_reading *reading)
{
    const struct sites_head *head = &raw->head;

    reading->rate = head->rate > 0 && head->rate <= 1 ? head->rate : 0;
    reading->adaptive = head->adaptive != 0;
    reading->rate_changes = head->rate_changes;
    reading->thinned = head->thinned;
    reading->memory = head->memory;
    reading->memory_limit = head->memory_limit;
    reading->depth = head->depth <= SITES_DEPTH_MAX ? head->depth : SITES_DEPTH_MAX;
    reading->unwinder = head->unwinder <= UNWIND_LAST ? head->unwinder : UNWIND_NONE;
    reading->has_modules = head->has_modules != 0;
    reading->sampled = head->sampled;
    reading->live_bytes =
        head->live_bytes > INT64_MAX ? 0 : (double)head->live_bytes / SITES_BYTES_ONE;
    reading->peak_bytes = (double)head->peak_bytes / SITES_BYTES_ONE;
    reading->peak_ns = since(raw, head->peak_ns);
    reading->lost = (struct sites_lost){
        .stacks = head->lost_stacks,
        .sites = head->lost_sites,
        .blocks = head->lost_blocks,
        .bytes = (double)head->lost_bytes / SITES_BYTES_ONE,
        .modules = head->lost_modules,
        .unknown = head->unknown_stacks,
    };
}

static void
take_all(const struct raw_sites *raw, struct sites_reading *reading)
{
    take_head(raw, reading);
    for (size_t i = 0; i < raw->sites; i++)
        take_site(raw, &raw->site[i], &reading->sites[i]);
    reading->site_count = raw->sites;
    for (size_t i = 1; i < reading->place_count; i++) {
        reading->places[i].name[SITE_PLACE_NAME - 1] = '\0';
        reading->places[i].file[SITE_PLACE_FILE - 1] = '\0';
    }
    take_blocks(raw, reading);
    take_modules(raw, reading);
}

/* The state, as far as it can be believed. */
static enum sites_state
state_of(const struct mapping *mapping)
{
    uint32_t state =
        __atomic_load_n(&mapping_header(mapping)->sites_state, __ATOMIC_ACQUIRE);

    if (state > SITES_CUT_OFF || (state == SITES_READY && mapping->sites_offset == 0))
        return SITES_OFF;
    return (enum sites_state)state;
}

static void
visit_state(void *context, void *out)
{
    const struct visit *visit = context;

    *(enum sites_state *)out = state_of(visit->mapping);
}

enum sites_state
sites_state(const struct reader *reader)
{
    struct visit visit = {.mapping = &reader->mapping};
    enum sites_state state = SITES_OFF;

    mapping_visit(visit_state, &visit, &state);
    return state;
}

/* The process samples, and none was due so far. */
static void
none_yet(struct sites_reading *reading)
{
    reading->site_count = reading->block_count = reading->module_count = 0;
    reading->adaptive = true;
}

int
sites_read(struct reader *reader, struct sites_reading *reading)
{
    struct raw_sites raw = {.reading = reading};
    struct visit visit = {.mapping = &reader->mapping, .raw = &raw};
    int error;

    switch (sites_state(reader)) {
    case SITES_READY:
        break;
    case SITES_WAITING:
        none_yet(reading);
        return 0;
    default:
        return -ENODATA;
    }
    error = mapping_visit(visit_head, &visit, &raw);
    if (error == 0 && !raw_make_room(&raw))
        error = -ENOMEM;
    if (error == 0)
        error = mapping_visit(visit_tables, &visit, &raw);
    if (error == 0)
        take_all(&raw, reading);
    free(raw.site);
    free(raw.block);
    free(raw.module);
    return error;
}

void
sites_free(struct sites_reading *reading)
{
    free(reading->sites);
    free(reading->blocks);
    free(reading->modules);
    free(reading->pool);
    free(reading->places);
    *reading = (struct sites_reading){.rate = 0};
}

/* ---- looking things up ---- */

double
sites_weight(double rate, uint64_t size)
{
    return sampling_weight(rate < 1 ? sampling_decay(rate) : 0, size);
}

const uint64_t *
sites_stack(const struct sites_reading *reading, uint32_t stack, unsigned *depth)
{
    uint64_t frames;

    *depth = 0;
    if (stack == 0 || stack >= reading->pool_count)
        return NULL;
    frames = reading->pool[stack] & 0xff;
    if (frames == 0 || frames > SITES_DEPTH_MAX || frames >= reading->pool_count - stack)
        return NULL;
    *depth = (unsigned)frames;
    return &reading->pool[stack + 1];
}

const struct site_place *
sites_place(const struct sites_reading *reading, uint64_t word)
{
    uint32_t place = site_place_of(word);

    return place > 0 && place < reading->place_count && reading->places[place].ready
               ? &reading->places[place]
               : NULL;
}

const struct site_module *
sites_module(const struct sites_reading *reading, uint64_t pc, uint64_t when_ns)
{
    const struct site_module *found = NULL;

    for (size_t i = 0; i < reading->module_count; i++) {
        const struct site_module *module = &reading->modules[i];

        if (pc >= module->start && pc < module->end
            && (found == NULL
                || (module->seen_ns <= when_ns && module->seen_ns >= found->seen_ns)))
            found = module;
    }
    return found;
}
