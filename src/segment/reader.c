/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The only reader of segments.
 *
 * The mapping is read-only and belongs to a process we do not trust: it may
 * scribble on it at any moment.  So every index is bounded by constants of this
 * version, never by what the segment says, and every value is copied before it
 * is judged.
 */
#include "config.h"

#include "segment/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "segment/figures.h"
#include "segment/mapping.h"
#include "segment/seqlock.h"

/* An update takes a few ns, so a thread found inside one is nearly always out
   again after some tries; one that lost the CPU there stays for milliseconds,
   and waiting for it would be waiting for the scheduler. */
#define SEQLOCK_TRIES 200

#define HOT_WORDS (sizeof(struct shard_hot) / sizeof(uint64_t))

struct reader {
    struct mapping mapping;
    uint64_t odd_sequence[SHARD_COUNT]; /* seen at the last poll, 0: it was even */
};

/* ---- opening ---- */

int
reader_open(const char *path, uid_t owner_real, uid_t owner_effective,
            struct reader **out)
{
    struct reader *reader = calloc(1, sizeof *reader);
    int error;

    if (reader == NULL)
        return -ENOMEM;
    error = mapping_open(path, owner_real, owner_effective, false, &reader->mapping);
    if (error < 0) {
        free(reader);
        return error;
    }
    *out = reader;
    return 0;
}

void
reader_close(struct reader *reader)
{
    if (reader == NULL)
        return;
    mapping_close(&reader->mapping);
    free(reader);
}

/* ---- identity ---- */

/* Copies a string field that need not end where it should. */
static void
copy_text(char *to, const char *from, size_t size)
{
    memcpy(to, from, size - 1);
    to[size - 1] = '\0';
}

static void
visit_identity(void *context, void *out)
{
    struct reader *reader = context;
    const struct segment_header *header = mapping_header(&reader->mapping);
    struct identity *identity = out;
    uint32_t args_size = mapping_load32(&header->args_size);

    identity->state = mapping_load32(&header->state);
    identity->origin = header->origin;
    identity->accounting = header->accounting;
    identity->reason = header->reason;
    identity->flags = header->flags;
    identity->pid = (pid_t)header->pid;
    identity->parent = (pid_t)header->parent;
    identity->keeper = (pid_t)header->keeper;
    identity->generation = header->generation;
    identity->created_ns = header->created_ns;
    identity->created_boottime_ns = header->created_boottime_ns;
    copy_text(identity->allocator, header->allocator, sizeof header->allocator);
    copy_text(identity->program, header->program, sizeof header->program);
    copy_text(identity->options, header->options, sizeof header->options);
    identity->args_size = args_size < SEGMENT_ARGS_LEN ? args_size : SEGMENT_ARGS_LEN;
    identity->args_cut = header->args_cut != 0;
    memcpy(identity->args, header->args, SEGMENT_ARGS_LEN);
    identity->args[identity->args_size] = '\0';
}

/* What callers act upon, by switch or by kill, must be what it can be. */
static bool
identity_makes_sense(const struct identity *identity)
{
    return identity->state <= SEGMENT_EXITED && identity->origin <= ORIGIN_RAW_CLONE
           && identity->accounting <= ACCOUNTING_USABLE && identity->pid > 0
           && identity->parent >= 0 && identity->keeper >= 0;
}

int
reader_identity(struct reader *reader, struct identity *identity)
{
    int error;

    memset(identity, 0, sizeof *identity);
    error = mapping_visit(visit_identity, reader, identity);
    return error == 0 && !identity_makes_sense(identity) ? -EPROTO : error;
}

static void
visit_state(void *context, void *out)
{
    struct reader *reader = context;
    *(enum segment_state *)out = mapping_load32(&mapping_header(&reader->mapping)->state);
}

int
reader_state(struct reader *reader, enum segment_state *state)
{
    int error = mapping_visit(visit_state, reader, state);

    return error == 0 && *state > SEGMENT_EXITED ? -EPROTO : error;
}

