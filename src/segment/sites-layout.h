/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The part of a segment for sampled allocations (layout.h), behind the rings.  Offsets
 * from header.sites_offset:
 *
 *   0           struct sites_head            what is sampled, totals, what was lost
 *   + 1 page    struct sites_module[4096]    objects in which stacks lie
 *   + 2 MiB     struct site_place[65536]     places that the process itself has named
 *   + 34 MiB    uint64_t pool[8M]            call stacks, one after the other
 *   + 98 MiB    struct site_record[131072]   one per stack and size
 *   + 170 MiB   struct block_record[16M]     sampled blocks alive now
 *
 * These are the tables' largest sizes; the file is sparse.  Nothing of it is there before
 * header.sites_state is SITES_READY: until then readers touch nothing of it.  The tables
 * are filled from their beginning, *_used says how far, and little more of them has
 * pages.  Nothing is ever moved: numbers and offsets stay valid as long as the segment.
 *
 * A stack is identified by its offset in the pool, in words.  pool[id] is its header (the
 * depth in the low 8 bits, a hash above); its pcs follow, innermost first.  They are
 * return addresses, the first one that of the call of malloc.  Id 0 is the unknown stack:
 * nothing could unwind yet, or the pool was full.  If two threads meet the same stack for
 * the first time at once it may get two ids.
 *
 * A frame of an interpreter's language (Python) stands in a stack instead of those of the
 * interpreter's loop, as the number of a site_place with a mark: site_place_word().
 *
 * A sampled block stands for its Horvitz-Thompson weight: with w = 1 + ceil(size / 8)
 * words, each sampled with probability rate, a block is sampled at all with probability p
 * = 1 - (1 - rate)^w, and stands for 1/p objects and size/p bytes (D. Horvitz, D.
 * Thompson, JASA 47, 1952).  The rate may change while the process runs.  A block's rate
 * is the one in force when the distance to its first hit was drawn, so it depends on the
 * past only, and the estimates stay unbiased.  When the tables have reached their largest
 * permitted size the rate is halved, and each live sample survives with the probability
 * p(new rate) / p(its rate) and then stands for 1/p(new rate): the samples are thinned.
 * samples, the number of a block's words that were hit, is what OCaml's Gc.Memprof calls
 * n_samples.
 */
#ifndef MEMTOP_SITES_LAYOUT_H
#define MEMTOP_SITES_LAYOUT_H

#include <stdint.h>

#ifndef SITES_SMALL
#define SITES_MODULES     4096u
#define SITES_PLACES      (1u << 16)
#define SITES_POOL_WORDS  (1u << 23)
#define SITES_RECORDS     (1u << 17)
#define SITES_BLOCKS      (1u << 24)
#else /* tests/fuzz: small, so that all limits are reached */
#define SITES_MODULES     8u
#define SITES_PLACES      8u
#define SITES_POOL_WORDS  512u
#define SITES_RECORDS     64u
#define SITES_BLOCKS      256u
#endif

#define SITES_DEPTH_DEFAULT 24u
#define SITES_DEPTH_MAX     64u

/* Weights are kept as fixed-point numbers: bytes with 8 bits behind the point,
   objects with 12, squares of objects with 4. */
#define SITES_BYTES_ONE   256.0
#define SITES_OBJECTS_ONE 4096.0
#define SITES_SQUARES_ONE 16.0

/* Whether a process samples, in header.sites_state. */
enum sites_state {
    SITES_OFF = 0,      /* it was told not to */
    SITES_WAITING = 1,  /* it does, but no sample was due yet */
    SITES_READY = 2,    /* its tables are there */
    SITES_NO_SPACE = 3, /* there was no memory for the tables, or no addresses */
    SITES_SHUT_IN = 4,  /* it has forbidden itself system calls before the first sample */
    SITES_OLD_KERNEL = 5, /* the kernel is older than Linux 5.14: only if asked to */
    SITES_FILE_LIMIT = 6, /* RLIMIT_FSIZE is below the segment's size with tables */
    SITES_CUT_OFF = 7 /* it was forked by a signal handler that interrupted a sample */
};

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

