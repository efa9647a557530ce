/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One call of the allocator, or a few; the test checks what each does to the
   counters. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "cases.h"

void free_sized(void *block, size_t size) __attribute__((weak));
void free_aligned_sized(void *block, size_t align, size_t size) __attribute__((weak));
void cfree(void *block) __attribute__((weak));

#define HUGE ((size_t)1 << 62)

static volatile size_t huge = HUGE;
static void *block;

static void nothing(void) {}
static void malloc_one(void) { block = malloc(100); REQUIRE(block != NULL); }
static void malloc_zero(void) { block = malloc(0); REQUIRE(block != NULL); }
static void malloc_free(void) { free(malloc(100)); }
static void malloc_fails(void) { REQUIRE(malloc(huge) == NULL && errno == ENOMEM); }
static void malloc_max(void) { REQUIRE(malloc(huge * 4 - 1) == NULL && errno == ENOMEM); }
static void calloc_one(void) { block = calloc(3, 50); REQUIRE(block != NULL); }
static void calloc_fails(void) { REQUIRE(calloc(1, huge) == NULL && errno == ENOMEM); }
static void
calloc_overflow(void) { REQUIRE(calloc(huge, 16) == NULL && errno == ENOMEM); }
static void free_null(void) { free(NULL); free(NULL); free(NULL); }
static void realloc_null(void) { block = realloc(NULL, 100); REQUIRE(block != NULL); }
static void realloc_null_zero(void) { block = realloc(NULL, 0); REQUIRE(block != NULL); }
static void
realloc_null_fails(void) { REQUIRE(realloc(NULL, huge) == NULL && errno == ENOMEM); }

static void
calloc_zeroed(void)
{
    unsigned char *bytes;

    for (int i = 0; i < 64; i++) {
        bytes = malloc(1000);
        memset(bytes, 0xff, malloc_usable_size(bytes));
        free(bytes);
        bytes = calloc(10, 100);
        for (size_t at = 0; at < 1000; at++)
            REQUIRE(bytes[at] == 0);
        free(bytes);
    }
}

static void
realloc_grow(void)
{
    block = malloc(100);
    block = realloc(block, 5000);
    REQUIRE(block != NULL);
}

static void
realloc_moves(void)
{
    unsigned char *bytes = malloc(100), *moved;
    void *wall = malloc(100);

    memset(bytes, 7, 100);
    moved = realloc(bytes, 200000);
    REQUIRE(moved != bytes && wall != NULL);
    for (int i = 0; i < 100; i++)
        REQUIRE(moved[i] == 7);
}

static void
realloc_shrink(void)
{
    block = malloc(1000);
    block = realloc(block, 10);
    free(block);
}

static void
realloc_same(void)
{
    block = malloc(100);
    REQUIRE(realloc(block, 100) == block);
}

static void
realloc_zero(void)
{
    block = malloc(100);
    REQUIRE(realloc(block, 0) == NULL);
}

/* After a failed realloc() the old block remains, and still counts. */
static void
realloc_fails(void)
{
    block = malloc(100);
    REQUIRE(realloc(block, huge) == NULL && errno == ENOMEM);
    free(block);
}

static void
reallocarray_one(void)
{
    block = reallocarray(NULL, 3, 50);
    block = reallocarray(block, 4, 50);
    REQUIRE(block != NULL);
    REQUIRE(reallocarray(block, huge, 16) == NULL && errno == ENOMEM);
    free(block);
}

static void
reallocarray_null_overflow(void)
{
    REQUIRE(reallocarray(NULL, huge, 16) == NULL && errno == ENOMEM);
}

static void
aligned_all(void)
{
    void *blocks[5];

    REQUIRE(posix_memalign(&blocks[0], 64, 10) == 0 && (uintptr_t)blocks[0] % 64 == 0);
    blocks[1] = aligned_alloc(128, 256);
    REQUIRE(blocks[1] != NULL && (uintptr_t)blocks[1] % 128 == 0);
    blocks[2] = memalign(4096, 30);
    REQUIRE(blocks[2] != NULL && (uintptr_t)blocks[2] % 4096 == 0);
    blocks[3] = valloc(40);
    REQUIRE(blocks[3] != NULL && (uintptr_t)blocks[3] % 4096 == 0);
    blocks[4] = pvalloc(50);
    REQUIRE(blocks[4] != NULL && (uintptr_t)blocks[4] % 4096 == 0);
    for (int i = 0; i < 5; i++)
        free(blocks[i]);
}