/* ---- counters ---- */

static uint64_t
subtract_floor(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void
accumulate(uint64_t *sum, uint64_t value)
{
    *sum = add_saturating(*sum, value);
}

/* Counters that only free, or give back, memory. */
static const enum segment_function freeing[] = {FN_FREE};
static const enum segment_function allocating[] = {
    FN_MALLOC,        FN_REALLOC,  FN_CALLOC, FN_POSIX_MEMALIGN,
    FN_ALIGNED_ALLOC, FN_MEMALIGN, FN_VALLOC, FN_PVALLOC,
};
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* What has gone, of one shard.  Read for all shards before what has come
   (sum_allocated), so that a block made by one thread and freed by another is
   never seen freed but not made. */
struct gone {
    uint64_t bytes;
    uint64_t blocks;
};

static void
sum_freed(const struct shard_hot *hot, struct snapshot *snapshot, struct gone *gone)
{
    for (size_t i = 0; i < LENGTH(freeing); i++) {
        accumulate(&snapshot->calls[freeing[i]], hot->calls[freeing[i]]);
        accumulate(&snapshot->bytes[freeing[i]], hot->bytes[freeing[i]]);
    }
    accumulate(&snapshot->free_null, hot->free_null);
    accumulate(&snapshot->realloc_freed, hot->realloc_freed);
    accumulate(&snapshot->realloc_dec, hot->realloc_dec);
    accumulate(&gone->bytes, hot->bytes[FN_FREE]);
    accumulate(&gone->bytes, hot->realloc_shrunk);
    accumulate(&gone->blocks, subtract_floor(hot->calls[FN_FREE], hot->free_null));
    accumulate(&gone->blocks, hot->realloc_freed);
}

static void
sum_allocated(const struct shard_hot *hot, struct snapshot *snapshot, uint64_t *blocks)
{
    uint64_t made = hot->realloc_fresh;

    for (size_t i = 0; i < LENGTH(allocating); i++) {
        enum segment_function fn = allocating[i];
        accumulate(&snapshot->calls[fn], hot->calls[fn]);
        accumulate(&snapshot->bytes[fn], hot->bytes[fn]);
        accumulate(&snapshot->total_bytes, hot->bytes[fn]);
        if (fn != FN_REALLOC)
            accumulate(&made, hot->calls[fn]);
    }
    accumulate(blocks, subtract_floor(made, hot->failed_new));
    accumulate(&snapshot->realloc_inplace, hot->realloc_inplace);
    accumulate(&snapshot->unmatched, hot->unmatched);
    snapshot->usable_bytes += hot->usable; /* modulo 2^64 on purpose */
    raise_to(&snapshot->stack_peak, hot->stack_peak);
}

static void
sum_cold(const struct shard *shard, struct snapshot *snapshot)
{
    for (unsigned i = 0; i < FN_COUNT; i++) {
        accumulate(&snapshot->failed[i], word_load(&shard->failed[i]));
        accumulate(&snapshot->failed_bytes[i], word_load(&shard->failed_bytes[i]));
    }
    for (unsigned i = 0; i < MAPPING_COUNT; i++) {
        accumulate(&snapshot->mapping_calls[i], word_load(&shard->mapping_calls[i]));
        accumulate(&snapshot->mapping_bytes[i], word_load(&shard->mapping_bytes[i]));
        accumulate(&snapshot->mapping_failed[i], word_load(&shard->mapping_failed[i]));
    }
    accumulate(&snapshot->mremap_inplace, word_load(&shard->mremap_inplace));
    accumulate(&snapshot->mremap_dec, word_load(&shard->mremap_dec));
}

/* Copies a hot block; remembers whether it was found inside an update. */
static void
copy_hot(struct reader *reader, unsigned index, struct shard_hot *hot)
{
    const struct shard *shard = mapping_shard(&reader->mapping, index);

    seqlock_read((const uint64_t *)&shard->hot, (uint64_t *)hot, HOT_WORDS,
                 SEQLOCK_TRIES);
}

/* A thread killed inside an update leaves its sequence odd for good: torn is
   odd and the same at two polls. */
static void
note_torn(struct reader *reader, unsigned index, uint64_t sequence,
          struct snapshot *snapshot)
{
    if ((sequence & 1) && reader->odd_sequence[index] == sequence)
        snapshot->torn++;
    reader->odd_sequence[index] = sequence & 1 ? sequence : 0;
}

static void
read_process(const struct reader *reader, struct snapshot *snapshot)
{
    const struct segment_process *process = mapping_process(&reader->mapping);

    snapshot->threads = mapping_load32(&process->threads);
    snapshot->threads_started = word_load(&process->threads_started);
    snapshot->threads_merged = word_load(&process->threads_merged);
    raise_to(&snapshot->stack_peak, word_load(&process->stack_peak));
    snapshot->peak_bytes = word_load(&process->peak);
}

static void
finish_sums(const struct reader *reader, struct snapshot *snapshot,
            const struct gone *gone, uint64_t blocks)
{
    const struct segment_process *process = mapping_process(&reader->mapping);
    uint64_t bytes = add_saturating(word_load(&process->baseline_bytes),
                                    snapshot->total_bytes);

    snapshot->live_bytes = subtract_floor(bytes, gone->bytes);
    accumulate(&blocks, word_load(&process->baseline_blocks));
    snapshot->live_blocks = subtract_floor(blocks, gone->blocks);
    snapshot->usable_bytes += word_load(&process->baseline_usable);
    if (snapshot->usable_bytes > INT64_MAX)
        snapshot->usable_bytes = 0;
    snapshot->mapped_bytes = word_load(&process->mapped);
    if (snapshot->mapped_bytes > snapshot->usable_bytes)
        snapshot->mapped_bytes =
            snapshot->mapped_bytes > INT64_MAX ? 0 : snapshot->usable_bytes;
    raise_to(&snapshot->peak_bytes, snapshot->live_bytes);
}

/* Depth at a thread's last call; 0 if that was on another stack. */
static uint64_t
depth_now(const struct shard *shard, const struct shard_hot *hot)
{
    uint64_t depth = word_load(&shard->stack_base) - hot->stack_pointer;

    return depth <= word_load(&shard->stack_limit) ? depth : 0;
}

/* All of a shard but what has gone; hot is its copy. */
static void
sum_made(struct reader *reader, unsigned index, const struct shard_hot *hot,
         struct snapshot *snapshot, uint64_t *blocks)
{
    const struct shard *shard = mapping_shard(&reader->mapping, index);

    sum_allocated(hot, snapshot, blocks);
    sum_cold(shard, snapshot);
    note_torn(reader, index, hot->sequence, snapshot);
    if (mapping_shard_state(&reader->mapping, index) == SHARD_OWNED)
        raise_to(&snapshot->stack_now, depth_now(shard, hot));
}

static void
visit_snapshot(void *context, void *out)
{
    struct reader *reader = context;
    struct snapshot *snapshot = out;
    struct gone gone = {0, 0};
    struct shard_hot hot;
    unsigned used = mapping_shards_used(&reader->mapping);
    bool single = used == 2; /* one thread: one copy of its shard serves both */
    uint64_t blocks = 0;

    for (unsigned i = 0; i < used; i++)
        if (mapping_shard_counts(&reader->mapping, i) && !(single && i == 1)) {
            copy_hot(reader, i, &hot);
            sum_freed(&hot, snapshot, &gone);
        }
    if (single && mapping_shard_counts(&reader->mapping, 1)) {
        copy_hot(reader, 1, &hot);
        sum_freed(&hot, snapshot, &gone);
        sum_made(reader, 1, &hot, snapshot, &blocks);
    }
    /* Once more: what a new thread made may be among what was freed. */
    used = mapping_shards_used(&reader->mapping);
    for (unsigned i = 0; i < used; i++)
        if (mapping_shard_counts(&reader->mapping, i) && !(single && i == 1)) {
            copy_hot(reader, i, &hot);
            sum_made(reader, i, &hot, snapshot, &blocks);
        }
    read_process(reader, snapshot);
    finish_sums(reader, snapshot, &gone, blocks);
}

int
reader_snapshot(struct reader *reader, struct snapshot *snapshot)
{
    memset(snapshot, 0, sizeof *snapshot);
    return mapping_visit(visit_snapshot, reader, snapshot);
}

/* ---- threads ---- */

struct thread_list {
    struct thread_counters *out;
    size_t capacity, count;
};

static void
count_thread(const struct shard *shard, const struct shard_hot *hot,
             struct thread_counters *thread)
{
    *thread = (struct thread_counters){
        .tid = (pid_t)mapping_load32(&shard->thread),
        .owners = mapping_load32(&shard->owners),
        .freed = add_saturating(hot->bytes[FN_FREE], hot->realloc_shrunk),
        .stack_now = depth_now(shard, hot),
        .stack_peak = hot->stack_peak,
        .stack_limit = word_load(&shard->stack_limit),
    };
    for (unsigned i = 0; i < FN_COUNT; i++)
        accumulate(&thread->calls, hot->calls[i]);
    for (size_t i = 0; i < LENGTH(allocating); i++)
        accumulate(&thread->allocated, hot->bytes[allocating[i]]);
}

static void
visit_threads(void *context, void *out)
{
    struct reader *reader = context;
    struct thread_list *list = out;
    unsigned used = mapping_shards_used(&reader->mapping);
    struct shard_hot hot;

    list->count = 0;
    /* Shard 0 belongs to nobody. */
    for (unsigned i = 1; i < used; i++) {
        if (mapping_shard_state(&reader->mapping, i) != SHARD_OWNED)
            continue;
        if (list->count < list->capacity) {
            copy_hot(reader, i, &hot);
            count_thread(mapping_shard(&reader->mapping, i), &hot,
                         &list->out[list->count]);
        }
        list->count++;
    }
}

int
reader_threads(struct reader *reader, struct thread_counters *out, size_t capacity,
               size_t *count)
{
    struct thread_list list = {out, capacity, 0};
    int error = mapping_visit(visit_threads, reader, &list);

    *count = error == 0 ? list.count : 0;
    return error;
}

/* ---- sizes ---- */

static void
visit_histogram(void *context, void *out)
{
    struct reader *reader = context;
    const struct segment_process *process = mapping_process(&reader->mapping);
    struct histogram *histogram = out;
    uint64_t freed[HISTOGRAM_COARSE] = {0};
    unsigned used = mapping_shards_used(&reader->mapping);

    for (unsigned i = 0; i < used; i++)
        if (mapping_shard_counts(&reader->mapping, i))
            for (unsigned b = 0; b < HISTOGRAM_COARSE; b++)
                accumulate(&freed[b], word_load(&mapping_shard(&reader->mapping, i)->freed[b]));
    used = mapping_shards_used(&reader->mapping);
    for (unsigned i = 0; i < used; i++)
        if (mapping_shard_counts(&reader->mapping, i))
            for (unsigned c = 0; c < HISTOGRAM_CELLS; c++)
                accumulate(&histogram->allocated[c],
                           word_load(&mapping_shard(&reader->mapping, i)->allocated[c]));
    for (unsigned c = 0; c < HISTOGRAM_CELLS; c++)
        accumulate(&histogram->live[histogram_cell_coarse(c)], histogram->allocated[c]);
    for (unsigned b = 0; b < HISTOGRAM_COARSE; b++) {
        accumulate(&histogram->live[b], word_load(&process->baseline_sizes[b]));
        histogram->live[b] = subtract_floor(histogram->live[b], freed[b]);
    }
}

int
reader_histogram(struct reader *reader, struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    return mapping_visit(visit_histogram, reader, histogram);
}

/* ---- flight recorder ---- */

/* Copies a slot that its writer may be replacing; false if it is empty or was
   caught in between.  The writer clears period first and sets it last. */
static bool
copy_slot(const struct recorder_slot *slot, struct recorder_slot *copy)
{
    copy->period = __atomic_load_n(&slot->period, __ATOMIC_ACQUIRE);
    copy->calls = word_load(&slot->calls);
    copy->heap_last = word_load(&slot->heap_last);
    copy->heap_max = word_load(&slot->heap_max);
    copy->stack_max = word_load(&slot->stack_max);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return copy->period != 0 && copy->period == word_load(&slot->period);
}

struct recording {
    struct recorded *slots; /* newest first while it is gathered */
    size_t capacity;
    size_t count;
    uint64_t since;         /* slots that end before this are not wanted */
    uint64_t now;           /* CLOCK_MONOTONIC */
    uint64_t covered_from;  /* finer levels cover everything from here on */
    uint64_t carried_until; /* what ended until then is in the next level too */
};

static void
gather_slot(struct recording *recording, const struct recorder_slot *slot,
            uint64_t slot_ns)
{
    struct recorded *added = &recording->slots[recording->count];

    added->begin_ns = (slot->period - 1) * slot_ns;
    added->end_ns = added->begin_ns + slot_ns;
    added->calls = slot->calls;
    added->heap_last = slot->heap_last;
    added->heap_max = slot->heap_max;
    added->stack_max = slot->stack_max;
    recording->count++;
}

/* A coarse slot that reaches into what finer levels cover is cut there, and
   its calls lose those of them that the finer slots hold. */
static void
trim_slot(struct recording *recording, size_t finer)
{
    struct recorded *slot = &recording->slots[recording->count - 1];

    for (size_t i = finer; i-- > 0 && recording->slots[i].begin_ns < slot->end_ns;)
        if (recording->slots[i].end_ns <= recording->carried_until)
            slot->calls = subtract_floor(slot->calls, recording->slots[i].calls);
    slot->end_ns = recording->covered_from;
}

/* The newest period of a level, or 0. */
static uint64_t
newest_period(const struct recorder_slot *slots, uint64_t longest)
{
    uint64_t newest = 0;

    for (unsigned i = 0; i < RECORDER_SLOTS; i++) {
        uint64_t period = word_load(&slots[i].period);
        if (period > newest && period <= longest && (period - 1) % RECORDER_SLOTS == i)
            newest = period;
    }
    return newest;
}

static void
gather_level(struct reader *reader, unsigned level, uint64_t slot_ns,
             struct recording *recording)
{
    const struct recorder_slot *slots = mapping_level(&reader->mapping, level);
    uint64_t newest = newest_period(slots, (UINT64_C(1) << 60) / slot_ns);
    uint64_t oldest = newest > RECORDER_SLOTS ? newest - RECORDER_SLOTS + 1 : 1;
    size_t finer = recording->count;
    struct recorder_slot slot;

    for (uint64_t period = newest; period >= oldest && period > 0; period--) {
        if (period * slot_ns <= recording->since
            || recording->count == recording->capacity)
            break;
        if (!copy_slot(&slots[(period - 1) % RECORDER_SLOTS], &slot)
            || slot.period != period
            || (period - 1) * slot_ns >= recording->covered_from)
            continue;
        gather_slot(recording, &slot, slot_ns);
        if (period * slot_ns > recording->covered_from)
            trim_slot(recording, finer);
    }
    if (newest > 0 && (oldest - 1) * slot_ns < recording->covered_from)
        recording->covered_from = (oldest - 1) * slot_ns;
    if (newest > 0)
        recording->carried_until = (newest - 1) * slot_ns;
}

/* The overview, unless its slots are merged while we look. */
static void
gather_overview(struct reader *reader, struct recording *recording)
{
    const struct segment_process *process = mapping_process(&reader->mapping);
    const struct recording before = *recording;

    for (int tries = 0; tries < 3; tries++) {
        uint32_t sequence = mapping_load32(&process->overview_sequence);
        uint64_t slot_ns = word_load(&process->overview_ns);

        if (slot_ns < OVERVIEW_NS_MIN || slot_ns > OVERVIEW_NS_MAX)
            return;
        gather_level(reader, RECORDER_OVERVIEW, slot_ns, recording);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(sequence & 1) && mapping_load32(&process->overview_sequence) == sequence)
            return;
        *recording = before;
    }
}

