/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shadow's slow paths: slabs come, regions that are not at home, sizes that follow.
 *
 * Threads and signal handlers may bring the same region at the same time.  Nobody waits:
 * an entry is claimed for its region, whoever has claimed or found it maps a slab, the
 * first slab stays, and then the entry's region is set, which makes it valid.  All these
 * steps may be done twice.
 */
#include "config.h"

#include "preload/shadow.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "segment/live.h"

/* An entry that is claimed holds ~region; one that is free a region that it cannot have:
   0, or 1 in the entry of region 0. */
#define UNUSED(index) ((uint64_t)((index) == 0))

struct shadow_region mt_shadow_homes[SHADOW_HOMES] = {{.region = UNUSED(0)}};

/* A region for which there was no memory. */
#define REFUSED ((uintptr_t)1)

/* Regions whose home is taken, which takes blocks 32 GiB apart: mapped when needed. */
#define AWAY_BITS  16u
#define AWAY_COUNT (1u << AWAY_BITS)
#define AWAY_TRIES 64u
static struct shadow_region *away;

/* ---- regions ---- */

static uint64_t
region_of(const void *block)
{
    return (uintptr_t)block >> SHADOW_REGION_BITS;
}

static void *
map(size_t size)
{
    int saved_errno = errno;
    void *mapped = NULL;

    if (!mt_sandboxed)
        mapped =
            (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, (off_t)0);
    if (mapped == MAP_FAILED)
        mapped = NULL;
    if (mapped != NULL)
        syscall(SYS_madvise, mapped, size, MADV_DONTDUMP);
    errno = saved_errno;
    return mapped;
}

static void
unmap(void *mapped, size_t size)
{
    int saved_errno = errno;

    if (mt_sandboxed)
        return;
    syscall(SYS_munmap, mapped, size);
    errno = saved_errno;
}

/* Slabs for a process that may make no system calls: room for 256 MiB more of heap. */
#define SPARE_SLABS 16u
static unsigned char *spare;
static uint32_t spare_used;
static void *returned; /* by a thread that was not the first */

void
mt_shadow_prepare(void)
{
    if (mt_guard.shadow && spare == NULL)
        spare = map(SPARE_SLABS * SHADOW_SLAB_SIZE);
}

static void *
new_slab(void)
{
    uint32_t number;

    void *slab;

    if (!mt_sandboxed)
        return map(SHADOW_SLAB_SIZE);
    slab = __atomic_exchange_n(&returned, NULL, __ATOMIC_ACQ_REL);
    if (slab != NULL)
        return slab;
    number = spare != NULL ? __atomic_fetch_add(&spare_used, 1, __ATOMIC_RELAXED)
                           : SPARE_SLABS;
    if (number < SPARE_SLABS)
        return spare + number * SHADOW_SLAB_SIZE;
    __atomic_store_n(&spare_used, SPARE_SLABS, __ATOMIC_RELAXED);
    return NULL;
}

static void
return_slab(void *slab)
{
    if (mt_sandboxed)
        __atomic_store_n(&returned, slab, __ATOMIC_RELEASE);
    else
        unmap(slab, SHADOW_SLAB_SIZE);
}

