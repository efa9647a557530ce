/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protocol between a watched process and memtop: what lies where in the
 * shared segment.  Written by libmemtop (src/preload), read by src/segment/reader.
 *
 *   1 page       struct segment_header       identity, offsets, why not measured
 *   1 page       struct segment_process      sums that no single thread owns
 *   1 page       uint32_t directory[1024]    state of every shard
 *   3 pages      struct segment_control      the only words memtop writes
 *   30 pages     struct recorder_slot[6][512]   flight recorder
 *   17 pages each   struct shard[1024]       one per thread
 *   only if events were asked for:
 *   16 pages        struct ring[1024]        one per shard
 *   capacity * 32 each   struct event[]      the rings' events
 *   unless sites are off, last:              see sites-layout.h
 *
 * The file is sparse.  From the start only the first SEGMENT_HEAD_SIZE bytes are present
 * (with rings, all of the control pages and of struct ring, too), and whatever else a
 * word in these says is there: recorder_reach, the directory, a shard's cell_pages, the
 * head of the sites.  Neither side touches anything else, because reading a hole through
 * a mapping allocates it, and if the file system is full that is a SIGBUS.
 *
 * All integers are in the byte order of the process (header.byte_order says
 * which), 64-bit words are aligned, times are CLOCK_MONOTONIC nanoseconds
 * unless the name says otherwise, sizes are bytes.
 *
 * Rule for SEGMENT_VERSION: bump it whenever a field changes its place, size
 * or meaning.  A field may be added in reserved space without a bump if zero
 * means "not there".  History:
 *   1  first version
 *   2  dormant processes (control.awake_until_ns, recorder_slot.heap_last, what is
 *      forgotten is not live); ring.full_at
 *   3  sites
 *   4  shard_hot.made is a part of what was shard_hot.usable
 *   5  packed words; the cells of a shard count blocks that come and that go; control
 *      behind the directory; recorder_reach: the recorder is not present from the start
 *   6  sites in every segment, there from the first sample on (header.sites_state), with
 *      tables that grow; weights of blocks, sums of what is live
 */
#ifndef MEMTOP_LAYOUT_H
#define MEMTOP_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "segment/sites-layout.h"

#define SEGMENT_MAGIC      UINT64_C(0x31706f746d656d7f) /* "\x7fmemtop1" */
#define SEGMENT_VERSION    6u
#define SEGMENT_BYTE_ORDER 0x01020304u

/* The functions that are counted, in the order of the report.  The first four are
   memusage's classic rows. */
#define SEGMENT_FUNCTIONS(X)                                                   \
    X(MALLOC, "malloc")                                                        \
    X(REALLOC, "realloc")                                                      \
    X(CALLOC, "calloc")                                                        \
    X(FREE, "free")                                                            \
    X(POSIX_MEMALIGN, "posix_memalign")                                        \
    X(ALIGNED_ALLOC, "aligned_alloc")                                          \
    X(MEMALIGN, "memalign")                                                    \
    X(VALLOC, "valloc")                                                        \
    X(PVALLOC, "pvalloc")

/* The mmap family, counted on request, named as memusage names its rows. */
#define SEGMENT_MAPPINGS(X)                                                    \
    X(MMAP_R, "mmap(r)")                                                       \
    X(MMAP_W, "mmap(w)")                                                       \
    X(MMAP_A, "mmap(a)")                                                       \
    X(MREMAP, "mremap")                                                        \
    X(MUNMAP, "munmap")

enum segment_function {
#define X(id, name) FN_##id,
    SEGMENT_FUNCTIONS(X)
#undef X
    FN_COUNT
};

enum segment_mapping {
#define X(id, name) MAPPING_##id,
    SEGMENT_MAPPINGS(X)
#undef X
    MAPPING_COUNT
};

/* State of the library in the process. */
enum segment_state {
    SEGMENT_EMPTY = 0,
    SEGMENT_PREPARED = 1, /* made by memtop before exec, not yet claimed */
    SEGMENT_ACTIVE = 2,   /* counting */
    SEGMENT_PASSIVE = 3,  /* loaded, but not counting: see reason */
    SEGMENT_EXITED = 4    /* the process ended through exit() */
};

