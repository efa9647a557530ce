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
 * The tables are made at the first sample: most processes never take one.  Any thread may
 * make them; samples of others are not taken meanwhile, and what they free is only taken
 * out of the private tables.
 *
 * What leads to the segment's tables lies in private memory: a forked child has it as it
 * was at the fork, whatever its parent does meanwhile.  It keeps its parent's tables
 * mapped, and copies them when its own first sample is due: most children never take one.
 *
 * A block's weight in mine[] is changed by compare-and-exchange, to 0 by whoever removes
 * the block: the thread that frees it, or one that thins the samples.
 *
 * Free block records are on a list, linked through mine[].site.  The list's head carries
 * a count of changes; without it a record taken and returned in between would look
 * unchanged.
 */
#include "config.h"

#include "preload/sites/sites.h"

#include <errno.h>

#include "preload/options.h"
#include "preload/real.h"
#include "preload/sites/budget.h"
#include "preload/sites/growing.h"
#include "preload/sites/index.h"
#include "preload/sites/stacks.h"
#include "preload/table.h"
#include "segment/sampling.h"
#include "segment/seqlock.h"

/* The number in by_address of an internal allocation. */
#define NUMBER_OURS UINT64_MAX

#define NO_RECORD UINT32_MAX

/* Blocks may have this part of the memory (sixteenths), or nothing would be left for new
   stacks. */
#define SHARE_BLOCKS 12u
#define SHARE_ALL    16u

/* So many records are thinned in turn; that often, until one is free. */
#define THIN_AT_ONCE 16u
#define THIN_TURNS   32u

/* What a process gets that will have no memory later. */
#define PREPARED_BLOCKS 4096u
#define PREPARED_SITES  512u

enum tables_state {
    TABLES_NONE = 0,
    TABLES_MAKING,
    TABLES_READY,
    TABLES_REFUSED,
};

static uint32_t tables; /* enum tables_state */
static bool is_cut_off; /* see cut_off() */

static struct mt_table by_address = {.value_size = sizeof(uint64_t)};
static struct mt_index site_index;
static struct mt_growing mine = {.entry = sizeof(struct block_record),
                                 .first = 256,
                                 .limit = SITES_BLOCKS,
                                 .share = SHARE_BLOCKS};
static struct mt_growing blocks = {.offset = SITES_BLOCKS_AT,
                                   .entry = sizeof(struct block_record),
                                   .first = 256,
                                   .limit = SITES_BLOCKS,
                                   .share = SHARE_BLOCKS};
static struct mt_growing records = {.offset = SITES_RECORDS_AT,
                                    .entry = sizeof(struct site_record),
                                    .first = 64,
                                    .limit = SITES_RECORDS,
                                    .share = SHARE_ALL};
static struct sites_head *head; /* NULL unless ready */
static uint64_t free_list;      /* changes << 32 | number + 1; low half 0: empty */
static uint32_t blocks_used;    /* as in head */

/* The parent's, in a child that has no tables yet. */
static struct {
    struct sites_head *head;    /* NULL: nothing is inherited */
    struct mt_growing records;
    uint32_t sites_used;
} parent;

static bool
is_ready(void)
{
    return __atomic_load_n(&tables, __ATOMIC_ACQUIRE) == TABLES_READY;
}

/* Around whatever writes to the tables; what it interrupts may have begun as well.
   Whether there are tables is to be asked after it: a signal handler may have forked. */
static bool
begin(void)
{
    bool before = mt_thread.sampling;

    mt_thread.sampling = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return before;
}

static void
end(bool before)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mt_thread.sampling = before;
}

static struct block_record *
mine_at(uint32_t number)
{
    return growing_at(&mine, number);
}

static struct block_record *
shown_at(uint32_t number)
{
    return growing_at(&blocks, number);
}

static struct site_record *
record_at(uint32_t number)
{
    return growing_at(&records, number);
}

/* ---- sums ---- */

/* What a sampled block adds to sums, in fixed point. */
static struct site_sums
sums_of(uint64_t size, double weight, uint64_t samples)
{
    /* A larger square would not matter: such an estimate has no figure that is right. */
    double square = weight < 1e7 ? weight * weight : 1e14;

    return (struct site_sums){
        .blocks = 1,
        .samples = samples,
        .bytes = (uint64_t)(weight * (double)size * SITES_BYTES_ONE + 0.5),
        .objects = (uint64_t)(weight * SITES_OBJECTS_ONE + 0.5),
        .squares = (uint64_t)(square * SITES_SQUARES_ONE + 0.5),
    };
}

