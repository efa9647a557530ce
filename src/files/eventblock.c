/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of events.  Each field of all events is stored as a column, because similar
 * values compress best side by side.  What can be predicted is not written:
 *
 *   a block that is freed      was usually allocated shortly before: its address and size
 *                              are those of an allocation a known number of steps back;
 *   a block that is allocated  is usually the last freed one of its size, as with
 *                              allocators that keep caches per thread;
 *   a realloc()                usually keeps the address.
 *
 * The writer and the reader keep the same state (struct books), so that they predict the
 * same.  The reader trusts no number: everything is checked against this state.
 */
#include "config.h"

#include "files/eventblock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "files/varint.h"

#define FORESEEN 128u  /* flag in an op, beside the kind */
#define CLASSES  2048u /* of thread and size, for freed blocks */
#define CONTEXTS 64u   /* for threads */
#define SLOTS    (2 * EVENTBLOCK_EVENTS)
#define NONE     UINT32_MAX

enum event_column {
    OPS,
    RUNS,
    TIMES,
    SIZES,
    ADDRESSES,
    AGES,
    DEPTHS,
    ALIGNMENTS,
    COLUMNS
};

/* The last actions of a thread.  Threads with the same number modulo CONTEXTS share
   one. */
struct context {
    uint64_t made;    /* predicted address of the next block: after the last one */
    uint64_t gone;    /* last address of a freed block that was written */
    uint64_t other;
    uint64_t resized; /* the block being reallocated, and its size */
    uint64_t resized_size;
    uint32_t depth;
};

struct books {
    struct context contexts[CONTEXTS];
    uint32_t made, gone; /* number of elements in blocks and left */
    uint32_t last_gone[CLASSES];
    struct { uint64_t address, size; } blocks[EVENTBLOCK_EVENTS]; /* allocated, in
                                                                     order */
    struct { uint64_t address; uint32_t before; } left[EVENTBLOCK_EVENTS];
};

struct eventblock {
    struct books books;
    uint32_t slots[SLOTS]; /* by address: 1 + index of the last block allocated there */
    unsigned char *columns[COLUMNS];
};

/* The most bytes per event in each column; a run has two numbers. */
static const unsigned char widths[COLUMNS] = {1, 10, 10, 10, 19, 5, 6, 1};

struct eventblock *
eventblock_new(void)
{
    struct eventblock *block = calloc(1, sizeof *block);

    for (enum event_column i = 0; block != NULL && i < COLUMNS; i++) {
        block->columns[i] = malloc((size_t)widths[i] * EVENTBLOCK_EVENTS + VARINT_MAX);
        if (block->columns[i] == NULL) {
            eventblock_free(block);
            return NULL;
        }
    }
    return block;
}

void
eventblock_free(struct eventblock *block)
{
    for (enum event_column i = 0; block != NULL && i < COLUMNS; i++)
        free(block->columns[i]);
    free(block);
}

/* ---- the state for predictions ---- */

static void
open_books(struct books *books)
{
    memset(books->contexts, 0, sizeof books->contexts);
    memset(books->last_gone, 0xFF, sizeof books->last_gone); /* all NONE */
    books->made = books->gone = 0;
}

/* Estimates glibc's chunk for a block: its header and memtop's trailer, rounded up to 16
   bytes.  A wrong estimate only makes predictions worse. */
static inline uint64_t
chunk_of(uint64_t size)
{
    return (size + 31) / 16;
}

static inline unsigned
class_of(uint32_t thread, uint64_t size)
{
    return (unsigned)(chunk_of(size) + thread * UINT64_C(601)) % CLASSES;
}

static inline void
note_made(struct books *books, struct context *context, uint64_t address, uint64_t size)
{
    books->blocks[books->made].address = address;
    books->blocks[books->made++].size = size;
    context->made = address + chunk_of(size) * 16;
}

static inline void
note_gone(struct books *books, unsigned class, uint64_t address)
{
    books->left[books->gone].address = address;
    books->left[books->gone].before = books->last_gone[class];
    books->last_gone[class] = books->gone++;
}

static inline bool
is_made(unsigned kind)
{
    return kind < FN_COUNT && kind != FN_FREE;
}