enum segment_accounting {
    ACCOUNTING_NONE = 0,
    ACCOUNTING_REQUESTED = 1, /* sizes as asked for, kept in a trailer */
    ACCOUNTING_USABLE = 2     /* sizes as malloc_usable_size says */
};

/* Why a process that loaded the library is not measured. */
enum segment_reason {
    REASON_NONE = 0,
    REASON_OWN_MALLOC = 1,    /* the executable defines malloc itself */
    REASON_NO_USABLE_SIZE = 2,/* the allocator cannot tell a block's size */
    REASON_NO_MEMORY_FS = 3,  /* no private directory on a memory file system */
    REASON_FILE_LIMIT = 4,    /* RLIMIT_FSIZE is below the segment's size */
    REASON_NO_ROOM = 5,       /* the file system is full */
    REASON_MAP_FAILED = 6,    /* mmap refused (RLIMIT_AS?) */
    REASON_OTHER_PROGRAM = 7, /* MEMUSAGE_PROG_NAME names another program */
    REASON_SANITIZER = 8,     /* the allocator is a sanitizer's */
    REASON_LOADED_LATE = 9    /* the library came behind libc: no malloc reaches it */
};

/* How this process came to be, in header.origin. */
enum segment_origin {
    ORIGIN_EXEC = 0,      /* a program started under the library */
    ORIGIN_FORK = 1,      /* fork(): exact baseline */
    ORIGIN_RAW_CLONE = 2  /* clone() behind libc's back: approximate baseline */
};

#define SEGMENT_PAGE          4096u
#define SEGMENT_ALLOCATOR_LEN 128u
#define SEGMENT_PROGRAM_LEN   512u
#define SEGMENT_OPTIONS_LEN   512u
#define SEGMENT_ARGS_LEN      2048u

struct segment_header {
    uint64_t magic;
    uint32_t version;
    uint32_t byte_order;
    uint64_t total_size;
    uint32_t header_size;
    uint32_t page_size;       /* of the process; offsets use SEGMENT_PAGE */

    /* Offsets from the segment's start; 0: the part is not there. */
    uint64_t control_offset;
    uint64_t process_offset;
    uint64_t directory_offset;
    uint64_t recorder_offset;
    uint64_t shards_offset;
    uint64_t sites_offset;    /* sampled allocations, sites_size bytes ... */
    uint64_t modules_offset;  /* ... of which this is the table of objects */
    uint64_t rings_offset;    /* event rings */
    uint64_t sites_size;
    uint64_t modules_size;
    uint64_t rings_size;
    uint32_t shard_size;
    uint32_t shard_count;
    uint32_t recorder_levels;
    uint32_t recorder_slots;
    uint64_t recorder_slot_ns;
    uint64_t ring_capacity;   /* events a ring, a power of two; 0: no rings */

    /* Identity of the process image. */
    uint32_t state;           /* enum segment_state */
    uint32_t origin;          /* enum segment_origin */
    uint32_t pid;             /* in its own pid namespace */
    uint32_t parent;
    uint32_t generation;
    uint32_t uid;             /* effective, at creation */
    uint64_t pid_namespace;   /* inode of /proc/self/ns/pid, 0 if unknown */
    uint64_t created_boottime_ns;
    uint64_t created_ns;      /* the same time on CLOCK_MONOTONIC */
    uint64_t created_ticks;   /* and on the clock of events */
    uint32_t keeper;          /* pid of the memtop that unlinks it, or 0 */
    uint32_t accounting;      /* enum segment_accounting */
    uint32_t reason;          /* enum segment_reason */
    uint32_t flags;           /* SEGMENT_FLAG_* */
    uint32_t sites_state;     /* enum sites_state */
    uint32_t sites_reserved;
    char allocator[SEGMENT_ALLOCATOR_LEN]; /* object holding the next malloc */
    char program[SEGMENT_PROGRAM_LEN];     /* /proc/self/exe */
    char options[SEGMENT_OPTIONS_LEN];     /* MEMTOP_OPTIONS */
    uint32_t args_size;                    /* bytes used in args */
    uint32_t args_cut;                     /* 1: there were more */
    char args[SEGMENT_ARGS_LEN];           /* NUL-terminated, one after the other */
};
#define SEGMENT_FLAG_MMAP     1u /* the mmap family is counted */
#define SEGMENT_FLAG_EXACT    2u /* peak exact with threads too */
#define SEGMENT_FLAG_OUTPUT   4u /* MEMUSAGE_OUTPUT is set and was not honoured */
#define SEGMENT_FLAG_NO_CLOCK 8u /* no vdso clock: no flight recorder */
#define SEGMENT_FLAG_TICKS   16u /* events carry TSC ticks, else ns */
#define SEGMENT_FLAG_DORMANT 32u /* counts only while watched */
#define SEGMENT_FLAG_MOVED   64u /* MEMTOP_DIR could not be used */
#define SEGMENT_FLAG_SHADOW  128u /* sizes are kept in private memory beside the heap: a
                                     byte for SEGMENT_SHADOW_UNIT bytes of it */
