/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two places for sizes, behind one interface. */
#include "config.h"

#include "preload/sizes.h"

#include "preload/account.h"
#include "preload/real.h"
#include "preload/shadow.h"
#include "preload/trailer.h"

_Static_assert(SHADOW_SAMPLED == SHADOW_PLAIN + BLOCK_SAMPLED
                   && SHADOW_OURS == SHADOW_PLAIN + BLOCK_OURS,
               "flags of a block become its state");

/* Below this no block has its own mapping: M_MMAP_THRESHOLD is twice as much, unless it
   was lowered. */
#define MAPPED_AT_LEAST 65536u

/* Counts a new or a freed block if glibc holds it in a mapping of its own: such a block
   ends where its mapping does, while others end inside the header of the next block. */
static void
note_mapped(const void *block, size_t usable, bool comes)
{
    if (usable >= MAPPED_AT_LEAST && ((uintptr_t)block + usable) % 16 == 0
        && mt_real.doubts != HEADS_UNKNOWN)
        mt_count_mapped(comes ? usable : -(uint64_t)usable);
}

/* ---- trailers ---- */

/* Largest usable size handed out, less the trailer.  malloc_usable_size may return
   anything for a foreign block; above this the trailer is not even read. */
static size_t largest_block;

/* Have trailers been written in this process or one it was forked from?  With flags? */
static bool trailers_exist, flags_exist;

static uint64_t
salt(void)
{
    return trailer_salt(mt_guard.awake_period);
}

static void
raise_largest(size_t room)
{
    size_t seen = __atomic_load_n(&largest_block, __ATOMIC_RELAXED);

    trailers_exist = true;
    while (seen < room
           && !__atomic_compare_exchange_n(&largest_block, &seen, room, true,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void
write_trailer(void *block, size_t usable, uint64_t size, unsigned flags)
{
    size_t room = usable - TRAILER_BYTES;

    if (unlikely(room > largest_block))
        raise_largest(room);
    if (flags != 0)
        flags_exist = true;
    trailer_write(block, usable, size | (uint64_t)flags << TRAILER_FLAGS_SHIFT, salt());
}

static bool
read_trailer(void *block, size_t usable, uint64_t *size, unsigned *flags)
{
    *flags = 0;
    if (!trailers_exist || usable - TRAILER_BYTES > largest_block)
        return false;
    return trailer_read(block, usable, size, salt())
           || (flags_exist
               && trailer_read_flagged(block, usable, size, flags, salt()));
}

static bool
take_trailer(void *block, size_t usable, uint64_t *size, unsigned *flags)
{
    if (!read_trailer(block, usable, size, flags))
        return false;
    trailer_clear(block, usable);
    return true;
}

/* ---- the shadow ---- */

static enum shadow_state
state_of(unsigned flags)
{
    return (enum shadow_state)(SHADOW_PLAIN + flags);
}

/* A damaged block is passed on as it is: the allocator says what is wrong. */
static bool
take_shadow(void *block, uint64_t *size, unsigned *flags)
{
    struct shadow_entry entry = mt_shadow_take(block);

    if (entry.state == SHADOW_NONE || entry.damaged)
        return false;
    *size = entry.size;
    *flags = (unsigned)entry.state - SHADOW_PLAIN;
    return true;
}

/* The allocator is not asked about a block that may be damaged, or whose neighbour may
   be: it reads what follows the block, wherever the head says that this is. */
static size_t
usable_by_head(const void *block)
{
    return head_room(block) - (head_is_mapped(block) ? HEAD_BYTES : 0);
}

/* ---- both ---- */

/* Heads do not say what malloc_usable_size says: from now on sizes are kept in trailers,
   and the few blocks counted before are not known any more. */
static void
distrust_heads(void)
{
    if (!mt_guard.shadow)
        return;
    mt_guard.padding = TRAILER_BYTES;
    mt_guard.shadow = false;
}

/* The allocator has answered as its heads say, or not. */
static void
settle_doubts(uint32_t left)
{
    __atomic_store_n(&mt_real.doubts, left, __ATOMIC_RELAXED);
    if (left == HEADS_UNKNOWN) {
        distrust_heads();
    } else if (left == 0) {
        if (mt_guard.shadow)
            mt_guard.packed = !mt_guard.exact;
        mt_packed_limit_set();
    }
}

size_t
mt_usable_size_asked(void *block)
{
    size_t usable = mt_real.malloc_usable_size(block);
    uint32_t doubts = __atomic_load_n(&mt_real.doubts, __ATOMIC_RELAXED);
    size_t head;

    /* 0: the program has overwritten the next block's head, so this one looks free. */
    if (doubts == 0 || doubts == HEADS_UNKNOWN || usable == 0)
        return usable;
    head = ((const size_t *)block)[-1];
    if ((head & HEAD_MAPPED) == 0)
        settle_doubts((head & ~HEAD_FLAGS) - sizeof head == usable ? doubts - 1
                                                                   : HEADS_UNKNOWN);
    return usable;
}

bool
mt_size_note(void *block, uint64_t size, unsigned flags, size_t *usable)
{
    bool shadow = mt_guard.shadow;

    *usable = mt_usable_size(block);
    /* The answer may just have shown that heads are not to be trusted: then this block
       has no room for a trailer. */
    if (!shadow) {
        write_trailer(block, *usable, size, flags);
    } else if (!mt_guard.shadow || !mt_shadow_note(block, size, state_of(flags))) {
        word_add_shared(&mt_segment.process->not_counted, 1);
        return false;
    }
    if ((flags & BLOCK_OURS) == 0)
        note_mapped(block, *usable, true);
    return true;
}

bool
mt_size_take(void *block, uint64_t *size, size_t *usable, unsigned *flags)
{
    if (mt_guard.shadow) {
        if (!take_shadow(block, size, flags))
            return false;
        *usable = usable_by_head(block);
    } else {
        *usable = mt_usable_size(block);
        if (!take_trailer(block, *usable, size, flags))
            return false;
    }
    if ((*flags & BLOCK_OURS) == 0)
        note_mapped(block, *usable, false);
    return true;
}

bool
mt_size_look(void *block, size_t usable, uint64_t *size)
{
    struct shadow_entry entry;
    unsigned flags;

    if (!mt_guard.shadow)
        return read_trailer(block, usable, size, &flags);
    entry = mt_shadow_look(block);
    *size = entry.size;
    return entry.state != SHADOW_NONE && !entry.damaged;
}

void
mt_size_flag(void *block, uint64_t size, unsigned flags)
{
    if (mt_guard.shadow)
        mt_shadow_note(block, size, state_of(flags));
    else
        write_trailer(block, mt_usable_size(block), size, flags);
}

size_t
mt_size_told(void *block, size_t usable)
{
    uint64_t size;
    unsigned flags;

    if (!trailers_exist || (mt_guard.mode & MODE_ASLEEP)
        || !read_trailer(block, usable, &size, &flags))
        return usable;
    return usable - TRAILER_BYTES;
}

void
mt_sizes_forget(void)
{
    if (mt_guard.shadow)
        mt_shadow_forget();
}
