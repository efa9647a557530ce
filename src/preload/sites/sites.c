/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sites and the blocks that are followed.
 *
 *   by_address       address -> number of a record       private (table.h)
 *   mine[number]     the block's record                  private
 *   blocks[number]   the same, for readers               in the segment
 *   site_index       stack and size -> number of a site  private
 *   records[number]  a site's sums                       in the segment
 *
 * What leads to the segment's tables lies in private memory: a forked child has it as it
 * was at the fork, whatever its parent does meanwhile, and so can begin its own tables
 * with exactly the blocks it has inherited.
 *
 * Free block records are on a list, linked through mine[].  The list's head carries a
 * count of changes; without it a record taken and returned in between would look
 * unchanged.
 */
#include "config.h"

#include "preload/sites/sites.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/publish.h"
#include "preload/real.h"
#include "preload/sites/stacks.h"
#include "preload/table.h"
#include "segment/sampling.h"
#include "segment/seqlock.h"

#define INDEX_SLOTS (1u << 16)
#define PROBES      64u

/* The number in by_address of an internal allocation. */
#define NUMBER_OURS UINT64_MAX

/* What a sampled block stands for, in fixed point. */
struct weight {
    uint64_t bytes, objects;
};

static struct mt_table by_address = {.value_size = sizeof(uint64_t)};
static struct block_record *mine;
static uint32_t *site_index; /* numbers of sites, which start at 1 */
static uint64_t free_list;   /* changes << 32 | number + 1; low half 0: empty */
static double decay;         /* -log(1 - rate); 0 for a rate of 1 */

static struct sites_head *head;
static struct site_record *records;
static struct block_record *blocks;
static uint64_t records_present, blocks_present;

/* ---- memory ---- */

static void *
private_pages(size_t size)
{
    void *memory = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                                   (off_t)0);

    return memory != MAP_FAILED ? memory : NULL;
}

static bool
make_private(void)
{
    if (site_index == NULL)
        site_index = private_pages(INDEX_SLOTS * sizeof *site_index);
    if (mine == NULL)
        mine = private_pages(SITES_BLOCKS * sizeof *mine);
    return site_index != NULL && mine != NULL && mt_table_start(&by_address)
           && mt_stacks_start();
}

static void
attach(void)
{
    unsigned char *sites = mt_segment.sites;

    head = (void *)sites;
    records = (void *)(sites + SITES_RECORDS_AT);
    blocks = (void *)(sites + SITES_BLOCKS_AT);
    records_present = blocks_present = mt_present_later() ? 0 : SITES_AHEAD;
}

static bool
record_present(uint32_t number)
{
    return mt_sites_present(&records_present, (unsigned char *)records,
                            (number + UINT64_C(1)) * sizeof *records,
                            SITES_RECORDS * sizeof *records);
}

static bool
block_present(uint32_t number)
{
    return mt_sites_present(&blocks_present, (unsigned char *)blocks,
                            (number + UINT64_C(1)) * sizeof *blocks,
                            SITES_BLOCKS * sizeof *blocks);
}

bool
mt_sites_start(double rate, unsigned depth)
{
    if (mt_segment.sites == NULL || !make_private())
        return false;
    attach();
    if (!record_present(0))
        return false;
    mt_stacks_attach(mt_segment.sites);
    decay = rate < 1 ? sampling_decay(rate) : 0;
    head->sites_used = 1;
    records[0].key = site_key(0, SITE_ANY_SIZE);
    head->depth = depth;
    head->rate = rate;
    return true;
}

void
mt_sites_unwinder(enum site_unwinder unwinder)
{
    if (head != NULL)
        head->unwinder = unwinder;
}

/* ---- sums ---- */

static struct weight
weight_of(uint64_t size)
{
    double objects = sampling_weight(decay, size);

    return (struct weight){
        .bytes = (uint64_t)(objects * (double)size * SITES_BYTES_ONE + 0.5),
        .objects = (uint64_t)(objects * SITES_OBJECTS_ONE + 0.5),
    };
}

static void
sums_add(struct site_sums *sums, const struct weight *weight, uint64_t samples)
{
    word_add_shared(&sums->blocks, 1);
    word_add_shared(&sums->samples, samples);
    word_add_shared(&sums->bytes, weight->bytes);
    word_add_shared(&sums->objects, weight->objects);
}

