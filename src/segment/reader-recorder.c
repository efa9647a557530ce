/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the flight recorder of a segment and puts the levels together, so that each time
 * appears once, at the finest grain kept.  Like all of the reader it trusts nothing, and
 * skips slots that are just being replaced.
 */
#include "config.h"

#include "segment/reader.h"

#include <errno.h>
#include <stdlib.h>

#include "base/figures.h"
#include "segment/reader-private.h"
#include "segment/seqlock.h"

/* Copies a slot that its writer may be replacing; false if it is empty or changed
   meanwhile.  The writer clears period first and sets it last. */
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
    struct recorded *slots; /* newest first while they are gathered */
    size_t capacity;
    size_t count;
    uint64_t since;         /* slots that end before this are skipped */
    uint64_t now;           /* CLOCK_MONOTONIC */
    uint64_t covered_from;  /* finer levels cover everything from here on */
    uint64_t carried_until; /* calls until then are also in the next level */
};

static void
gather_slot(struct recording *recording, const struct recorder_slot *slot,
            uint64_t slot_ns)
{
    struct recorded *added = &recording->slots[recording->count];

    added->begin_ns = (slot->period - 1) * slot_ns;
    added->end_ns = added->begin_ns + slot_ns;
    added->calls = slot->calls;
    added->heap_last =
        slot->heap_last == RECORDER_ASLEEP ? slot->heap_max : slot->heap_last;
    added->heap_max = slot->heap_max;
    added->stack_max = slot->stack_max;
    added->asleep = false;
    recording->count++;
}

/* Adds a gap: the process slept from begin_ns to the next slot. */
static void
gather_gap(struct recording *recording, uint64_t begin_ns)
{
    uint64_t end_ns;

    if (recording->count == 0 || recording->count == recording->capacity)
        return; /* still asleep: its snapshot says so */
    end_ns = recording->slots[recording->count - 1].begin_ns;
    if (begin_ns < end_ns)
        recording->slots[recording->count++] =
            (struct recorded){.begin_ns = begin_ns, .end_ns = end_ns, .asleep = true};
}

/* A process that is dormant from the start has measured nothing in its first slot. */
static bool
holds_nothing(const struct recorder_slot *slot)
{
    return slot->heap_last == RECORDER_ASLEEP && slot->calls == 0 && slot->heap_max == 0;
}

/* Handles a slot in which the process fell asleep: the gap is newer and comes first. */
static void
gather_sleep(struct recording *recording, struct recorder_slot *slot, uint64_t slot_ns)
{
    uint64_t begin_ns = (slot->period - (holds_nothing(slot) ? 1 : 0)) * slot_ns;

    if (slot->period * slot_ns <= recording->covered_from)
        gather_gap(recording, begin_ns);
}

/* A coarse slot that overlaps what finer levels cover is cut there, and the calls of the
   finer slots are subtracted from its own. */
static void
trim_slot(struct recording *recording, size_t finer)
{
    struct recorded *slot = &recording->slots[recording->count - 1];

    for (size_t i = finer; i-- > 0 && recording->slots[i].begin_ns < slot->end_ns;)
        if (recording->slots[i].end_ns <= recording->carried_until)
            slot->calls = subtract_floor(slot->calls, recording->slots[i].calls);
    slot->end_ns = recording->covered_from;
}

/* Returns the newest period of a level of count slots, or 0. */
static uint64_t
newest_period(const struct recorder_slot *slots, unsigned count, uint64_t longest)
{
    uint64_t newest = 0;

    for (unsigned i = 0; i < count; i++) {
        uint64_t period = word_load(&slots[i].period);
        if (period > newest && period <= longest && (period - 1) % count == i)
            newest = period;
    }
    return newest;
}

/* A level that has no slots: from the one below it to the one above it go only whole
   slots of this one. */
static void
skip_level(struct recording *recording, uint64_t slot_ns)
{
    recording->carried_until -= recording->carried_until % slot_ns;
}

static void
gather_level(struct reader *reader, unsigned level, uint64_t slot_ns,
             struct recording *recording)
{
    const struct recorder_slot *slots = mapping_level(&reader->mapping, level);
    unsigned slots_present = mapping_reach(&reader->mapping, level);
    uint64_t newest = newest_period(slots, slots_present, (UINT64_C(1) << 60) / slot_ns);
    uint64_t oldest = newest > slots_present ? newest - slots_present + 1 : 1;
    size_t finer = recording->count;
    struct recorder_slot slot;

    if (slots_present == 0) {
        skip_level(recording, slot_ns);
        return;
    }
    for (uint64_t period = newest; period >= oldest && period > 0; period--) {
        if (period * slot_ns <= recording->since
            || recording->count == recording->capacity)
            break;
        if (!copy_slot(&slots[(period - 1) % slots_present], &slot)
            || slot.period != period
            || (period - 1) * slot_ns >= recording->covered_from)
            continue;
        if (slot.heap_last == RECORDER_ASLEEP)
            gather_sleep(recording, &slot, slot_ns);
        if (recording->count == recording->capacity || holds_nothing(&slot))
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

/* Gathers the overview, unless its slots are merged while we look. */
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

/* Gathers the open slot as if it were closed, once its time is over. */
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
        .capacity = (size_t)RECORDER_LEVELS * RECORDER_SLOTS * 2, /* with gaps */
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