#define SEGMENT_SHADOW_UNIT  32u

/* One shard per thread. */
#define SHARD_COUNT 1024u   /* shard 0 is shared by all and uses atomics */
#define SHARD_GROUPS 16u    /* the last ones, too, by threads for which none was free */
#define SHARD_OWN_END (SHARD_COUNT - SHARD_GROUPS)

/* Written by memtop; the process must not trust it. */
struct segment_control {
    uint64_t awake_until_ns;  /* a dormant process's lease, CLOCK_MONOTONIC */
    uint64_t ring_tail[SHARD_COUNT]; /* events taken out of each ring */
};

/*
 * Sizes are counted in cells 16 bytes wide below 64 KiB, as memusage does; above, each
 * power of two is cut into four.  A *coarse* bucket is such a quarter of a power of two
 * everywhere (never narrower than a cell), so a coarse bucket is always a union of cells.
 */
#define HISTOGRAM_CELL_BYTES  16u
#define HISTOGRAM_FINE        4096u     /* cells below HISTOGRAM_LARGE */
#define HISTOGRAM_LARGE       65536u
#define HISTOGRAM_COARSE      172u      /* coarse buckets, sizes below 2^47 */
#define HISTOGRAM_COARSE_LARGE 44u      /* coarse bucket of HISTOGRAM_LARGE */
#define HISTOGRAM_CELLS                                                        \
    (HISTOGRAM_FINE + HISTOGRAM_COARSE - HISTOGRAM_COARSE_LARGE)

/* The coarse bucket of an existing block's size, which is below 2^47. */
static inline unsigned
histogram_coarse_block(uint64_t size)
{
    uint64_t units = size / HISTOGRAM_CELL_BYTES;
    unsigned octave = 63u - (unsigned)__builtin_clzll(units | 4);

    return (octave - 2) * 4 + (unsigned)(units >> (octave - 2));
}

/* The coarse bucket of any size. */
static inline unsigned
histogram_coarse(uint64_t size)
{
    unsigned bucket = histogram_coarse_block(size);

    return bucket < HISTOGRAM_COARSE ? bucket : HISTOGRAM_COARSE - 1;
}

/* The smallest size that falls into a coarse bucket. */
static inline uint64_t
histogram_coarse_floor(unsigned bucket)
{
    unsigned octave = bucket < 8 ? 2 : bucket / 4 + 1;

    return (uint64_t)(bucket - (octave - 2) * 4) << (octave - 2) << 4;
}

/* The cell of a size. */
static inline unsigned
histogram_cell(uint64_t size)
{
    return size < HISTOGRAM_LARGE
               ? (unsigned)(size / HISTOGRAM_CELL_BYTES)
               : HISTOGRAM_FINE - HISTOGRAM_COARSE_LARGE + histogram_coarse(size);
}

/* The coarse bucket that holds a cell. */
static inline unsigned
histogram_cell_coarse(unsigned cell)
{
    return cell < HISTOGRAM_FINE ? histogram_coarse((uint64_t)cell * HISTOGRAM_CELL_BYTES)
                                 : cell - HISTOGRAM_FINE + HISTOGRAM_COARSE_LARGE;
}