#define SUM_WORDS (sizeof(struct site_sums) / sizeof(uint64_t))

static void
sums_add(struct site_sums *sums, const struct site_sums *part)
{
    uint64_t *word = &sums->blocks;
    const uint64_t *add = &part->blocks;

    for (size_t i = 0; i < SUM_WORDS; i++)
        word_add_shared(&word[i], add[i]);
}

static void
sums_subtract(struct site_sums *sums, const struct site_sums *part)
{
    uint64_t *word = &sums->blocks;
    const uint64_t *less = &part->blocks;

    for (size_t i = 0; i < SUM_WORDS; i++)
        word_add_shared(&word[i], -less[i]);
}

/* Called before a site changes: if a peak was reached since its last change, what is live
   in it now was live at the peak. */
static void
note_peak(struct site_record *record)
{
    uint64_t epoch = word_load(&head->peak_epoch);
    uint64_t *at_peak = &record->at_peak.blocks;
    const uint64_t *live = &record->live.blocks;

    if (word_load(&record->peak_epoch) == epoch)
        return;
    for (size_t i = 0; i < SUM_WORDS; i++)
        word_store(&at_peak[i], word_load(&live[i]));
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

static void
live_fell(struct site_record *record, const struct site_sums *gone)
{
    note_peak(record);
    sums_subtract(&record->live, gone);
    word_add_shared(&head->live_bytes, -gone->bytes);
}

/* ---- sites ---- */

/* Returns the number of a new site, or 0 if there is no space. */
static uint32_t
new_site(const void *key)
{
    uint32_t number = __atomic_load_n(&head->sites_used, __ATOMIC_RELAXED);

    do {
        if (number == 0 || !growing_has(&records, number + 1))
            return 0;
    } while (!__atomic_compare_exchange_n(&head->sites_used, &number, number + 1, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    __atomic_store_n(&record_at(number)->key, *(const uint64_t *)key, __ATOMIC_RELEASE);
    return number;
}

static bool
is_site(uint32_t number, const void *key)
{
    return word_load(&record_at(number)->key) == *(const uint64_t *)key;
}

/* Returns the number of the site, 0 if there is no space for it. */
static uint32_t
find_site(uint32_t stack, uint64_t size)
{
    uint64_t key = site_key(stack, histogram_coarse(size));

    return mt_index_find(&site_index,
                         &(struct mt_index_key){.hash = mt_sites_hash(&key, 1),
                                                .is = is_site,
                                                .make = new_site,
                                                .key = &key});
}

/* ---- records of blocks ---- */

static uint32_t
pop_free(void)
{
    uint64_t seen = __atomic_load_n(&free_list, __ATOMIC_ACQUIRE), next;

    do {
        if ((uint32_t)seen == 0)
            return NO_RECORD;
        next = ((seen >> 32) + 1) << 32
               | __atomic_load_n(&mine_at((uint32_t)seen - 1)->site, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&free_list, &seen, next, false,
                                          __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return (uint32_t)seen - 1;
}

static void
push_free(uint32_t number)
{
    uint64_t seen = __atomic_load_n(&free_list, __ATOMIC_RELAXED), next;

    do {
        __atomic_store_n(&mine_at(number)->site, (uint32_t)seen, __ATOMIC_RELAXED);
        next = ((seen >> 32) + 1) << 32 | (number + 1);
    } while (!__atomic_compare_exchange_n(&free_list, &seen, next, false,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* Returns a record that was never used, or NO_RECORD if there is no memory for one. */
static uint32_t
new_record(void)
{
    uint32_t number = __atomic_load_n(&blocks_used, __ATOMIC_RELAXED), shown;

    do {
        if (!growing_has(&mine, number + 1) || !growing_has(&blocks, number + 1))
            return NO_RECORD;
    } while (!__atomic_compare_exchange_n(&blocks_used, &number, number + 1, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    shown = __atomic_load_n(&head->blocks_used, __ATOMIC_RELAXED);
    while (shown <= number
           && !__atomic_compare_exchange_n(&head->blocks_used, &shown, number + 1, false,
                                           __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    return number;
}

/* Copies a record of mine to the segment for readers. */
static void
show_block(uint32_t number)
{
    const struct block_record *from = mine_at(number);
    struct block_record *to = shown_at(number);

    __atomic_store_n(&to->address, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    word_store(&to->size, from->size);
    word_store(&to->born_ns, from->born_ns);
    __atomic_store(&to->weight, &from->weight, __ATOMIC_RELAXED);
    __atomic_store_n(&to->samples, from->samples, __ATOMIC_RELAXED);
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
    struct block_record *record = mine_at(number);

    if (place.key == NULL)
        return false;
    record->size = followed->size;
    record->born_ns = followed->born_ns;
    record->samples = (uint32_t)followed->samples;
    record->site = followed->site;
    record->thread = followed->thread;
    record->function = followed->function;
    __atomic_store(&record->weight, &followed->weight, __ATOMIC_RELAXED);
    __atomic_store_n(&record->address, (uintptr_t)block, __ATOMIC_RELEASE);
    *(uint64_t *)place.value = number;
    mt_table_show(place, (uintptr_t)block);
    show_block(number);
    return true;
}

static bool
clear_address(struct block_record *record, uint64_t address)
{
    return __atomic_compare_exchange_n(&record->address, &address, 0, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Ends a block's record.  Returns false if it was not in the segment, or another thread
   ended it: the one that forgets all blocks, while a call that began in an earlier awake
   period is still running. */
static bool
leave(uint32_t number, uint64_t address)
{
    bool shown;

    if (!clear_address(mine_at(number), address))
        return false;
    shown = is_ready() && clear_address(shown_at(number), address);
    push_free(number);
    return shown;
}

/* ---- thinning ---- */

double
mt_sites_weight(unsigned step, uint64_t size)
{
    double rate = budget_rate(step);

    return sampling_weight(rate < 1 ? sampling_decay(rate) : 0, size);
}

/* Which records are thinned, and to what rate. */
static struct {
    uint32_t next, end;
    unsigned step;
} thinning;

/* A random number in [0, 1). */
static double
chance(void)
{
    static uint64_t count;
    uint64_t word = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED)
                    ^ mt_segment.header->created_boottime_ns << 20;

    return (double)(mt_sites_hash(&word, 1) >> 11) * 0x1p-53;
}

/* Takes a sample out: it is the thread's that set its weight to 0. */
static void
drop(uint32_t number, uint64_t address)
{
    struct mt_place place;

    word_add_shared(&head->thinned, 1);
    word_add_shared(&head->thinned_live, 1);
    place = mt_table_take(&by_address, (uintptr_t)address);
    if (place.key == NULL) /* its block is being freed, which ends the record */
        return;
    if (*(uint64_t *)place.value != number) {
        mt_table_show(place, (uintptr_t)address);
        return;
    }
    mt_table_release(place);
    leave(number, address);
}

static void
thin(uint32_t number)
{
    struct block_record *block = mine_at(number);
    uint64_t address = __atomic_load_n(&block->address, __ATOMIC_ACQUIRE);
    double weight, target, after;
    struct site_record *record;
    struct site_sums gone, left;

    __atomic_load(&block->weight, &weight, __ATOMIC_RELAXED);
    target = mt_sites_weight(thinning.step, block->size);
    if (address == 0 || weight <= 0 || weight >= target)
        return;
    after = chance() * target < weight ? target : 0;
    record = record_at(block->site);
    gone = sums_of(block->size, weight, block->samples);
    left = sums_of(block->size, after, block->samples);
    if (!__atomic_compare_exchange(&block->weight, &weight, &after, false,
                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    live_fell(record, &gone);
    if (after == 0) {
        drop(number, address);
        return;
    }
    __atomic_store(&shown_at(number)->weight, &after, __ATOMIC_RELAXED);
    sums_add(&record->live, &left);
    word_add_shared(&head->live_bytes, left.bytes);
}

/* Halves the rate and begins to thin, unless that is under way.  Returns false if the
   rate is the user's. */
static bool
begin_thinning(void)
{
    unsigned step;

    if (__atomic_load_n(&thinning.next, __ATOMIC_ACQUIRE)
        < __atomic_load_n(&thinning.end, __ATOMIC_ACQUIRE))
        return true;
    step = budget_thin();
    if (step == RATE_GIVEN)
        return false;
    head->rate = budget_rate(step);
    thinning.step = step;
    __atomic_store_n(&thinning.next, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&thinning.end, __atomic_load_n(&blocks_used, __ATOMIC_RELAXED),
                     __ATOMIC_RELEASE);
    return true;
}

static void
thin_some(void)
{
    uint32_t end = __atomic_load_n(&thinning.end, __ATOMIC_ACQUIRE), next;

    if (__atomic_load_n(&thinning.next, __ATOMIC_RELAXED) >= end)
        return;
    next = __atomic_fetch_add(&thinning.next, THIN_AT_ONCE, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < THIN_AT_ONCE && next + i < end; i++)
        thin(next + i);
}

/* ---- following blocks ---- */

/* Returns the number of a free record, or NO_RECORD if there is none. */
static uint32_t
take_record(void)
{
    uint32_t number = pop_free();

    thin_some(); /* as far as it has begun */
    if (number == NO_RECORD)
        number = new_record();
    for (unsigned turn = 0; number == NO_RECORD && turn < THIN_TURNS; turn++) {
        if (!begin_thinning())
            break;
        thin_some();
        number = pop_free();
    }
    return number;
}

static bool
follow(const void *block, const struct mt_followed *followed)
{
    uint32_t number = take_record();

    if (number == NO_RECORD)
        return false;
    if (enter(block, followed, number))
        return true;
    push_free(number);
    return false;
}

static bool
made(const void *block, const struct mt_followed *sampled, const void *const *frames,
     size_t depth, bool walked)
{
    struct mt_followed followed = *sampled;
    struct site_sums sums = sums_of(sampled->size, sampled->weight, sampled->samples);
    uint32_t stack = mt_stacks_intern(frames, depth, sampled->born_ns);
    struct site_record *record;

    word_add_shared(&head->sampled, 1);
    if (!walked)
        word_add_shared(&head->unknown_stacks, 1);
    followed.site = find_site(stack, sampled->size);
    if (!follow(block, &followed)) {
        word_add_shared(&head->lost_blocks, 1);
        word_add_shared(&head->lost_bytes, sums.bytes);
        return false;
    }
    if (followed.site == 0)
        word_add_shared(&head->lost_sites, 1);
    record = record_at(followed.site);
    note_peak(record);
    if (word_load(&record->first_ns) == 0)
        word_store(&record->first_ns, sampled->born_ns);
    word_store(&record->last_ns, sampled->born_ns);
    sums_add(&record->made, &sums);
    sums_add(&record->live, &sums);
    live_grew(sums.bytes, sampled->born_ns);
    return true;
}

bool
mt_sites_made(const void *block, const struct mt_followed *sampled,
              const void *const *frames, size_t depth, bool walked)
{
    bool before = begin();
    bool done = is_ready() && made(block, sampled, frames, depth, walked);

    end(before);
    return done;
}

uint32_t
mt_sites_place(const struct mt_python_place *place)
{
    bool before = begin();
    uint32_t number = is_ready() ? mt_stacks_place(place) : 0;

    end(before);
    return number;
}

bool
mt_sites_take(const void *block, struct mt_followed *taken)
{
    struct mt_place place = mt_table_take(&by_address, (uintptr_t)block);
    struct block_record *record;
    double removed = 0;
    uint64_t number;
    bool before, left;

    if (place.key == NULL)
        return false;
    number = *(uint64_t *)place.value;
    mt_table_release(place);
    *taken = (struct mt_followed){.ours = number == NUMBER_OURS};
    if (taken->ours)
        return true;
    before = begin();
    record = mine_at((uint32_t)number);
    taken->size = record->size;
    taken->born_ns = record->born_ns;
    taken->samples = record->samples;
    taken->site = record->site;
    taken->thread = record->thread;
    taken->function = record->function;
    __atomic_exchange(&record->weight, &removed, &taken->weight, __ATOMIC_RELAXED);
    left = leave((uint32_t)number, (uintptr_t)block);
    end(before);
    return left && taken->weight > 0;
}

void
mt_sites_gone(const struct mt_followed *taken, uint64_t now)
{
    struct site_sums sums = sums_of(taken->size, taken->weight, taken->samples);
    uint64_t age = now > taken->born_ns ? now - taken->born_ns : 0;
    bool before = begin();

    if (is_ready()) {
        live_fell(record_at(taken->site), &sums);
        sums_add(&record_at(taken->site)->freed[site_lifetime(age)], &sums);
    }
    end(before);
}

bool
mt_sites_keep(const void *block, const struct mt_followed *taken)
{
    bool before = begin();
    bool followed = is_ready() && follow(block, taken);

    if (!followed)
        mt_sites_gone(taken, taken->born_ns);
    end(before);
    return followed;
}

void
mt_sites_missed(void)
{
    bool before = begin();

    if (is_ready()) {
        bool thinned = word_load(&head->thinned_live) > 0;
        word_add_shared(thinned ? &head->thinned_live : &head->unknown_freed,
                        thinned ? UINT64_MAX : 1);
    }
    end(before);
}

bool
mt_sites_mark_ours(const void *block)
{
    struct mt_place place = {.key = NULL};

    if (mt_table_start(&by_address))
        place = mt_table_claim(&by_address, (uintptr_t)block);
    if (place.key == NULL)
        return false;
    *(uint64_t *)place.value = NUMBER_OURS;
    mt_table_show(place, (uintptr_t)block);
    return true;
}

/* ---- the tables are made ---- */

static void
fill_head(void)
{
    head->sites_used = 1;
    record_at(0)->key = site_key(0, SITE_ANY_SIZE);
    head->depth = mt_options.sites_depth;
}

/* For each followed block: adds it to what is live in its site, and to the sums at an
   offset in the site's record.  Returns the bytes, in fixed point. */
static uint64_t
add_live(size_t sums_offset)
{
    uint64_t bytes = 0;

    for (uint32_t number = 0; number < blocks_used; number++) {
        const struct block_record *block = mine_at(number);
        struct site_record *record;
        struct site_sums sums;

        if (__atomic_load_n(&block->address, __ATOMIC_ACQUIRE) == 0)
            continue;
        record = record_at(block->site);
        sums = sums_of(block->size, block->weight, block->samples);
        sums_add((void *)((unsigned char *)record + sums_offset), &sums);
        sums_add(&record->live, &sums);
        bytes += sums.bytes;
        show_block(number);
    }
    return bytes;
}

/* Copies the part of the parent's tables that does not change any more, and what was live
   at the fork. */
static bool
copy_parent(void)
{
    uint64_t live;

    if (parent.sites_used == 0 || !growing_has(&records, parent.sites_used)
        || (blocks_used > 0 && !growing_has(&blocks, blocks_used))
        || !mt_stacks_copy())
        return false;
    for (uint32_t i = 0; i < parent.sites_used; i++) {
        const struct site_record *from = growing_at(&parent.records, i);
        record_at(i)->key = __atomic_load_n(&from->key, __ATOMIC_RELAXED);
    }
    head->sites_used = parent.sites_used;
    head->blocks_used = blocks_used;
    live = add_live(offsetof(struct site_record, inherited));
    head->peak_epoch = 1; /* 0 in the records: none has changed since */
    head->live_bytes = head->peak_bytes = live;
    head->peak_ns = mt_segment.header->created_ns;
    return true;
}

static void
release_parent(void)
{
    if (parent.head == NULL)
        return;
    growing_unmap(&parent.records);
    mt_stacks_release();
    growing_unmap_head(parent.head);
    parent.head = NULL;
}

static bool
make(void)
{
    head = growing_head();
    if (head == NULL || !growing_has(&records, 1) || !mt_table_start(&by_address)
        || !mt_stacks_attach(head))
        return false;
    fill_head();
    return parent.head == NULL || copy_parent();
}

/* Blocks that other threads freed while the tables were made were taken out of the
   private table only. */
static void
remove_freed_meanwhile(void)
{
    for (uint32_t number = 0; number < blocks_used; number++) {
        struct block_record *shown = shown_at(number);
        uint64_t address = __atomic_load_n(&shown->address, __ATOMIC_ACQUIRE);
        struct site_sums sums;

        if (address == 0
            || __atomic_load_n(&mine_at(number)->address, __ATOMIC_ACQUIRE) == address
            || !clear_address(shown, address))
            continue;
        sums = sums_of(shown->size, shown->weight, shown->samples);
        live_fell(record_at(shown->site), &sums);
        sums_add(&record_at(shown->site)->freed[0], &sums);
    }
}

static void
say_state(enum sites_state state)
{
    __atomic_store_n(&mt_segment.header->sites_state, (uint32_t)state, __ATOMIC_RELEASE);
}

bool
mt_sites_ready(void)
{
    uint32_t seen = __atomic_load_n(&tables, __ATOMIC_ACQUIRE);
    bool inherits, made, before;

    if (seen != TABLES_NONE)
        return seen == TABLES_READY;
    if (mt_sandboxed) {
        say_state(SITES_SHUT_IN);
        return false;
    }
    before = begin();
    if (!__atomic_compare_exchange_n(&tables, &seen, TABLES_MAKING, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        end(before);
        return false;
    }
    inherits = parent.head != NULL;
    made = make() && !is_cut_off;
    if (!made)
        head = NULL;
    release_parent();
    __atomic_store_n(&tables, made ? TABLES_READY : TABLES_REFUSED, __ATOMIC_RELEASE);
    if (made && inherits)
        remove_freed_meanwhile();
    if (!is_cut_off)
        say_state(made ? SITES_READY : SITES_NO_SPACE);
    end(before);
    return made;
}

void
mt_sites_show(enum site_unwinder unwinder)
{
    bool before = begin();

    if (!is_ready()) {
        end(before);
        return;
    }
    head->rate = budget_rate(budget_step());
    head->adaptive = budget_step() != RATE_GIVEN;
    head->unwinder = unwinder;
    word_store(&head->rate_changes, budget_changes());
    word_store(&head->memory, growing_memory());
    word_store(&head->memory_limit, growing_memory_limit());
    end(before);
}

void
mt_sites_prepare(void)
{
    if (!mt_sites_ready())
        return;
    growing_has(&mine, PREPARED_BLOCKS);
    growing_has(&blocks, PREPARED_BLOCKS);
    growing_has(&records, PREPARED_SITES);
    mt_stacks_prepare();
}

/* ---- awake periods and children ---- */

/* This drops the marks of internal allocations too; they are few, and known where their
   sizes are kept as well. */
void
mt_sites_forget(void)
{
    bool before = begin();

    for (uint32_t number = 0; number < blocks_used; number++) {
        struct block_record *block = mine_at(number);
        uint64_t address = __atomic_load_n(&block->address, __ATOMIC_ACQUIRE);
        const struct block_record copy = *block;
        double weight, removed = 0;
        struct site_sums sums;

        if (address == 0)
            continue;
        __atomic_exchange(&block->weight, &removed, &weight, __ATOMIC_RELAXED);
        if (!leave(number, address) || weight <= 0)
            continue;
        sums = sums_of(copy.size, weight, copy.samples);
        live_fell(record_at(copy.site), &sums);
        sums_add(&record_at(copy.site)->forgotten, &sums);
    }
    mt_table_clear(&by_address);
    end(before);
}

/* The thread goes on where it was interrupted.  What it writes must not reach the
   parent's figures, nor may it meet unmapped memory; the child does not sample. */
static void
cut_off(void)
{
    growing_make_head_private();
    growing_make_private(&records);
    growing_make_private(&blocks);
    mt_stacks_make_private();
    is_cut_off = true;
    tables = TABLES_REFUSED;
}

bool
mt_sites_cut_off(void)
{
    return is_cut_off;
}

/* A child of a process whose tables were just being made, or could not be, starts
   without. */
void
mt_sites_forked(void)
{
    uint32_t before = tables;

    if (mt_thread.sampling) {
        cut_off();
        return;
    }
    tables = TABLES_NONE;
    thinning.next = thinning.end = 0;
    if (before == TABLES_READY) {
        parent.head = head;
        parent.records = records;
        parent.sites_used = growing_mapped(
            &records, __atomic_load_n(&head->sites_used, __ATOMIC_ACQUIRE));
        growing_forget(&records);
        mt_stacks_forked();
    } else {
        growing_unmap(&records);
        mt_stacks_unmap();
    }
    growing_unmap(&blocks);
    head = NULL;
    growing_forked(mine.present);
}