static void
visit_recorded(void *context, void *out)
{
    for (unsigned level = 0; level < RECORDER_OVERVIEW; level++)
        gather_level(context, level, RECORDER_SLOT_NS << level, out);
    gather_overview(context, out);
}

/* The open slot, once its time is over, as if it were closed. */
static void
gather_open_slot(const struct reader *reader, struct recording *recording)
{
    const struct segment_process *process = mapping_process(&reader->mapping);
    uint64_t end = word_load(&process->recorder_end);
    uint64_t start = word_load(&mapping_header(&reader->mapping)->created_ns);
    int64_t current = __atomic_load_n(&process->current, __ATOMIC_RELAXED);
    struct recorder_slot slot = {
        .period = (end - start) / RECORDER_SLOT_NS,
        .calls = subtract_floor(word_load(&process->recorder_calls),
                                word_load(&process->recorder_calls_before)),
        .heap_last = current > 0 ? (uint64_t)current : 0,
        .heap_max = word_load(&process->recorder_heap_max),
        .stack_max = word_load(&process->recorder_stack_max),
    };

    if (end <= start || end > recording->now || end - start <= recording->since
        || recording->capacity == 0)
        return;
    raise_to(&slot.heap_max, slot.heap_last);
    gather_slot(recording, &slot, RECORDER_SLOT_NS);
    recording->covered_from = recording->slots[0].begin_ns;
}