static void
aligned_fail(void)
{
    void *const before = &block;
    void *kept = before;

    REQUIRE(posix_memalign(&kept, 64, huge) == ENOMEM && kept == before);
    REQUIRE(posix_memalign(&kept, 3, 10) == EINVAL && kept == before);
    REQUIRE(aligned_alloc(64, huge) == NULL && errno == ENOMEM);
    REQUIRE(memalign(64, huge) == NULL && errno == ENOMEM);
    REQUIRE(valloc(huge) == NULL && errno == ENOMEM);
    REQUIRE(pvalloc(huge) == NULL && errno == ENOMEM);
    REQUIRE(pvalloc(SIZE_MAX) == NULL && errno == ENOMEM);
}

/* The whole last page belongs to the program. */
static void
pvalloc_page(void)
{
    unsigned char *pages[8];

    for (int i = 0; i < 8; i++) {
        pages[i] = pvalloc(5000);
        REQUIRE((uintptr_t)pages[i] % 4096 == 0 && malloc_usable_size(pages[i]) >= 8192);
        memset(pages[i], 0xa5, 8192);
    }
    for (int i = 0; i < 8; i++)
        free(pages[i]);
}

static void
free_forms(void)
{
    if (cfree != NULL)
        cfree(malloc(10));
    free_sized(malloc(20), 20);
    free_aligned_sized(aligned_alloc(64, 64), 64, 64);
}

/* A program may fill all the bytes that malloc_usable_size() grants. */
static void
usable_filled(void)
{
    static void *blocks[600];
    size_t count = 0;

    for (size_t size = 0; size < 300000; size = size * 5 / 4 + 1) {
        blocks[count++] = malloc(size);
        blocks[count++] = calloc(1, size);
        blocks[count++] = realloc(NULL, size);
        blocks[count++] = memalign(64, size);
        REQUIRE(posix_memalign(&blocks[count++], 4096, size) == 0);
        blocks[count++] = valloc(size);
        for (size_t i = count - 6; i < count; i++) {
            REQUIRE(malloc_usable_size(blocks[i]) >= size);
            memset(blocks[i], (int)i, malloc_usable_size(blocks[i]));
        }
    }
    for (size_t i = 0; i < count; i++) {
        unsigned char *bytes = blocks[i];
        for (size_t at = 0; at < malloc_usable_size(bytes); at++)
            REQUIRE(bytes[at] == (i & 255));
        free(bytes);
    }
    REQUIRE(malloc_usable_size(NULL) == 0);
}

static void
sizes(void)
{
    static const size_t asked[] = {0,  15, 16, 31, 32, 33, 64, 4095, 65519, 65520, 65535,
                                   65536, 81919, 81920, 1 << 20};

    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        malloc(asked[i]);
    malloc(huge);
}

/* Random sizes, with the program's own count to compare. */
static void
random_walk(void)
{
    static void *blocks[256];
    static size_t held[256];
    uint64_t seed = 42, live = 0, peak = 0, count = 0;

    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned slot = (unsigned)(seed >> 33) % 256;
        size_t size = (size_t)(seed >> 41) % (slot < 8 ? 100000 : 600);
        if (seed >> 62 == 0 && blocks[slot] != NULL) {
            void *moved = realloc(blocks[slot], size + 1);
            REQUIRE(moved != NULL);
            blocks[slot] = moved;
            live += size + 1 - held[slot];
            held[slot] = size + 1;
        } else if (blocks[slot] == NULL) {
            blocks[slot] = malloc(size);
            live += held[slot] = size;
            count++;
        } else {
            free(blocks[slot]);
            blocks[slot] = NULL;
            live -= held[slot];
            count--;
        }
        if (live > peak)
            peak = live;
    }
    tell("live", live);
    tell("peak", peak);
    tell("blocks", count);
}