/*
 * What a thread writes at every call.  The first cache line is for malloc and free: each
 * word of it is changed by single instructions, so nothing is lost to a signal handler.
 * The rest are the totals, into which gone and came are folded now and then.  sequence is
 * odd while that is done, and in calls of all other functions, which change the totals
 * (seqlock.h).  How to read a hot block: live.h.
 */
struct shard_hot {
    uint64_t sequence;
    uint64_t gone;              /* packed (packed.h): blocks freed since the last fold */
    uint64_t calloced;          /* packed: blocks that calloc made since the last fold */
    uint64_t came;              /* packed: all blocks made since the last fold: the others
                                   are malloc's */
    int64_t top;                /* packed: the highest came - gone, see live.h */
    int64_t gone_space;         /* what the blocks of gone and of came occupy, 8 bytes */
    int64_t came_space;         /* a block more than is usable, less the number at which
                                   something is due: it is when they are >= 0 */
    uint64_t stack_pointer;     /* at the last call that allocates: depth is stack_base
                                   minus this */
    uint64_t calls[FN_COUNT];
    uint64_t bytes[FN_COUNT];   /* successful; realloc: growth, free: size freed */
    uint64_t realloc_shrunk;    /* bytes given back by shrinking reallocs */
    uint64_t realloc_fresh;     /* successful realloc(NULL, n) */
    uint64_t realloc_freed;     /* realloc(p, 0) that freed */
    uint64_t realloc_inplace;   /* memusage's nomove: address unchanged */
    uint64_t realloc_dec;       /* shrinking reallocs */
    uint64_t free_null;         /* free(NULL) */
    uint64_t failed_new;        /* failed calls that would have made a block */
    uint64_t unmatched;         /* frees and reallocs of blocks not counted */
    uint64_t usable;            /* with came_space less gone_space, and their 8 bytes a
                                   block: usable bytes allocated less freed, mod 2^64 */
    int64_t delta;              /* live bytes in the totals, not yet in the process's */
    uint64_t quantum;           /* a delta beyond this is added to the process's */
    uint64_t stack_peak;        /* greatest depth */
};

/* Counts of one size: calls that allocate, failed ones included, and blocks freed. */
struct shard_cell {
    uint64_t came;
    uint64_t gone;
};

/* A page of cells; the first, of the smallest sizes, is present if its shard is. */
#define CELLS_A_PAGE (SEGMENT_PAGE / (unsigned)sizeof(struct shard_cell))
#define CELL_PAGES   (HISTOGRAM_FINE / CELLS_A_PAGE)

/* 64-bit words left of a shard's first page, beside the hot block, 45 words and the
   coarse cells. */
#define SHARD_REST                                                                       \
    ((SEGMENT_PAGE - sizeof(struct shard_hot)) / sizeof(uint64_t) - 45                   \
     - 2 * HISTOGRAM_COARSE)

struct shard {
    struct shard_hot hot;
    /* From here on single words, read and written relaxed, each monotonic. */
    uint64_t failed[FN_COUNT];
    uint64_t failed_bytes[FN_COUNT];  /* asked for in failed calls */
    uint64_t mapping_calls[MAPPING_COUNT];
    uint64_t mapping_bytes[MAPPING_COUNT];
    uint64_t mapping_failed[MAPPING_COUNT];
    uint64_t mremap_inplace;
    uint64_t mremap_dec;
    uint32_t thread;            /* tid of the owner; stays after its end */
    uint32_t owners;            /* threads that have owned this shard */
    uint64_t claimed_ns;
    uint64_t stack_base;        /* address where the owner's stack begins */
    uint64_t stack_limit;       /* greatest depth believed; beyond it is another stack */
    /* Blocks of the program's own pools, which it reports by memprof(3): not part of the
       counters above. */
    uint64_t custom_made;
    uint64_t custom_made_bytes;
    uint64_t custom_freed;
    uint64_t custom_freed_bytes;
    uint32_t cell_pages;        /* bit i: page i of the cells is present.  Touching
                                   another one would allocate it, or kill the process */
    uint32_t cell_pages_refused;/* bit i: there was no memory for it */
    /* By coarse bucket: sizes from HISTOGRAM_LARGE on, and those whose page of cells is
       not present. */
    struct shard_cell coarse[HISTOGRAM_COARSE];
    uint64_t update_frame;      /* in an update: the stack pointer where it began, or 0
                                   if that is not known */
    uint64_t rest[SHARD_REST];  /* of the page */
    struct shard_cell cells[HISTOGRAM_FINE];
};

