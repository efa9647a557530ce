/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The part of a segment for sampled allocations (layout.h), behind the rings; present
 * only if it was asked for.  Offsets from header.sites_offset:
 *
 *   0            struct sites_head            what is sampled, totals, what was lost
 *   + 1 page     struct sites_module[1024]    objects in which stacks lie
 *   + 512 KiB    uint64_t pool[1M]            call stacks, one after the other
 *   + 8 MiB      struct site_record[32768]    one per stack and size
 *   + 14 MiB     struct block_record[131072]  sampled blocks alive now
 *
 * The tables are filled from their beginning, *_used says how far, and little more of
 * them has pages.  Nothing is ever moved: numbers and offsets stay valid as long as the
 * segment.
 *
 * A stack is identified by its offset in the pool, in words.  pool[id] is its header (the
 * depth in the low 8 bits, a hash above); its pcs follow, innermost first.  They are
 * return addresses, the first one that of the call of malloc.  Id 0 is the unknown stack:
 * nothing could unwind yet, or the pool was full.  If two threads meet the same stack for
 * the first time at once it may get two ids.
 *
 * A sampled block stands for its Horvitz-Thompson weight: with w = 1 + ceil(size / 8)
 * words, each sampled with probability rate, a block is sampled at all with probability p
 * = 1 - (1 - rate)^w, and stands for 1/p objects and size/p bytes (D. Horvitz, D.
 * Thompson, JASA 47, 1952).  samples, the number of its words that were hit, is what
 * OCaml's Gc.Memprof calls n_samples.
 */
#ifndef MEMTOP_SITES_LAYOUT_H
#define MEMTOP_SITES_LAYOUT_H

#include <stdint.h>

#ifndef SITES_SMALL
#define SITES_MODULES     1024u
#define SITES_POOL_WORDS  (1u << 20)
#define SITES_RECORDS     32768u
#define SITES_BLOCKS      131072u
#else /* tests/fuzz: small, so that all limits are reached */
#define SITES_MODULES     8u
#define SITES_POOL_WORDS  512u
#define SITES_RECORDS     64u
#define SITES_BLOCKS      256u
#endif

#define SITES_DEPTH_DEFAULT 24u
#define SITES_DEPTH_MAX     64u

/* One sample per 512 KiB on average, as heap profilers usually take. */
#define SITES_RATE_DEFAULT (8.0 / (512 * 1024))

/* Weights are kept as fixed-point numbers: bytes with 8 bits behind the point,
   objects with 12. */
#define SITES_BYTES_ONE   256.0
#define SITES_OBJECTS_ONE 4096.0

/* Which unwinder walks the stacks. */
enum site_unwinder {
    UNWIND_NONE = 0,
    UNWIND_LIBUNWIND = 1, /* used by earlier versions, in saved sessions */
    UNWIND_GLIBC = 2,     /* backtrace(), likewise */
    UNWIND_FRAMES = 3,    /* frame pointers */
    UNWIND_TABLES = 4,    /* unwind tables, and frame pointers where there are none */
    UNWIND_LAST = UNWIND_TABLES
};

/* How long blocks lived: less than 1 ms, 10 ms, 100 ms, 1 s, 10 s, 1 min, 10 min,
   or more. */
#define SITE_LIFETIMES 8u

/* The class of a lifetime. */
static inline unsigned
site_lifetime(uint64_t ns)
{
    static const uint64_t limits[SITE_LIFETIMES - 1] = {
        UINT64_C(1000000),     UINT64_C(10000000),    UINT64_C(100000000),
        UINT64_C(1000000000),  UINT64_C(10000000000), UINT64_C(60000000000),
        UINT64_C(600000000000),
    };
    unsigned class = 0;

    while (class < SITE_LIFETIMES - 1 && ns >= limits[class])
        class++;
    return class;
}

/* Sums over some sampled blocks; each word only grows, except in at_peak. */
struct site_sums {
    uint64_t blocks;    /* sampled blocks */
    uint64_t samples;   /* words of them that were hit */
    uint64_t bytes;     /* weights, fixed point */
    uint64_t objects;
};

/*
 * A site.  Live now: inherited + made - freed - forgotten.  Record 0 takes blocks for
 * which there was no other record; its stack is 0, its size SITE_ANY_SIZE.
 *
 * Live at the peak: at_peak if peak_epoch is head.peak_epoch; otherwise what is live now,
 * because the site has not changed since the peak.
 */