/* Is this the entry of the region, or could it be made that? */
static bool
claim(struct shadow_region *entry, uint64_t unused, uint64_t region, bool make)
{
    uint64_t seen = __atomic_load_n(&entry->region, __ATOMIC_ACQUIRE);

    if (make && seen == unused
        && __atomic_compare_exchange_n(&entry->region, &seen, ~region, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return true;
    return seen == region || seen == ~region;
}

/* Sees to it that a claimed entry has a slab; false if there is no memory for it. */
static bool
complete(struct shadow_region *entry, uint64_t region)
{
    uintptr_t none = 0, bias;
    void *slab;

    if (__atomic_load_n(&entry->region, __ATOMIC_ACQUIRE) == region)
        return true;
    if (__atomic_load_n(&entry->bias, __ATOMIC_ACQUIRE) == 0) {
        slab = new_slab();
        bias = slab != NULL
                   ? (uintptr_t)slab - (region << (SHADOW_REGION_BITS - SHADOW_UNIT_BITS))
                   : REFUSED;
        if (!__atomic_compare_exchange_n(&entry->bias, &none, bias, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
            && slab != NULL)
            return_slab(slab);
    }
    if (__atomic_load_n(&entry->bias, __ATOMIC_ACQUIRE) == REFUSED)
        return false;
    __atomic_store_n(&entry->region, region, __ATOMIC_RELEASE);
    return true;
}

static struct shadow_region *
away_table(bool make)
{
    struct shadow_region *table = __atomic_load_n(&away, __ATOMIC_ACQUIRE), *none = NULL;

    if (table != NULL || !make)
        return table;
    table = map(AWAY_COUNT * sizeof *table);
    if (table != NULL
        && !__atomic_compare_exchange_n(&away, &none, table, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
        unmap(table, AWAY_COUNT * sizeof *table);
        table = none;
    }
    return table;
}

/* The entry of a region that is not at home; NULL if there is none. */
static struct shadow_region *
find_away(uint64_t region, bool make)
{
    /* 2^64 / golden ratio, as in trailer.h. */
    uint64_t first = region * UINT64_C(0x9e3779b97f4a7c15) >> (64 - AWAY_BITS);
    struct shadow_region *table = away_table(make);

    for (unsigned try = 0; table != NULL && try < AWAY_TRIES; try++) {
        struct shadow_region *entry = &table[(first + try) % AWAY_COUNT];

        /* Region 0 is always at home, so 0 is free here. */
        if (claim(entry, 0, region, make))
            return entry;
        if (!make && __atomic_load_n(&entry->region, __ATOMIC_ACQUIRE) == 0)
            return NULL;
    }
    return NULL;
}

/* The byte of a block; NULL if its region has no slab and make is false or does not
   help. */
static unsigned char *
find(const void *block, bool make)
{
    uint64_t region = region_of(block);
    unsigned index = (unsigned)(region % SHADOW_HOMES);
    struct shadow_region *entry = &mt_shadow_homes[index];

    if (__atomic_load_n(&entry->region, __ATOMIC_ACQUIRE) == region)
        return shadow_byte(entry, block);
    if (!claim(entry, UNUSED(index), region, make))
        entry = find_away(region, make);
    if (entry == NULL || (make ? !complete(entry, region) : entry->region != region))
        return NULL;
    return shadow_byte(entry, block);
}

/* ---- bytes ---- */

/* What a byte says. */
struct meaning {
    enum shadow_state state;
    bool follows;       /* the size follows */
    unsigned slack;     /* if not */
};

#define SPECIAL 0x80u
#define FOLLOWS (2 * SHADOW_SLACKS)

static struct meaning
meaning_of(unsigned char byte)
{
    unsigned rest = byte - SPECIAL;

    if (byte < SPECIAL)
        return (struct meaning){.state = byte == 0 ? SHADOW_NONE : SHADOW_PLAIN,
                                .slack = byte - SPACE_HEAD};
    if (rest < FOLLOWS)
        return (struct meaning){.state = SHADOW_SAMPLED + rest / SHADOW_SLACKS,
                                .slack = rest % SHADOW_SLACKS};
    return (struct meaning){.state = (SHADOW_PLAIN + (rest - FOLLOWS)) & 3,
                            .follows = true};
}

static unsigned char
byte_of(struct meaning meaning)
{
    if (meaning.follows)
        return (unsigned char)(SPECIAL + FOLLOWS + meaning.state - SHADOW_PLAIN);
    if (meaning.state == SHADOW_PLAIN)
        return (unsigned char)(meaning.slack + SPACE_HEAD);
    return (unsigned char)(SPECIAL + (meaning.state - SHADOW_SAMPLED) * SHADOW_SLACKS
                           + meaning.slack);
}

/* How many bytes of the shadow a block with that room has behind its first, at most the
   size of a size. */
static size_t
bytes_behind(size_t room)
{
    size_t units = room >> SHADOW_UNIT_BITS;

    if (units > sizeof(uint64_t))
        return sizeof(uint64_t);
    return units > 0 ? units - 1 : 0;
}

/* Do the bytes that follow lie in the same slab? */
static bool
stays_in_slab(const void *block, size_t behind)
{
    size_t place = (uintptr_t)block >> SHADOW_UNIT_BITS & (SHADOW_SLAB_SIZE - 1);

    return place + behind < SHADOW_SLAB_SIZE;
}

/* Writes a size into the bytes that follow; false if it does not fit. */
static bool
write_size(const void *block, unsigned char *byte, size_t room, uint64_t size)
{
    size_t behind = bytes_behind(room);

    if (!stays_in_slab(block, behind) || (behind < 8 && size >> 8 * behind != 0))
        return false;
    if (behind == sizeof size)
        memcpy(byte + 1, &size, sizeof size);
    else
        memcpy(byte + 1, &size, behind); /* little endian: see HEADS_READABLE */
    return true;
}

bool
mt_shadow_note(const void *block, uint64_t size, enum shadow_state state)
{
    unsigned char *byte = find(block, true);
    size_t room = head_room(block);
    struct meaning meaning = {
        .state = state,
        .follows = room - size >= SHADOW_SLACKS,
    };

    if (byte == NULL || (meaning.follows && !write_size(block, byte, room, size)))
        return false;
    if (!meaning.follows) {
        meaning.slack = (unsigned)(room - size);
        if (size >= SHADOW_LARGE)
            shadow_note_large(block, byte, size);
    }
    *byte = byte_of(meaning);
    return true;
}

/* Heads are multiples of 16 but for their flags, and no chunk is smaller than 32. */
static bool
head_makes_sense(const void *block)
{
    size_t head = ((const size_t *)block)[-1];

    return (head & 8) == 0 && head >= 32;
}

static struct shadow_entry
read_byte(const void *block, const unsigned char *byte)
{
    struct meaning meaning = meaning_of(*byte);
    struct shadow_entry entry = {.state = meaning.state};
    size_t room = head_room(block);

    if (!head_makes_sense(block) || (!meaning.follows && room < meaning.slack)) {
        entry.damaged = true;
    } else if (!meaning.follows) {
        entry.size = room - meaning.slack;
        entry.damaged =
            entry.size >= SHADOW_LARGE && !shadow_check_large(block, byte, entry.size);
    } else if (stays_in_slab(block, bytes_behind(room))) {
        memcpy(&entry.size, byte + 1, bytes_behind(room));
        entry.damaged = entry.size > room;
    }
    if (entry.damaged)
        entry.size = 0;
    return entry;
}

struct shadow_entry
mt_shadow_look(const void *block)
{
    const unsigned char *byte = find(block, false);

    if (byte == NULL || *byte == 0)
        return (struct shadow_entry){.state = SHADOW_NONE};
    return read_byte(block, byte);
}

struct shadow_entry
mt_shadow_take(const void *block)
{
    struct shadow_entry entry = mt_shadow_look(block);
    unsigned char *byte = find(block, false);
    size_t behind;

    if (entry.state == SHADOW_NONE)
        return entry;
    behind = bytes_behind(head_room(block));
    if ((meaning_of(*byte).follows || entry.size >= SHADOW_LARGE) && !entry.damaged
        && stays_in_slab(block, behind))
        memset(byte + 1, 0, behind);
    *byte = 0;
    return entry;
}

/* ---- forgetting ---- */

/* The slabs stay, because another thread may be about to use one.  Their memory is given
   back, unless it is locked or no system call may be made. */
static void
forget(const struct shadow_region *entry)
{
    uint64_t region = __atomic_load_n(&entry->region, __ATOMIC_ACQUIRE);
    void *slab =
        (void *)(entry->bias + (region << (SHADOW_REGION_BITS - SHADOW_UNIT_BITS)));
    int saved_errno = errno;

    if (mt_sandboxed || syscall(SYS_madvise, slab, SHADOW_SLAB_SIZE, MADV_DONTNEED) != 0)
        memset(slab, 0, SHADOW_SLAB_SIZE);
    errno = saved_errno;
}

void
mt_shadow_forget(void)
{
    for (unsigned i = 0; i < SHADOW_HOMES; i++)
        if (mt_shadow_homes[i].region != UNUSED(i)
            && (int64_t)mt_shadow_homes[i].region >= 0)
            forget(&mt_shadow_homes[i]);
    for (unsigned i = 0; away != NULL && i < AWAY_COUNT; i++)
        if (away[i].region != 0 && (int64_t)away[i].region > 0)
            forget(&away[i]);
}