/* The part that is present as soon as the shard is used. */
#define SHARD_NEAR_SIZE (2u * SEGMENT_PAGE)
#define SHARD_SIZE      (17u * SEGMENT_PAGE)

/* directory[i] */
enum shard_state {
    SHARD_UNUSED = 0,  /* never touched: its pages may not exist */
    SHARD_FREE = 1,    /* present, its sums count, no thread owns it */
    SHARD_OWNED = 2,
    SHARD_REFUSED = 3  /* there was no memory for it */
};

/*
 * Programs that this image executes by exec and posix_spawn.  A successful exec does not
 * return, so its mark is set before the call and taken back if the call fails: a mark
 * that is still there when the image is gone says what replaced it.  Children made by
 * vfork() share our memory until they execute, and so are counted here.
 */
#define EXEC_PATH_LEN 256u
#define EXEC_NAME_LEN 28u
#define EXEC_RECENT   8u

struct segment_exec {
    uint32_t executing;         /* exec calls of the process itself under way */
    uint32_t flags;             /* EXEC_*, of the last of them */
    char path[EXEC_PATH_LEN];   /* what it executes, as named in the call, maybe cut */
    uint64_t spawned;           /* exec calls by children without a segment, spawns */
    uint64_t spawn_failed;      /* how many of these failed */
    struct {
        uint32_t pid;           /* of the child, in its own pid namespace; 0: failed */
        char name[EXEC_NAME_LEN]; /* the end of the path */
    } recent[EXEC_RECENT];      /* the latest; index is spawned % EXEC_RECENT */
};
#define EXEC_PRELOAD_REMOVED 1u /* the new environment does not preload the library */

/* Sums that no single thread owns. */
struct segment_process {
    int64_t current;            /* folded live bytes, baseline included */
    uint64_t peak;              /* highest current */
    uint64_t stack_peak;        /* of threads that have ended */
    uint32_t threads;           /* registered now */
    uint32_t threads_peak;
    uint64_t threads_started;
    uint64_t threads_merged;    /* threads that had to share a shard */
    uint32_t shards_used;       /* highest index ever claimed + 1 */
    uint32_t log_error;         /* errno that ended the text log; 0: none has */
    /* Flight recorder: the open slot. */
    uint64_t recorder_end;      /* CLOCK_MONOTONIC end of the open slot */
    uint32_t recorder_owner;    /* 0, or taken by CAS by the thread pushing: its shard's
                                   index + 1 */
    uint32_t overview_sequence; /* odd while the overview is merged */
    uint64_t recorder_calls;    /* each thread adds its own now and then */
    uint64_t recorder_heap_max; /* since the slot opened */
    uint64_t recorder_stack_max;
    uint64_t recorder_calls_before; /* recorder_calls when the slot opened */
    uint64_t overview_ns;       /* length of the overview's slots */
    uint64_t mapped;            /* usable bytes of live blocks with a mapping of their
                                   own, mod 2^64; with trailers and glibc only */
    uint64_t exited_ns;         /* CLOCK_MONOTONIC, when it called exit() and had a clock;
                                   else 0 */
    uint64_t not_counted;       /* blocks for whose sizes there was no memory */
    uint32_t recorder_reach[6]; /* slots of each level that are present */
    /* Live bytes and blocks that a forked child started with. */
    uint64_t baseline_bytes;
    uint64_t baseline_blocks;
    uint64_t baseline_usable;
    uint64_t baseline_sizes[HISTOGRAM_COARSE];
    /* For a dormant process; 0 in others. */
    uint32_t wake_sequence;     /* odd while what follows is written */
    uint32_t wakes;             /* awake periods, the present one included */
    uint64_t awake_since_ns;    /* when the last of them began ... */
    uint64_t asleep_since_ns;   /* ... and ended; 0: it lasts */
    uint64_t forgotten_bytes;   /* live by the sums when it began: no longer */
    uint64_t forgotten_blocks;  /* counted */
    uint64_t forgotten_usable;
    uint64_t forgotten_sizes[HISTOGRAM_COARSE];
    /* Blocks of the program's own pools. */
    uint64_t custom_carried;    /* live at the fork, less those forgotten: plus the
                                   shards' sums, what is live now, mod 2^64 */
    uint64_t custom_carried_bytes;
    uint64_t custom_unmatched;  /* reported as freed but unknown; or there was no space */
    /* The program's own profiles. */
    uint64_t profile_lost;      /* samples for which there was no space */
    struct segment_exec exec;
    uint64_t updates_left;      /* updates of shards that a jump out of a signal handler,
                                   or the end of the thread, has cut off */
};