struct site_record {
    uint64_t key;               /* stack id << 32 | coarse bucket + 1; 0: not yet */
    uint64_t peak_epoch;
    uint64_t first_ns, last_ns; /* made, CLOCK_MONOTONIC; 0: none */
    struct site_sums inherited; /* what a forked child had from the start */
    struct site_sums made;
    struct site_sums freed[SITE_LIFETIMES];
    struct site_sums forgotten; /* dormant: live when an awake period began */
    struct site_sums at_peak;
    uint64_t reserved[4];
};
#define SITE_ANY_SIZE 0xffffu

static inline uint64_t
site_key(uint32_t stack, unsigned bucket)
{
    return (uint64_t)stack << 32 | (bucket + 1);
}

/* A live sampled block.  address is cleared before the rest is written and set after
   it. */
struct block_record {
    uint64_t address;   /* 0: free */
    uint64_t size;      /* in the accounting's terms */
    uint64_t born_ns;   /* CLOCK_MONOTONIC; for inherited blocks too */
    uint64_t samples;
    uint32_t site;      /* number of its record */
    uint32_t thread;    /* tid that made it */
    uint32_t function;  /* enum segment_function */
    uint32_t reserved;
};

/* An object in which a pc of a stack lay when the stack was first seen.  The thread that
   saw it enters it; ready is set last. */
#define SITE_BUILD_ID_LEN 32u
#define SITE_PATH_LEN     416u

struct sites_module {
    uint64_t start, end;  /* of its mapping */
    uint64_t bias;        /* address minus the address in the file */
    uint64_t seen_ns;     /* CLOCK_MONOTONIC */
    uint64_t device, inode; /* of the file, 0 unknown */
    uint32_t ready;
    uint32_t path_cut;    /* 1: path is only its beginning */
    uint32_t build_id_size;
    uint32_t reserved;
    unsigned char build_id[SITE_BUILD_ID_LEN];
    char path[SITE_PATH_LEN];
};

struct sites_head {
    double rate;            /* probability that a word is hit; 0: nothing is sampled */
    uint32_t depth;         /* frames kept at most */
    uint32_t unwinder;      /* enum site_unwinder; for samples before it was ready see
                               unknown_stacks */
    uint32_t pool_used;     /* words */
    uint32_t sites_used;
    uint32_t blocks_used;
    uint32_t modules_used;
    uint64_t stacks;        /* in the pool */
    uint64_t sampled;       /* blocks, including the lost ones */
    /* What did not fit: */
    uint64_t lost_stacks;   /* blocks whose stack did not fit: counted as id 0 */
    uint64_t lost_sites;    /* blocks counted in record 0 because all were taken */
    uint64_t lost_blocks;   /* blocks not followed and in no record: no space */
    uint64_t lost_bytes;    /* their weight, fixed point */
    uint64_t lost_modules;  /* objects not entered */
    uint64_t unknown_stacks; /* could not be unwound: no unwinder, or not ready */
    uint64_t unknown_freed; /* marked as sampled, but not found: memory overwritten */
    /* The estimated live bytes, fixed point, and their peak. */
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t peak_ns;       /* when, CLOCK_MONOTONIC */
    uint64_t peak_epoch;    /* number of peaks so far */
    uint64_t has_modules;   /* 0: objects are not entered because glibc is too old */
};

#define SITES_HEAD_SIZE     4096u
#define SITES_MODULES_AT    SITES_HEAD_SIZE
#define SITES_POOL_AT       (SITES_MODULES_AT + SITES_MODULES * 512u)
#define SITES_RECORDS_AT    (SITES_POOL_AT + SITES_POOL_WORDS * 8u)
#define SITES_BLOCKS_AT     (SITES_RECORDS_AT + SITES_RECORDS * 448u)
#define SITES_SIZE          (SITES_BLOCKS_AT + SITES_BLOCKS * 48u)

_Static_assert(sizeof(struct sites_head) <= SITES_HEAD_SIZE, "head fits its page");
_Static_assert(sizeof(struct sites_module) == 512, "module");
_Static_assert(sizeof(struct site_record) == 448, "site record is seven cache lines");
_Static_assert(sizeof(struct block_record) == 48, "block record");
_Static_assert(SITES_SIZE % 4096 == 0, "whole pages");

#endif
