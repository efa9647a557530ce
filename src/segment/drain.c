/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Empties and merges event rings.
 *
 * A round copies the complete events out of every ring into that ring's queue, gives the
 * space back (tail), and merges the queues up to the *horizon*: the time before which no
 * event can come any more.  A thread takes the time of an event while its shard's
 * sequence is odd.  So the horizon is the time the round began, but no later than the
 * last event seen from any thread found inside an update: that thread may have taken a
 * time and not yet published its event.
 */
#include "config.h"

#include "segment/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

#include "base/clock.h"
#include "segment/mapping.h"
#include "segment/seqlock.h"

/* A thread that left by siglongjmp inside an update may stay odd for long; after this
   many rounds without an event it no longer holds the horizon back. */
#define PATIENCE_ROUNDS 2000u

/* No event is later than this. */
#define TIME_MAX_NS (UINT64_C(1) << 62)

#define HANDED_AT_ONCE 4096u

/* Events of one ring that wait for the horizon, ordered by time. */
struct queue {
    struct event *events;
    size_t first, count, room;
    uint64_t tail;            /* events taken out of the ring so far */
    uint64_t last_ticks;      /* of the newest event taken */
    uint64_t odd_sequence;    /* the sequence when it was found odd ... */
    unsigned odd_rounds;      /* ... and for how many rounds since */
    uint64_t lost;            /* events the ring has lost that are marked already */
};

struct drain {
    struct mapping mapping;
    struct queue queues[SHARD_COUNT];
    unsigned used;            /* queues that may hold events */
    uint64_t horizon;
    uint64_t skipped;         /* events lost on this side of the ring */
    uint64_t lost;
    bool short_of_memory;
    bool counts;              /* the process writes events */
    /* The clock of events. */
    bool tsc;
    uint64_t created_ticks, created_ns;
    double ns_per_tick;
    uint64_t last_ns;         /* last time handed over; later ones must not be less */
    bool final;
};

/* ---- clock ---- */