/*
 * The flight recorder.  Levels 0 to 4 hold the last slots of RECORDER_SLOT_NS << level
 * each, at most 512; with n slots the one of period k is at (k - 1) % n, so gaps need no
 * filling.  The last level is the overview of the whole run: slots of overview_ns from
 * its start.  When they are full, neighbours are merged and overview_ns doubles
 * (overview_sequence is odd meanwhile).
 *
 * A level's n is recorder_reach[level]; the pages behind these slots may not exist. Level
 * 0 begins with a page of slots, and each other level begins when the one below it is
 * full, with all that is in there.  Where there is no memory, or the program has
 * sandboxed itself, a level stays as short as it is, or is left out.  n grows only while
 * no period is above it.
 *
 * period is written last: a slot whose period changes while it is copied is skipped.
 */
#define RECORDER_LEVELS   6u
#define RECORDER_OVERVIEW (RECORDER_LEVELS - 1)
#define RECORDER_SLOTS    512u
#define RECORDER_SLOT_NS  (UINT64_C(1) << 27) /* 134 ms, a shift to divide by */
#define OVERVIEW_NS_MIN   (RECORDER_SLOT_NS << RECORDER_OVERVIEW)
#define OVERVIEW_NS_MAX   (UINT64_C(1) << 50) /* 512 times 13 days */
#define RECORDER_ASLEEP   UINT64_MAX
#define RECORDER_PAGE_SLOTS (SEGMENT_PAGE / 40u) /* whole ones in a level's first page */

struct recorder_slot {
    uint64_t period;    /* time since created_ns / slot length + 1; 0: empty */
    uint64_t calls;     /* in this slot */
    uint64_t heap_last; /* RECORDER_ASLEEP: the process fell asleep here, and nothing is
                           known until the next slot */
    uint64_t heap_max;
    uint64_t stack_max;
};

/*
 * Events record what every single call did, if that was asked for.  There is one ring per
 * shard, written by the thread that owns the shard, emptied by memtop.  Ring 0 is written
 * by all threads that have no shard of their own: its events carry a mark that says when
 * they are complete.
 */
enum event_kind {
    /* 0 .. FN_COUNT - 1: a call of that function made a block; FN_FREE: one
       is about to be freed.  address and size are the block's. */
    EVENT_REALLOC_FROM = 32, /* realloc is about to release this block ... */
    EVENT_REALLOC_TO = 33,   /* ... and has made this block of it: next in the same
                                ring */
    EVENT_REALLOC_FREED = 34,/* ... or realloc(p, 0) has freed it ... */
    EVENT_REALLOC_KEPT = 35, /* ... or has failed: the old one is still there */
    EVENT_CUSTOM_MADE = 36,  /* a block of one of the program's own pools; it may lie
                                inside a block of malloc's, even at the same address */
    EVENT_CUSTOM_FREED = 37, /* ... is freed */
    EVENT_THREAD = 38,       /* the ring is now of the thread whose id is size */
};

