/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "preload/sites/index.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/sites/growing.h"
#include "preload/state.h"
#include "preload/windows.h"

#define FIRST_BITS 10u /* log2 of the slots of level 0 */
#define LEVEL_BITS 2u
#define PROBES 16u
#define SHARE_ALL 16u

static uint32_t
level_slots(unsigned level)
{
    return 1u << (FIRST_BITS + level * LEVEL_BITS);
}

/* Returns a level, mapped if need be; NULL if there is no memory. */
static uint32_t *
level_of(struct mt_index *index, unsigned level)
{
    uint32_t *there = __atomic_load_n(&index->levels[level], __ATOMIC_ACQUIRE);
    size_t size = level_slots(level) * sizeof *there;
    uint32_t *mapped;
    int saved_errno = errno;

    if (there != NULL || mt_sandboxed || !growing_spend(size, SHARE_ALL))
        return there;
    mapped = (void *)syscall(SYS_mmap, mt_far_place(size), size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, (off_t)0);
    if (mapped != MAP_FAILED
        && __atomic_compare_exchange_n(&index->levels[level], &there, mapped, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        there = mapped;
    else {
        if (mapped != MAP_FAILED)
            syscall(SYS_munmap, mapped, size);
        growing_unspend(size);
    }
    errno = saved_errno;
    return there;
}

/* Looks for the key in one level and enters it in the first free slot.  *made is a number
   already made for it, or 0.  Returns 0 if all slots are taken by others. */
static uint32_t
find_in(uint32_t *slots, uint32_t count, const struct mt_index_key *key, uint32_t *made)
{
    for (unsigned probe = 0; probe < PROBES; probe++) {
        uint32_t *slot = &slots[(key->hash + probe) & (count - 1)];
        uint32_t number = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

        if (number == 0) {
            *made = *made != 0 ? *made : key->make(key->key);
            if (*made == 0)
                return 0;
            if (__atomic_compare_exchange_n(slot, &number, *made, false, __ATOMIC_RELEASE,
                                            __ATOMIC_ACQUIRE))
                return *made;
        }
        if (key->is(number, key->key))
            return number;
    }
    return 0;
}

/* Has the key a free slot in this level, so that it is in no further one? */
static bool
ends_in(const uint32_t *slots, uint32_t count, uint64_t hash)
{
    for (unsigned probe = 0; probe < PROBES; probe++)
        if (__atomic_load_n(&slots[(hash + probe) & (count - 1)], __ATOMIC_ACQUIRE) == 0)
            return true;
    return false;
}

uint32_t
mt_index_find(struct mt_index *index, const struct mt_index_key *key)
{
    uint32_t made = 0;

    for (unsigned level = 0; level < INDEX_LEVELS; level++) {
        uint32_t *slots = level_of(index, level);
        uint32_t found;

        if (slots == NULL)
            return made;
        found = find_in(slots, level_slots(level), key, &made);
        if (found != 0 || ends_in(slots, level_slots(level), key->hash))
            return found; /* 0: there was no number for it */
    }
    return made;
}