/* Prints sums of malloc_usable_size(): of all blocks, and of those freed. */
static void
usable_walk(void)
{
    static void *blocks[64];
    uint64_t made = 0, freed = 0;

    for (size_t i = 0; i < 64; i++) {
        blocks[i] = malloc(i * 37);
        made += malloc_usable_size(blocks[i]);
    }
    for (size_t i = 0; i < 64; i += 2) {
        freed += malloc_usable_size(blocks[i]);
        free(blocks[i]);
    }
    tell("made", made);
    tell("freed", freed);
}

/* Usable bytes of the blocks for which glibc made a mapping, as it counts them. */
static uint64_t own_mappings;

static void *
noted(void *block, int sign)
{
    static size_t before;
    size_t now = mallinfo2().hblks;

    if (now != before)
        own_mappings += (uint64_t)sign * malloc_usable_size(block);
    before = now;
    return block;
}

static void
own_mapping_blocks(void)
{
    void *aligned = NULL;
    char *blocks[4];
    int status;

    blocks[0] = noted(malloc(100000), 1); /* below M_MMAP_THRESHOLD */
    blocks[1] = noted(malloc(300000), 1);
    blocks[2] = noted(calloc(3, 700001), 1);
    REQUIRE(posix_memalign(&aligned, 64, 1000000) == 0);
    noted(aligned, 1);
    REQUIRE(mallinfo2().hblks == 3);
    own_mappings -= malloc_usable_size(blocks[1]);
    blocks[1] = realloc(blocks[1], 900000);
    own_mappings += malloc_usable_size(blocks[1]);
    REQUIRE(realloc(blocks[1], huge) == NULL);
    tell("parent", own_mappings);
    tell("child", own_mappings - malloc_usable_size(aligned));
    if (fork() == 0) {
        free(aligned);
        _exit(0);
    }
    REQUIRE(wait(&status) > 0 && status == 0);
}

static void
large_block(void)
{
    void *volatile kept = malloc(300000);

    REQUIRE(kept != NULL);
}

static void
mappings(void)
{
    char path[] = "/dev/shm/memtop-test-rows-XXXXXX";
    int fd = mkstemp(path);
    char *anonymous, *file, *readable, *grown;

    unlink(path);
    REQUIRE(ftruncate(fd, 8192) == 0);
    anonymous =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    file = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    readable = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    REQUIRE(mmap(NULL, huge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            == MAP_FAILED);
    REQUIRE(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 12345, 0) == MAP_FAILED);
    REQUIRE(errno == EBADF);
    grown = mremap(anonymous, 8192, 16384, MREMAP_MAYMOVE);
    REQUIRE(grown != MAP_FAILED);
    REQUIRE(mremap(grown, 16384, 4096, 0) == grown);
    REQUIRE(mremap(grown + 1, 4096, 8192, 0) == MAP_FAILED);
    REQUIRE(munmap(grown, 4096) == 0 && munmap(file, 8192) == 0);
    REQUIRE(munmap(readable + 1, 4096) == -1);
}

/* Successful calls do not change errno. */
static void
errno_kept(void)
{
    for (int i = 0; i < 1000; i++) {
        errno = 4242;
        free(realloc(calloc(1, (size_t)i * 50 + 1), (size_t)i * 70 + 1));
        free(malloc((size_t)i * 100));
        free(memalign(64, (size_t)i));
        REQUIRE(errno == 4242);
    }
}

CASES
    CASE(nothing) CASE(malloc_one) CASE(malloc_zero) CASE(malloc_free) CASE(malloc_fails)
    CASE(malloc_max) CASE(calloc_one) CASE(calloc_fails) CASE(calloc_overflow)
    CASE(calloc_zeroed) CASE(free_null) CASE(realloc_null) CASE(realloc_null_zero)
    CASE(realloc_null_fails) CASE(realloc_grow) CASE(realloc_moves) CASE(realloc_shrink)
    CASE(realloc_same) CASE(realloc_zero) CASE(realloc_fails) CASE(reallocarray_one)
    CASE(reallocarray_null_overflow) CASE(aligned_all) CASE(aligned_fail)
    CASE(pvalloc_page) CASE(free_forms) CASE(usable_filled) CASE(sizes)
    CASE(random_walk) CASE(usable_walk)
    CASE(large_block) CASE(own_mapping_blocks) CASE(mappings) CASE(errno_kept)
END_CASES