static inline bool
is_gone(unsigned kind)
{
    return kind == FN_FREE || kind == EVENT_REALLOC_FROM;
}

static inline bool
is_aligned(unsigned kind)
{
    return kind > FN_FREE && kind < FN_COUNT;
}

/* ---- writing ---- */

struct writing {
    struct eventblock *block;
    unsigned char *at[COLUMNS];
};

static inline void
put(struct writing *writing, enum event_column column, uint64_t value)
{
    writing->at[column] = varint_put(writing->at[column], value);
}

/* Distances are usually multiples of 16 and written in units of 16, plus 1.  For others
   0 is written, followed by the address. */
static inline void
put_address(struct writing *writing, uint64_t from, uint64_t address)
{
    int64_t distance = (int64_t)(address - from);

    put(writing, ADDRESSES, distance % 16 == 0 ? zigzag(distance / 16) + 1 : 0);
    if (distance % 16 != 0)
        put(writing, ADDRESSES, address);
}

static inline void
put_depth(struct writing *writing, struct context *context, uint32_t depth)
{
    int64_t change = (int64_t)depth - context->depth;

    put(writing, DEPTHS, change % 8 == 0 ? zigzag(change / 8) + 1 : 0);
    if (change % 8 != 0)
        put(writing, DEPTHS, depth);
    context->depth = depth;
}