static uint64_t
ticks_now(const struct drain *drain)
{
#if defined __x86_64__
    if (drain->tsc) {
        _mm_lfence();
        return __rdtsc();
    }
#else
    (void)drain;
#endif
    return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

/* Measures the rate of the clock; the longer the process runs, the better. */
static void
measure_clock(struct drain *drain)
{
    uint64_t ticks = ticks_now(drain) - drain->created_ticks;
    uint64_t ns = (uint64_t)clock_ns(CLOCK_MONOTONIC) - drain->created_ns;

    if (!drain->tsc)
        drain->ns_per_tick = 1;
    else if (ticks > 0 && ns < (UINT64_C(1) << 62))
        drain->ns_per_tick = (double)ns / (double)ticks;
}

static uint64_t
ns_of(struct drain *drain, uint64_t ticks)
{
    double ns = 0;

    if (ticks > drain->created_ticks)
        ns = (double)(ticks - drain->created_ticks) * drain->ns_per_tick;
    /* The program writes the ticks, so they can be anything. */
    if (ns > (double)TIME_MAX_NS)
        ns = (double)TIME_MAX_NS;
    if (drain->last_ns < (uint64_t)ns)
        drain->last_ns = (uint64_t)ns;
    return drain->last_ns;
}

/* ---- opening ---- */

static void
visit_clock(void *context, void *out)
{
    struct drain *drain = context;
    const struct segment_header *header = mapping_header(&drain->mapping);

    /* The state is read first: with it the rest is there. */
    *(enum segment_state *)out = mapping_load32(&header->state);
    drain->counts = header->reason == REASON_NONE;
    drain->tsc = (header->flags & SEGMENT_FLAG_TICKS) != 0;
    drain->created_ticks = header->created_ticks;
    drain->created_ns = header->created_ns;
}

int
drain_open(const char *path, uid_t owner_real, uid_t owner_effective, struct drain **out)
{
    struct drain *drain = calloc(1, sizeof *drain);
    enum segment_state state;
    int error;

    if (drain == NULL)
        return -ENOMEM;
    error = mapping_open(path, owner_real, owner_effective, true, &drain->mapping);
    if (error == 0 && drain->mapping.ring_capacity == 0)
        error = -ENODATA;
    if (error == 0)
        error = mapping_visit(visit_clock, drain, &state);
    if (error == 0 && (state == SEGMENT_EMPTY || state == SEGMENT_PREPARED))
        error = -EAGAIN;
    if (error == 0 && (state == SEGMENT_PASSIVE || !drain->counts))
        error = -ENODATA;
    if (error < 0) {
        drain_close(drain);
        return error;
    }
    *out = drain;
    return 0;
}

void
drain_close(struct drain *drain)
{
    if (drain == NULL)
        return;
    for (unsigned i = 0; i < SHARD_COUNT; i++)
        free(drain->queues[i].events);
    mapping_close(&drain->mapping);
    free(drain);
}

static void
visit_image(void *context, void *out)
{
    const struct drain *drain = context;
    const struct segment_header *header = mapping_header(&drain->mapping);
    struct drain_image *image = out;

    image->created_ns = drain->created_ns;
    image->baseline_bytes = mapping_process(&drain->mapping)->baseline_bytes;
    image->parent = (pid_t)header->parent;
    image->args_size = header->args_size;
    image->accounting = header->accounting;
    memcpy(image->allocator, header->allocator, sizeof image->allocator);
    memcpy(image->program, header->program, sizeof image->program);
    memcpy(image->args, header->args, sizeof image->args);
}

void
drain_image(struct drain *drain, struct drain_image *out)
{
    memset(out, 0, sizeof *out);
    out->created_ns = drain->created_ns; /* set even if the file is cut short */
    mapping_visit(visit_image, drain, out);
    out->program[sizeof out->program - 1] = '\0';
    out->allocator[sizeof out->allocator - 1] = '\0';
    if (out->args_size > sizeof out->args)
        out->args_size = sizeof out->args;
    if (out->args_size > 0)
        out->args[out->args_size - 1] = '\0';
}

/* ---- out of the rings ---- */

/* Makes space for more events at the end of a queue; false if there is no memory. */
static bool
queue_reserve(struct queue *queue, size_t more)
{
    struct event *grown;
    size_t room;

    if (queue->first > 0 && queue->first + queue->count + more > queue->room) {
        memmove(queue->events, queue->events + queue->first,
                queue->count * sizeof *queue->events);
        queue->first = 0;
    }
    if (queue->count + more <= queue->room)
        return true;
    room = queue->count + more + queue->room / 2;
    grown = realloc(queue->events, room * sizeof *grown);
    if (grown == NULL)
        return false;
    queue->events = grown;
    queue->room = room;
    return true;
}

/* A thread's events come in order.  In ring 0, which threads share, an event may be
   overtaken between taking its place and taking its time. */
static void
queue_put(struct queue *queue, const struct event *event)
{
    struct event *end = queue->events + queue->first + queue->count;
    size_t back = 0;

    while (back < queue->count && end[-1 - (ptrdiff_t)back].ticks > event->ticks)
        back++;
    memmove(end - back + 1, end - back, back * sizeof *end);
    end[-(ptrdiff_t)back] = *event;
    queue->count++;
    if (queue->last_ticks < event->ticks)
        queue->last_ticks = event->ticks;
}

/* Marks that events are missing after those taken; without memory they are only
   counted. */
static void
mark_lost(struct queue *queue, uint64_t count)
{
    const struct event mark = {
        .ticks = queue->last_ticks, .size = count, .kind = DRAINED_LOST};

    if (count > 0 && queue_reserve(queue, 1))
        queue_put(queue, &mark);
}

static void
skip(struct drain *drain, struct queue *queue, uint64_t count)
{
    drain->skipped += count;
    mark_lost(queue, count);
}

/* Returns how many events of ring 0 are complete from tail on. */
static uint64_t
complete_shared(const struct drain *drain, uint64_t tail, uint64_t head)
{
    const struct event *events = mapping_events(&drain->mapping, 0);
    uint64_t capacity = drain->mapping.ring_capacity;
    uint64_t at = tail;

    while (at < head
           && __atomic_load_n(&events[at & (capacity - 1)].mark, __ATOMIC_ACQUIRE)
                  == (uint16_t)(at / capacity + 1))
        at++;
    return at - tail;
}

static void
take_ring(struct drain *drain, unsigned index, uint64_t head)
{
    const struct event *events = mapping_events(&drain->mapping, index);
    uint64_t capacity = drain->mapping.ring_capacity;
    struct queue *queue = &drain->queues[index];
    uint64_t count = head - queue->tail, skipped = 0;

    if (count > capacity) { /* the head written by its owner is wrong */
        skipped = count - capacity < capacity ? count - capacity : capacity;
        queue->tail = head - capacity;
        count = capacity;
    }
    skip(drain, queue, skipped);
    skipped = 0;
    if (index == 0 && !drain->final)
        count = complete_shared(drain, queue->tail, head);
    if (count == 0)
        return;
    if (!queue_reserve(queue, count)) {
        drain->short_of_memory = true;
        return;
    }
    for (uint64_t at = queue->tail; at < queue->tail + count; at++) {
        struct event event = events[at & (capacity - 1)];
        if (index == 0 && event.mark != (uint16_t)(at / capacity + 1))
            skipped++; /* its writer died */
        else
            queue_put(queue, &event);
    }
    skip(drain, queue, skipped);
    queue->tail += count;
    __atomic_store_n(&drain->mapping.control->ring_tail[index], queue->tail,
                     __ATOMIC_RELEASE);
}

/* Lowers the horizon if the owner of a shard is inside an update. */
static void
respect_update(struct drain *drain, unsigned index, uint64_t sequence)
{
    struct queue *queue = &drain->queues[index];

    if (!(sequence & 1)) {
        queue->odd_rounds = 0;
        return;
    }
    if (queue->odd_sequence != sequence)
        queue->odd_rounds = 0;
    queue->odd_sequence = sequence;
    if (queue->odd_rounds++ < PATIENCE_ROUNDS && queue->last_ticks < drain->horizon)
        drain->horizon = queue->last_ticks;
}

/* Takes note of how many events the ring has lost. */
static void
take_lost(struct drain *drain, unsigned index, uint64_t lost)
{
    struct queue *queue = &drain->queues[index];

    drain->lost += lost;
    if (lost > queue->lost)
        mark_lost(queue, lost - queue->lost);
    queue->lost = lost;
}

static void
visit_rings(void *context, void *out)
{
    struct drain *drain = context;
    const struct mapping *mapping = &drain->mapping;
    uint64_t before = drain->horizon;

    (void)out;
    drain->horizon = drain->final ? UINT64_MAX : ticks_now(drain);
    drain->used = mapping_shards_used(mapping);
    drain->lost = 0;
    for (unsigned i = 0; i < drain->used; i++) {
        uint64_t sequence, head;

        if (!mapping_shard_counts(mapping, i))
            continue;
        /* Read in this order: an event not yet counted in head takes its time after the
           sequence was read, or the sequence is odd. */
        sequence = __atomic_load_n(&mapping_shard(mapping, i)->hot.sequence,
                                   __ATOMIC_ACQUIRE);
        head = __atomic_load_n(&mapping_ring(mapping, i)->head, __ATOMIC_ACQUIRE);
        take_ring(drain, i, head);
        take_lost(drain, i, word_load(&mapping_ring(mapping, i)->lost));
        if (drain->final)
            continue;
        if (i != 0)
            respect_update(drain, i, sequence);
        else if (drain->queues[0].tail != head && before < drain->horizon)
            drain->horizon = before;
    }
}

/* ---- in order ---- */

static const struct event *
queue_head(const struct queue *queue)
{
    return queue->count > 0 ? &queue->events[queue->first] : NULL;
}

/* A binary heap of the queues that hold events, the earliest on top. */
struct heap {
    uint16_t queues[SHARD_COUNT];
    unsigned count;
};

static uint64_t
head_ticks(const struct drain *drain, const struct heap *heap, unsigned place)
{
    return queue_head(&drain->queues[heap->queues[place]])->ticks;
}

static void
sift_down(const struct drain *drain, struct heap *heap, unsigned place)
{
    for (;;) {
        unsigned least = place;
        for (unsigned child = 2 * place + 1; child <= 2 * place + 2; child++)
            if (child < heap->count
                && head_ticks(drain, heap, child) < head_ticks(drain, heap, least))
                least = child;
        if (least == place)
            return;
        uint16_t swapped = heap->queues[place];
        heap->queues[place] = heap->queues[least];
        heap->queues[least] = swapped;
        place = least;
    }
}

static void
build_heap(const struct drain *drain, struct heap *heap)
{
    heap->count = 0;
    for (unsigned i = 0; i < drain->used; i++)
        if (drain->queues[i].count > 0)
            heap->queues[heap->count++] = (uint16_t)i;
    for (unsigned place = heap->count / 2; place-- > 0;)
        sift_down(drain, heap, place);
}

static void
convert(struct drain *drain, const struct event *event, unsigned ring,
        struct drained *out)
{
    out->time_ns = ns_of(drain, event->ticks);
    out->address = event->address;
    out->size = event->size;
    out->depth = event->depth;
    out->ring = (uint16_t)ring;
    out->kind = event->kind;
    out->alignment = event->alignment;
}

/* Takes events from the queue on top, at most room: those before the horizon and before
   any event of the other queues. */
static size_t
take_run(struct drain *drain, struct heap *heap, struct drained *out, size_t room)
{
    unsigned ring = heap->queues[0];
    struct queue *queue = &drain->queues[ring];
    uint64_t until = drain->horizon;
    size_t count = 0;

    for (unsigned child = 1; child <= 2 && child < heap->count; child++)
        if (head_ticks(drain, heap, child) < until)
            until = head_ticks(drain, heap, child);
    do {
        convert(drain, queue_head(queue), ring, &out[count++]);
        queue->first++;
        queue->count--;
    } while (queue->count > 0 && count < room && queue_head(queue)->ticks <= until);
    if (queue->count == 0) {
        queue->first = 0;
        heap->queues[0] = heap->queues[--heap->count];
    }
    if (heap->count > 0)
        sift_down(drain, heap, 0);
    return count;
}

long
drain_round(struct drain *drain, bool final,
            void (*take)(void *context, const struct drained *events, size_t count),
            void *context)
{
    static struct drained batch[HANDED_AT_ONCE];
    struct heap heap;
    size_t filled = 0;
    long handed = 0;
    int error;

    drain->final = final;
    drain->short_of_memory = false;
    measure_clock(drain);
    error = mapping_visit(visit_rings, drain, NULL);
    if (error < 0)
        return error;
    build_heap(drain, &heap);
    while (heap.count > 0 && head_ticks(drain, &heap, 0) <= drain->horizon) {
        filled += take_run(drain, &heap, batch + filled, HANDED_AT_ONCE - filled);
        if (filled == HANDED_AT_ONCE) {
            take(context, batch, filled);
            handed += (long)filled;
            filled = 0;
        }
    }
    if (filled > 0)
        take(context, batch, filled);
    return drain->short_of_memory ? -ENOMEM : handed + (long)filled;
}

uint64_t
drain_lost(const struct drain *drain)
{
    return drain->lost + drain->skipped;
}