/* Sums over some sampled blocks; each word only grows, except in live and at_peak. */
struct site_sums {
    uint64_t blocks;    /* sampled blocks */
    uint64_t samples;   /* words of them that were hit */
    uint64_t bytes;     /* weights, fixed point */
    uint64_t objects;
    uint64_t squares; /* of the weights in objects, for the variance: w (w - 1) a block */
};

/*
 * A site.  What was made is counted with the weights of that time; live with the weights
 * of now, which thinning changes.  Freed: inherited + made - forgotten - live, at least
 * 0.  Record 0 takes blocks for which there was no other record; its stack is 0, its size
 * SITE_ANY_SIZE.
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
    struct site_sums live;
    struct site_sums at_peak;
    uint64_t reserved[3];
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
    double weight;      /* objects it stands for, at least 1; 0: it is being removed */
    uint32_t samples;   /* words that were hit */
    uint32_t site;      /* number of its record */
    uint32_t thread;    /* tid that made it */
    uint32_t function;  /* enum segment_function */
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

/* A function and a line in it.  The thread that enters it sets ready last; then it never
   changes.  Texts are UTF-8, unsanitised, and NUL-terminated unless they are cut. */
#define SITE_PLACE_NAME 184u
#define SITE_PLACE_FILE 312u

struct site_place {
    uint32_t line;        /* 0 unknown */
    uint32_t first_line;  /* of the function */
    uint32_t ready;
    uint32_t reserved;
    char name[SITE_PLACE_NAME];
    char file[SITE_PLACE_FILE];
};

/* No address has this bit.  Made so that sites_call() keeps the number. */
#define SITE_PLACE_MARK (UINT64_C(1) << 62)

static inline uint64_t
site_place_word(uint32_t place)
{
    return SITE_PLACE_MARK | ((uint64_t)place * 2 + 1);
}

static inline int
site_is_place(uint64_t word)
{
    return (word & SITE_PLACE_MARK) != 0;
}

static inline uint32_t
site_place_of(uint64_t word)
{
    return (uint32_t)((word & ~SITE_PLACE_MARK) / 2);
}

struct sites_head {
    double rate; /* probability that a word is hit, now; 0: nothing is sampled */
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
    uint64_t adaptive;      /* 1: the library chooses the rate, within its budget */
    uint64_t rate_changes;
    uint64_t thinned;       /* samples removed because the rate was halved */
    uint64_t thinned_live;  /* of them, those not freed since (approximately) */
    uint64_t places_used;
    uint64_t lost_places;   /* frames without a place, because there was no space */
    uint64_t python;        /* the interpreter's PY_VERSION_HEX; 0: none that is walked */
    uint64_t memory;        /* bytes the tables have, in the segment and privately ... */
    uint64_t memory_limit;  /* ... and may have now */
};

#define SITES_HEAD_SIZE     4096u
#define SITES_MODULES_AT    SITES_HEAD_SIZE
#define SITES_PLACES_AT     (SITES_MODULES_AT + SITES_MODULES * 512u)
#define SITES_POOL_AT       (SITES_PLACES_AT + SITES_PLACES * 512u)
#define SITES_RECORDS_AT    (SITES_POOL_AT + SITES_POOL_WORDS * 8u)
#define SITES_BLOCKS_AT     (SITES_RECORDS_AT + SITES_RECORDS * 576u)
#define SITES_SIZE          (SITES_BLOCKS_AT + SITES_BLOCKS * 48u)

_Static_assert(sizeof(struct sites_head) <= SITES_HEAD_SIZE, "head fits its page");
_Static_assert(sizeof(struct sites_module) == 512, "module");
_Static_assert(sizeof(struct site_place) == 512, "place");
_Static_assert(sizeof(struct site_record) == 576, "site record is nine cache lines");
_Static_assert(sizeof(struct block_record) == 48, "block record");
_Static_assert(SITES_SIZE % 4096 == 0, "whole pages");

#endif