static void
sums_accumulate(uint64_t *sums, const struct site_sums *other, bool subtract)
{
    const uint64_t *word = &other->blocks;

    for (size_t i = 0; i < sizeof *other / sizeof *word; i++)
        sums[i] += subtract ? -word_load(&word[i]) : word_load(&word[i]);
}

/* Called before a site changes: if a peak was reached since its last change, what is live
   in it now was live at the peak. */
static void
note_peak(struct site_record *record)
{
    uint64_t epoch = word_load(&head->peak_epoch);
    uint64_t live[4] = {0, 0, 0, 0};

    if (word_load(&record->peak_epoch) == epoch)
        return;
    sums_accumulate(live, &record->inherited, false);
    sums_accumulate(live, &record->made, false);
    sums_accumulate(live, &record->forgotten, true);
    for (unsigned i = 0; i < SITE_LIFETIMES; i++)
        sums_accumulate(live, &record->freed[i], true);
    word_store(&record->at_peak.blocks, live[0]);
    word_store(&record->at_peak.samples, live[1]);
    word_store(&record->at_peak.bytes, live[2]);
    word_store(&record->at_peak.objects, live[3]);
    word_store(&record->peak_epoch, epoch);
}

static void
live_grew(uint64_t bytes, uint64_t now)
{
    uint64_t live = __atomic_add_fetch(&head->live_bytes, bytes, __ATOMIC_RELAXED);
    uint64_t peak = word_load(&head->peak_bytes);

    if (live > INT64_MAX)
        return;
    while (live > peak)
        if (__atomic_compare_exchange_n(&head->peak_bytes, &peak, live, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            word_store(&head->peak_ns, now);
            word_add_shared(&head->peak_epoch, 1);
            return;
        }
}

/* ---- sites ---- */

/* Returns the number of a new site, or 0 if there is no space. */
static uint32_t
new_site(uint64_t key)
{
    uint32_t number = __atomic_load_n(&head->sites_used, __ATOMIC_RELAXED);

    do {
        if (number == 0 || number >= SITES_RECORDS || !record_present(number))
            return 0;
    } while (!__atomic_compare_exchange_n(&head->sites_used, &number, number + 1, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    __atomic_store_n(&records[number].key, key, __ATOMIC_RELEASE);
    return number;
}

/* If two threads want a new site at once, one of the two records stays empty. */
static uint32_t
find_site(uint32_t stack, uint64_t size)
{
    uint64_t key = site_key(stack, histogram_coarse(size));
    uint64_t hash = mt_sites_hash(&key, 1);
    uint32_t made = 0;

    for (unsigned probe = 0; probe < PROBES; probe++) {
        uint32_t *slot = &site_index[(hash + probe) % INDEX_SLOTS];
        uint32_t number = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

        if (number == 0) {
            made = made != 0 ? made : new_site(key);
            if (made == 0)
                return 0;
            if (__atomic_compare_exchange_n(slot, &number, made, false, __ATOMIC_RELEASE,
                                            __ATOMIC_ACQUIRE))
                return made;
        }
        if (word_load(&records[number].key) == key)
            return number;
    }
    return 0;
}

/* ---- records of blocks ---- */

static uint32_t
pop_free(void)
{
    uint64_t seen = __atomic_load_n(&free_list, __ATOMIC_ACQUIRE), next;

    do {
        if ((uint32_t)seen == 0)
            return SITES_BLOCKS;
        next = ((seen >> 32) + 1) << 32
               | __atomic_load_n(&mine[(uint32_t)seen - 1].reserved, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&free_list, &seen, next, false,
                                          __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return (uint32_t)seen - 1;
}

static void
push_free(uint32_t number)
{
    uint64_t seen = __atomic_load_n(&free_list, __ATOMIC_RELAXED), next;

    do {
        __atomic_store_n(&mine[number].reserved, (uint32_t)seen, __ATOMIC_RELAXED);
        next = ((seen >> 32) + 1) << 32 | (number + 1);
    } while (!__atomic_compare_exchange_n(&free_list, &seen, next, false,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* Returns the number of a free record, or SITES_BLOCKS if there is none. */
static uint32_t
take_record(void)
{
    uint32_t number = pop_free();

    if (number != SITES_BLOCKS)
        return number;
    number = __atomic_load_n(&head->blocks_used, __ATOMIC_RELAXED);
    do {
        if (number >= SITES_BLOCKS || !block_present(number))
            return SITES_BLOCKS;
    } while (!__atomic_compare_exchange_n(&head->blocks_used, &number, number + 1, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return number;
}

/* Copies mine[number] to the segment for readers. */
static void
show_block(uint32_t number)
{
    const struct block_record *from = &mine[number];
    struct block_record *to = &blocks[number];

    __atomic_store_n(&to->address, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    word_store(&to->size, from->size);
    word_store(&to->born_ns, from->born_ns);
    word_store(&to->samples, from->samples);
    __atomic_store_n(&to->site, from->site, __ATOMIC_RELAXED);
    __atomic_store_n(&to->thread, from->thread, __ATOMIC_RELAXED);
    __atomic_store_n(&to->function, from->function, __ATOMIC_RELAXED);
    __atomic_store_n(&to->address, from->address, __ATOMIC_RELEASE);
}

/* Enters a block: its record and its address.  Returns false if the table is full. */
static bool
enter(const void *block, const struct mt_followed *followed, uint32_t number)
{
    struct mt_place place = mt_table_claim(&by_address, (uintptr_t)block);

    if (place.key == NULL)
        return false;
    mine[number].size = followed->size;
    mine[number].born_ns = followed->born_ns;
    mine[number].samples = followed->samples;
    mine[number].site = followed->site;
    mine[number].thread = followed->thread;
    mine[number].function = followed->function;
    __atomic_store_n(&mine[number].address, (uintptr_t)block, __ATOMIC_RELEASE);
    *(uint64_t *)place.value = number;
    mt_table_show(place, (uintptr_t)block);
    show_block(number);
    return true;
}

/* Ends a block's record.  Returns false if another thread did: the one that forgets all
   blocks, while a call that began in an earlier awake period is still running. */
static bool
leave(uint32_t number, uint64_t address)
{
    if (!__atomic_compare_exchange_n(&mine[number].address, &address, 0, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&blocks[number].address, 0, __ATOMIC_RELEASE);
    push_free(number);
    return true;
}

static bool
follow(const void *block, const struct mt_followed *followed)
{
    uint32_t number = take_record();

    if (number == SITES_BLOCKS)
        return false;
    if (enter(block, followed, number))
        return true;
    push_free(number);
    return false;
}

/* ---- blocks are made and freed ---- */

bool
mt_sites_made(const void *block, const struct mt_followed *sampled,
              const void *const *frames, size_t depth, bool walked)
{
    struct mt_followed followed = *sampled;
    struct weight weight = weight_of(sampled->size);
    uint32_t stack = mt_stacks_intern(frames, depth, sampled->born_ns);
    struct site_record *record;

    word_add_shared(&head->sampled, 1);
    if (!walked)
        word_add_shared(&head->unknown_stacks, 1);
    followed.site = find_site(stack, sampled->size);
    if (!follow(block, &followed)) {
        word_add_shared(&head->lost_blocks, 1);
        word_add_shared(&head->lost_bytes, weight.bytes);
        return false;
    }
    if (followed.site == 0)
        word_add_shared(&head->lost_sites, 1);
    record = &records[followed.site];
    note_peak(record);
    if (word_load(&record->first_ns) == 0)
        word_store(&record->first_ns, sampled->born_ns);
    word_store(&record->last_ns, sampled->born_ns);
    sums_add(&record->made, &weight, sampled->samples);
    live_grew(weight.bytes, sampled->born_ns);
    return true;
}

bool
mt_sites_take(const void *block, struct mt_followed *taken)
{
    struct mt_place place = mt_table_take(&by_address, (uintptr_t)block);
    const struct block_record *record;
    uint64_t number;

    if (place.key == NULL)
        return false;
    number = *(uint64_t *)place.value;
    mt_table_release(place);
    *taken = (struct mt_followed){.ours = number >= SITES_BLOCKS};
    if (taken->ours)
        return true;
    record = &mine[number];
    taken->size = record->size;
    taken->born_ns = record->born_ns;
    taken->samples = record->samples;
    taken->site = record->site;
    taken->thread = record->thread;
    taken->function = record->function;
    return leave((uint32_t)number, (uintptr_t)block);
}

void
mt_sites_gone(const struct mt_followed *taken, uint64_t now)
{
    struct site_record *record = &records[taken->site];
    struct weight weight = weight_of(taken->size);
    uint64_t age = now > taken->born_ns ? now - taken->born_ns : 0;

    note_peak(record);
    sums_add(&record->freed[site_lifetime(age)], &weight, taken->samples);
    __atomic_sub_fetch(&head->live_bytes, weight.bytes, __ATOMIC_RELAXED);
}

bool
mt_sites_keep(const void *block, const struct mt_followed *taken)
{
    if (follow(block, taken))
        return true;
    mt_sites_gone(taken, taken->born_ns);
    return false;
}

void
mt_sites_missed(void)
{
    if (head != NULL)
        word_add_shared(&head->unknown_freed, 1);
}

bool
mt_sites_mark_ours(const void *block)
{
    struct mt_place place;

    if (by_address.used == 0)
        return false;
    place = mt_table_claim(&by_address, (uintptr_t)block);
    if (place.key == NULL)
        return false;
    *(uint64_t *)place.value = NUMBER_OURS;
    mt_table_show(place, (uintptr_t)block);
    return true;
}

/* ---- awake periods and children ---- */

/* For each followed block: adds its weight to the sums at an offset in its site's
   record. */
static void
move_live(size_t sums_offset)
{
    for (uint32_t number = 0; number < head->blocks_used; number++) {
        const struct block_record *block = &mine[number];
        struct site_record *record = &records[block->site];
        struct weight weight;

        if (__atomic_load_n(&block->address, __ATOMIC_ACQUIRE) == 0)
            continue;
        weight = weight_of(block->size);
        note_peak(record);
        sums_add((void *)((unsigned char *)record + sums_offset), &weight,
                 block->samples);
    }
}

/* This drops the marks of internal allocations too; they are few, and known where their
   sizes are kept as well. */
void
mt_sites_forget(void)
{
    if (head == NULL)
        return;
    move_live(offsetof(struct site_record, forgotten));
    word_store(&head->live_bytes, 0);
    for (uint32_t number = 0; number < head->blocks_used; number++) {
        uint64_t address = __atomic_load_n(&mine[number].address, __ATOMIC_RELAXED);
        if (address != 0)
            leave(number, address);
    }
    mt_table_clear(&by_address);
}

/* Copies the part of the parent's tables that does not change any more. */
static bool
copy_tables(const unsigned char *from)
{
    const struct sites_head *parent = (const void *)from;
    const struct site_record *sites = (const void *)(from + SITES_RECORDS_AT);
    uint32_t sites_used = __atomic_load_n(&parent->sites_used, __ATOMIC_ACQUIRE);
    uint32_t blocks_used = __atomic_load_n(&parent->blocks_used, __ATOMIC_ACQUIRE);

    if (sites_used == 0 || sites_used > SITES_RECORDS || blocks_used > SITES_BLOCKS
        || !record_present(sites_used - 1)
        || (blocks_used > 0 && !block_present(blocks_used - 1))
        || !mt_stacks_copy(mt_segment.sites, from))
        return false;
    for (uint32_t i = 0; i < sites_used; i++)
        records[i].key = __atomic_load_n(&sites[i].key, __ATOMIC_RELAXED);
    head->rate = parent->rate;
    head->depth = parent->depth;
    head->unwinder = parent->unwinder;
    head->has_modules = parent->has_modules;
    head->sites_used = sites_used;
    head->blocks_used = blocks_used;
    return true;
}

/* Stops sampling: blocks marked as sampled are freed like others. */
static void
give_up(void)
{
    mt_table_clear(&by_address);
    head = NULL;
}

bool
mt_sites_inherit(const struct mt_segment *parent)
{
    uint64_t live = 0;

    if (parent->sites == NULL || mt_segment.sites == NULL || head == NULL)
        return false;
    attach();
    if (!copy_tables(parent->sites)) {
        give_up();
        return false;
    }
    for (uint32_t number = 0; number < head->blocks_used; number++)
        if (mine[number].address != 0) {
            live += weight_of(mine[number].size).bytes;
            show_block(number);
        }
    head->peak_epoch = 1; /* 0 in the records: none has changed since */
    move_live(offsetof(struct site_record, inherited));
    for (uint32_t i = 0; i < head->sites_used; i++)
        records[i].peak_epoch = 0;
    head->live_bytes = head->peak_bytes = live;
    head->peak_ns = mt_segment.header->created_ns;
    return true;
}
