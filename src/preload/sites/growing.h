/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables that grow, in the segment or in private memory, without ever moving: chunks of
 * entries, each as large as all before it together.  In the segment they lie one behind
 * the other, so that readers see one array.
 *
 * Any thread may let a table grow, and a signal handler; nobody waits.  A chunk is mapped
 * when its first entry is needed, and pages are made present in steps, because touching a
 * page of a full file system would end the process.  All tables together keep to a limit
 * of memory.
 */
#ifndef MEMTOP_GROWING_H
#define MEMTOP_GROWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROWING_CHUNKS 18u

struct mt_growing {
    uint64_t offset;     /* in the sites' part of the segment; 0: private memory */
    uint32_t entry;      /* bytes of an entry */
    uint32_t first;      /* entries of chunk 0: a power of two, whole pages */
    uint32_t limit;      /* entries at most */
    uint32_t share;      /* of the limit of memory, in sixteenths */
    uint64_t present;    /* bytes from the start that can be used */
    unsigned char *chunks[GROWING_CHUNKS]; /* NULL until mapped */
};

/* The number of the chunk that holds an entry. */
static inline unsigned
growing_chunk(const struct mt_growing *table, uint32_t index)
{
    uint32_t times = index / table->first;

    return times == 0 ? 0 : 32u - (unsigned)__builtin_clz(times);
}

/* The number of the first entry of a chunk. */
static inline uint32_t
growing_start(const struct mt_growing *table, unsigned chunk)
{
    return chunk == 0 ? 0 : table->first << (chunk - 1);
}

/* An entry below a count for which growing_has() was true.  Entries that follow it are
   adjacent up to the end of its chunk. */
static inline void *
growing_at(const struct mt_growing *table, uint32_t index)
{
    unsigned chunk = growing_chunk(table, index);

    return table->chunks[chunk]
           + (size_t)(index - growing_start(table, chunk)) * table->entry;
}

/* Makes the first count entries usable; false if there is no memory, or none that the
   tables may have.  Keeps errno. */
bool growing_has(struct mt_growing *table, uint32_t count);

/* Maps the page of the sites' part of the segment at its start and makes it present;
   NULL if that is not possible. */
void *growing_head(void);

/* In a child: unmaps its parent's. */
void growing_unmap_head(void *page);

/* How many of used entries a forked child has of its parent's table: the parent goes on
   and counts, and maps chunks that the child does not have. */
static inline uint32_t
growing_mapped(const struct mt_growing *table, uint64_t used)
{
    uint64_t mapped = table->present / table->entry;

    return (uint32_t)(used < mapped ? used : mapped);
}

/* Bytes that all tables together have, and the most they may have now. */
uint64_t growing_memory(void);
uint64_t growing_memory_limit(void);

/* A table's memory outside these tables counts as well: false if it is too much. */
bool growing_spend(uint64_t bytes, unsigned share);
void growing_unspend(uint64_t bytes);

/* free_bytes: of the file system the segment lies on. */
void growing_start_limit(uint64_t free_bytes);

/* Forgets the chunks, which stay mapped; whoever has a copy of the table unmaps them. */
void growing_forget(struct mt_growing *table);

/* Unmaps the chunks and forgets them; the memory counts no more. */
void growing_unmap(struct mt_growing *table);

/* Copies the first count entries of a table with the same chunks; both have them. */
void growing_copy(const struct mt_growing *to, const struct mt_growing *from,
                  uint32_t count);

/* In a child whose only thread is in the middle of writing to its parent's table: the
   table becomes private, at the same addresses.  Also the head. */
void growing_make_private(const struct mt_growing *table);
void growing_make_head_private(void);

/* For a forked child: only what is private counts from now on, and no head is mapped. */
void growing_forked(uint64_t private_bytes);

#endif