struct event {
    uint64_t ticks;     /* see SEGMENT_FLAG_TICKS */
    uint64_t address;
    uint64_t size;
    uint32_t depth;     /* of the thread's stack; 0 unknown */
    uint16_t mark;      /* ring 0: the lap, from 1, once complete; otherwise 0 */
    uint8_t kind;       /* enum event_kind */
    uint8_t alignment;  /* log2 of the alignment asked for; 0: none */
};

struct ring {
    uint64_t head;      /* events ever written; ring 0: ever begun */
    uint64_t full_at;   /* head at which it will be full, as far as the owner knows */
    uint64_t lost;      /* events that found the ring full */
    uint64_t given_up;  /* head when the last wait for space was in vain */
    uint64_t reserved[4];
};

#define RING_CAPACITY_DEFAULT 16384u      /* half a MiB a thread */
#define RING_CAPACITY_MIN     128u        /* whole pages */
#define RING_CAPACITY_MAX     (1u << 20)

#define PROCESS_OFFSET   (1 * SEGMENT_PAGE)
#define DIRECTORY_OFFSET (PROCESS_OFFSET + SEGMENT_PAGE)
#define CONTROL_OFFSET   (DIRECTORY_OFFSET + SEGMENT_PAGE)
#define CONTROL_SIZE     (3 * SEGMENT_PAGE)
#define RECORDER_OFFSET  (CONTROL_OFFSET + CONTROL_SIZE)
#define SEGMENT_HEAD_SIZE (CONTROL_OFFSET + SEGMENT_PAGE) /* with the lease */
#define RECORDER_LEVEL_SIZE (RECORDER_SLOTS * 40u)
#define SHARDS_OFFSET    (RECORDER_OFFSET + RECORDER_LEVELS * RECORDER_LEVEL_SIZE)
#define SEGMENT_SIZE     (SHARDS_OFFSET + (uint64_t)SHARD_COUNT * SHARD_SIZE)
#define RINGS_OFFSET     SEGMENT_SIZE
#define EVENTS_OFFSET    (RINGS_OFFSET + SHARD_COUNT * 64u)

/* Where the rings of capacity events each end (0: no rings). */
static inline uint64_t
segment_rings_end(uint64_t capacity)
{
    if (capacity == 0)
        return SEGMENT_SIZE;
    return EVENTS_OFFSET + (uint64_t)SHARD_COUNT * capacity * 32;
}

/* Size of a segment with rings of that capacity, and with or without sites. */
static inline uint64_t
segment_size(uint64_t capacity, int sites)
{
    return segment_rings_end(capacity) + (sites ? SITES_SIZE : 0);
}

/* Is this a capacity that a segment may have? */
static inline int
ring_capacity_valid(uint64_t capacity)
{
    return capacity == 0
           || (capacity >= RING_CAPACITY_MIN && capacity <= RING_CAPACITY_MAX
               && (capacity & (capacity - 1)) == 0);
}

_Static_assert(sizeof(struct segment_header) <= SEGMENT_PAGE, "header fits its page");
_Static_assert(sizeof(struct segment_control) <= CONTROL_SIZE, "control fits its pages");
_Static_assert(offsetof(struct segment_control, awake_until_ns) == 0, "in the head");
_Static_assert(sizeof(struct event) == 32, "event");
_Static_assert(sizeof(struct ring) == 64, "a ring's state is a cache line");
_Static_assert(sizeof(struct segment_process) <= SEGMENT_PAGE,
               "process block fits its page");
_Static_assert(SHARD_COUNT * sizeof(uint32_t) == SEGMENT_PAGE, "directory is a page");
_Static_assert(sizeof(struct recorder_slot) == 40, "recorder slot");
_Static_assert(sizeof((struct segment_process){0}.recorder_reach) / 4 == RECORDER_LEVELS,
               "a reach a level");
_Static_assert(RECORDER_LEVEL_SIZE % SEGMENT_PAGE == 0, "a level is whole pages");
_Static_assert(offsetof(struct shard_hot, calls) == 64, "malloc and free use one line");
_Static_assert(offsetof(struct shard, cells) == SEGMENT_PAGE, "a page before the cells");
_Static_assert(sizeof(struct shard) == SHARD_SIZE, "a shard is whole pages");
_Static_assert(CELL_PAGES <= 32, "a bit a page");

#endif
