/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the size that was asked for is kept, and what else is known about a counted
 * block, with requested accounting: in the shadow (shadow.h) if the allocator is glibc's
 * and its heads say what malloc_usable_size says; otherwise in a trailer (trailer.h), for
 * which every block is asked for TRAILER_BYTES larger.  With usable accounting nothing is
 * kept.
 */
#ifndef MEMTOP_SIZES_H
#define MEMTOP_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/real.h"
#include "preload/shadow.h"
#include "preload/state.h"

/* Flags of a block. */
#define BLOCK_SAMPLED 1u
#define BLOCK_OURS    2u  /* an internal allocation, see internal.h */

/*
 * The answer of malloc_usable_size for a block.  It is needed twice a block, so for
 * glibc's malloc the word before the block is read directly (the size and three flags;
 * unchanged since the first glibc), which saves a call and a look at the following block.
 * This starts only after HEAD_DOUBTS answers in a row agreed with that word, and never
 * after one that did not.
 */
size_t mt_usable_size_asked(void *block);

static inline size_t
mt_usable_size(void *block)
{
    size_t usable;

    return mt_usable_size_read(block, &usable) ? usable : mt_usable_size_asked(block);
}

/* The size to ask the real allocator for.  A size that would overflow is passed on
   unchanged; the allocator refuses it. */
static inline size_t
padded(size_t size)
{
    return likely(size <= SIZE_MAX - 64) ? size + mt_guard.padding : size;
}

/* Notes the size and flags of a new block of padded(size) bytes, or of one that stays
   after all.
   *usable becomes its usable size.  Returns false if there is no place for its size: then
   the block is not counted, nor is it when it goes. */
bool mt_size_note(void *block, uint64_t size, unsigned flags, size_t *usable);

/* The same for a block that is about to go: forgets it, and returns its size, usable size
   and flags.  Returns false if it is not counted. */
bool mt_size_take(void *block, uint64_t *size, size_t *usable, unsigned *flags);

/* The same two functions, inline for ordinary blocks. */
static inline __attribute__((always_inline)) bool
size_note(void *block, uint64_t size, size_t *usable)
{
    size_t space;

    if (likely(mt_guard.shadow) && likely(mt_real.doubts == 0)
        && likely(!head_is_mapped(block))
        && shadow_note_plain(block, size, true, &space)) {
        *usable = space - HEAD_BYTES;
        return true;
    }
    return mt_size_note(block, size, 0, usable);
}

static inline __attribute__((always_inline)) bool
size_take(void *block, uint64_t *size, size_t *usable, unsigned *flags)
{
    size_t space;

    if (likely(mt_guard.shadow)
        && shadow_take_plain(block, SIZE_MAX, true, size, &space)) {
        *usable = space - HEAD_BYTES;
        *flags = 0;
        return true;
    }
    return mt_size_take(block, size, usable, flags);
}

/* Reads the size of a block with that usable size; false if it is not counted. */
bool mt_size_look(void *block, size_t usable, uint64_t *size);

/* Adds flags to a block whose size is noted. */
void mt_size_flag(void *block, uint64_t size, unsigned flags);

/* The usable size that a program may be told about a block with that usable size. */
size_t mt_size_told(void *block, size_t usable);

/* Forgets all blocks: those of earlier awake periods are not counted when they go.  Call
   it after mt_guard.awake_period has changed. */
void mt_sizes_forget(void);

#endif