static void
visit_recent(void *context, void *out)
{
    struct reader *reader = context;
    gather_open_slot(reader, out);
    gather_level(reader, 0, RECORDER_SLOT_NS, out);
}

static void
turn_oldest_first(struct recording *recording)
{
    for (size_t i = 0, j = recording->count; i + 1 < j; i++) {
        struct recorded slot = recording->slots[i];
        recording->slots[i] = recording->slots[--j];
        recording->slots[j] = slot;
    }
}

int
reader_recorded(struct reader *reader, struct recorded **out, size_t *count)
{
    struct recording recording = {
        .capacity = (size_t)RECORDER_LEVELS * RECORDER_SLOTS,
        .covered_from = UINT64_MAX,
    };
    int error;

    recording.slots = calloc(recording.capacity, sizeof *recording.slots);
    if (recording.slots == NULL)
        return -ENOMEM;
    error = mapping_visit(visit_recorded, reader, &recording);
    if (error < 0) {
        free(recording.slots);
        return error;
    }
    turn_oldest_first(&recording);
    *out = recording.slots;
    *count = recording.count;
    return 0;
}

int
reader_recent(struct reader *reader, uint64_t since_ns, uint64_t now_ns,
              struct recorded *out, size_t capacity, size_t *count)
{
    struct recording recording = {
        .slots = out,
        .capacity = capacity,
        .since = since_ns,
        .now = now_ns,
        .covered_from = UINT64_MAX,
    };
    int error = mapping_visit(visit_recent, reader, &recording);

    turn_oldest_first(&recording);
    *count = error < 0 ? 0 : recording.count;
    return error;
}