/* The slot of an address, or the free slot where it belongs. */
static inline uint32_t *
slot_of(struct eventblock *block, uint64_t address)
{
    uint32_t slot = (uint32_t)((address >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 40);

    for (;; slot++) {
        uint32_t *found = &block->slots[slot % SLOTS];

        if (*found == 0 || block->books.blocks[*found - 1].address == address)
            return found;
    }
}

static inline void
remember(struct writing *writing, struct context *context,
         const struct trace_event *event)
{
    *slot_of(writing->block, event->address) = writing->block->books.made + 1;
    note_made(&writing->block->books, context, event->address, event->size);
}

static inline bool
write_made(struct writing *writing, struct context *context,
           const struct trace_event *event)
{
    struct books *books = &writing->block->books;
    uint32_t *last = &books->last_gone[class_of(event->thread, event->size)];
    bool foreseen = *last != NONE && books->left[*last].address == event->address;

    put(writing, SIZES, event->size);
    if (foreseen)
        *last = books->left[*last].before;
    else
        put_address(writing, context->made, event->address);
    if (is_aligned(event->kind))
        *writing->at[ALIGNMENTS]++ = event->alignment;
    remember(writing, context, event);
    return foreseen;
}

static inline bool
write_gone(struct writing *writing, struct context *context,
           const struct trace_event *event)
{
    struct books *books = &writing->block->books;
    uint32_t made = *slot_of(writing->block, event->address);
    bool foreseen = made != 0 && books->blocks[made - 1].size == event->size;

    if (foreseen) {
        put(writing, AGES, books->made - made);
    } else {
        put_address(writing, context->gone, event->address);
        put(writing, SIZES, event->size);
        context->gone = event->address;
    }
    if (event->kind == FN_FREE) {
        note_gone(books, class_of(event->thread, event->size), event->address);
    } else {
        context->resized = event->address;
        context->resized_size = event->size;
    }
    return foreseen;
}

static inline bool
write_resized(struct writing *writing, struct context *context,
              const struct trace_event *event)
{
    struct books *books = &writing->block->books;
    bool foreseen = event->address == context->resized;

    put(writing, SIZES, event->size);
    if (!foreseen) {
        put_address(writing, context->made, event->address);
        note_gone(books, class_of(event->thread, context->resized_size),
                  context->resized);
    }
    remember(writing, context, event);
    return foreseen;
}

static bool
write_other(struct writing *writing, struct context *context,
            const struct trace_event *event)
{
    put(writing, SIZES, event->size);
    put_address(writing, context->other, event->address);
    context->other = event->address;
    return false;
}

static inline void
write_event(struct writing *writing, const struct trace_event *event)
{
    struct context *context = &writing->block->books.contexts[event->thread % CONTEXTS];
    bool foreseen;

    if (is_made(event->kind))
        foreseen = write_made(writing, context, event);
    else if (is_gone(event->kind))
        foreseen = write_gone(writing, context, event);
    else if (event->kind == EVENT_REALLOC_TO)
        foreseen = write_resized(writing, context, event);
    else
        foreseen = write_other(writing, context, event);
    *writing->at[OPS]++ = (unsigned char)(event->kind | (foreseen ? FORESEEN : 0));
    put_depth(writing, context, event->depth);
}

static size_t
join(struct writing *writing, const struct trace_event *first, size_t count,
     unsigned char *bytes)
{
    unsigned char *at = varint_put(bytes, first->process);

    at = varint_put(at, count);
    at = varint_put(at, first->time_ns);
    for (enum event_column i = 0; i < COLUMNS; i++)
        at = varint_put(at, (uint64_t)(writing->at[i] - writing->block->columns[i]));
    for (enum event_column i = 0; i < COLUMNS; i++) {
        size_t size = (size_t)(writing->at[i] - writing->block->columns[i]);

        memcpy(at, writing->block->columns[i], size);
        at += size;
    }
    return (size_t)(at - bytes);
}

size_t
eventblock_encode(struct eventblock *block, const struct trace_event *events,
                  size_t count, unsigned char *bytes)
{
    struct writing writing = {.block = block};
    uint64_t time_ns = events[0].time_ns;
    size_t run = 0;

    open_books(&block->books);
    memset(block->slots, 0, sizeof block->slots);
    memcpy(writing.at, block->columns, sizeof writing.at);
    for (size_t i = 0; i < count; i++) {
        put(&writing, TIMES, events[i].time_ns - time_ns);
        time_ns = events[i].time_ns;
        write_event(&writing, &events[i]);
        run++;
        if (i + 1 == count || events[i + 1].thread != events[i].thread) {
            put(&writing, RUNS, run);
            put(&writing, RUNS, events[i].thread);
            run = 0;
        }
    }
    return join(&writing, &events[0], count, bytes);
}

/* ---- reading ---- */

struct block_reading {
    struct books *books;
    const unsigned char *at[COLUMNS], *end[COLUMNS];
    bool bad; /* a column ended too early, or has an invalid value */
};

static inline uint64_t
get(struct block_reading *reading, enum event_column column)
{
    const unsigned char *at = reading->at[column];
    uint64_t value = 0;

    if (at < reading->end[column] && *at < 128) {
        reading->at[column]++;
        return *at;
    }
    if (!varint_get(&reading->at[column], reading->end[column], &value))
        reading->bad = true;
    return value;
}

static inline unsigned
get_byte(struct block_reading *reading, enum event_column column)
{
    if (reading->at[column] < reading->end[column])
        return *reading->at[column]++;
    reading->bad = true;
    return 0;
}

static inline uint64_t
get_address(struct block_reading *reading, uint64_t from)
{
    uint64_t code = get(reading, ADDRESSES);

    return code == 0 ? get(reading, ADDRESSES)
                     : from + (uint64_t)unzigzag(code - 1) * 16;
}

static inline uint32_t
get_depth(struct block_reading *reading, struct context *context)
{
    uint64_t code = get(reading, DEPTHS);

    context->depth = code == 0 ? (uint32_t)get(reading, DEPTHS)
                               : context->depth + (uint32_t)unzigzag(code - 1) * 8;
    return context->depth;
}

static inline void
read_made(struct block_reading *reading, struct context *context,
          struct trace_event *event, bool foreseen)
{
    struct books *books = reading->books;
    uint32_t *last;

    event->size = get(reading, SIZES);
    last = &books->last_gone[class_of(event->thread, event->size)];
    if (!foreseen) {
        event->address = get_address(reading, context->made);
    } else if (*last != NONE) {
        event->address = books->left[*last].address;
        *last = books->left[*last].before;
    } else {
        reading->bad = true;
    }
    if (is_aligned(event->kind))
        event->alignment = (uint8_t)(get_byte(reading, ALIGNMENTS) & 63);
    note_made(books, context, event->address, event->size);
}

static inline void
read_gone(struct block_reading *reading, struct context *context,
          struct trace_event *event, bool foreseen)
{
    struct books *books = reading->books;

    if (foreseen) {
        uint64_t age = get(reading, AGES);

        if (age >= books->made) {
            reading->bad = true;
            return;
        }
        event->address = books->blocks[books->made - 1 - age].address;
        event->size = books->blocks[books->made - 1 - age].size;
    } else {
        event->address = context->gone = get_address(reading, context->gone);
        event->size = get(reading, SIZES);
    }
    if (event->kind == FN_FREE) {
        note_gone(books, class_of(event->thread, event->size), event->address);
    } else {
        context->resized = event->address;
        context->resized_size = event->size;
    }
}

static inline void
read_resized(struct block_reading *reading, struct context *context,
             struct trace_event *event, bool foreseen)
{
    event->size = get(reading, SIZES);
    event->address = context->resized;
    if (!foreseen) {
        event->address = get_address(reading, context->made);
        note_gone(reading->books, class_of(event->thread, context->resized_size),
                  context->resized);
    }
    note_made(reading->books, context, event->address, event->size);
}

static void
read_other(struct block_reading *reading, struct context *context,
           struct trace_event *event, bool foreseen)
{
    event->size = get(reading, SIZES);
    event->address = context->other = get_address(reading, context->other);
    if (foreseen)
        reading->bad = true;
}

/* Reads an event, whose thread and time are set already. */
static inline void
read_event(struct block_reading *reading, struct trace_event *event)
{
    struct context *context = &reading->books->contexts[event->thread % CONTEXTS];
    unsigned op = get_byte(reading, OPS);
    bool foreseen = (op & FORESEEN) != 0;

    event->kind = (uint8_t)(op & (FORESEEN - 1));
    event->alignment = 0;
    if (is_made(event->kind))
        read_made(reading, context, event, foreseen);
    else if (is_gone(event->kind))
        read_gone(reading, context, event, foreseen);
    else if (event->kind == EVENT_REALLOC_TO)
        read_resized(reading, context, event, foreseen);
    else
        read_other(reading, context, event, foreseen);
    event->depth = get_depth(reading, context);
}

/* Finds the columns.  Returns false if they are not complete. */
static bool
part(struct block_reading *reading, const unsigned char *at, const unsigned char *end)
{
    uint64_t sizes[COLUMNS];

    for (enum event_column i = 0; i < COLUMNS; i++)
        if (!varint_get(&at, end, &sizes[i]))
            return false;
    for (enum event_column i = 0; i < COLUMNS; i++) {
        if (sizes[i] > (uint64_t)(end - at))
            return false;
        reading->at[i] = at;
        reading->end[i] = at += sizes[i];
    }
    return at == end;
}

static bool
read_events(struct block_reading *reading, struct trace_event *events, uint64_t count)
{
    uint64_t time_ns = events[0].time_ns, run = 0;
    uint32_t process = events[0].process, thread = 0;

    for (uint64_t i = 0; i < count && !reading->bad; i++) {
        struct trace_event *event = &events[i];

        if (run == 0) {
            run = get(reading, RUNS);
            thread = (uint32_t)get(reading, RUNS);
        }
        reading->bad |= run-- == 0;
        event->time_ns = time_ns += get(reading, TIMES);
        event->process = process;
        event->thread = thread;
        read_event(reading, event);
    }
    for (enum event_column i = 0; i < COLUMNS; i++)
        if (reading->at[i] != reading->end[i])
            return false;
    return !reading->bad && run == 0;
}

long
eventblock_decode(struct eventblock *block, const unsigned char *bytes, size_t size,
                  struct trace_event *events)
{
    struct block_reading reading = {.books = &block->books};
    const unsigned char *at = bytes, *end = bytes + size;
    uint64_t process, count;

    if (!varint_get(&at, end, &process) || !varint_get(&at, end, &count)
        || !varint_get(&at, end, &events[0].time_ns) || process >= UINT32_MAX
        || count == 0 || count > EVENTBLOCK_EVENTS || !part(&reading, at, end))
        return -EBADMSG;
    events[0].process = (uint32_t)process;
    open_books(&block->books);
    return read_events(&reading, events, count) ? (long)count : -EBADMSG;
}
