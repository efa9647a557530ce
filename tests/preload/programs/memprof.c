/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program that profiles itself (memtop/memprof.h). */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include <memtop/memprof.h>

#include "cases.h"

/* ---- a tracker that remembers everything ---- */

#define RECORDS 4096

struct kept_record {
    void *ptr;
    size_t n, size, words;
    int source;
    int allocs, resizes, deallocs;
};

static struct kept_record records[RECORDS];
static unsigned record_count;
static unsigned allocs, resizes, deallocs;
static int refuse;  /* alloc returns NULL */
static int untrack; /* resize returns NULL */

static void *
remember(const struct memprof_allocation *block, void *ctx)
{
    unsigned place = __atomic_fetch_add(&record_count, 1, __ATOMIC_SEQ_CST) % RECORDS;
    struct kept_record *record = &records[place];

    REQUIRE(ctx == records);
    __atomic_fetch_add(&allocs, 1, __ATOMIC_SEQ_CST);
    *record = (struct kept_record){block->ptr,
                                   block->n_samples,
                                   block->size,
                                   memprof_words(block->size),
                                   block->source,
                                   1,
                                   0,
                                   0};
    return refuse ? NULL : record;
}

static void *
remember_size(void *data, const struct memprof_allocation *block, void *ctx)
{
    struct kept_record *record = data;

    REQUIRE(ctx == records);
    __atomic_fetch_add(&resizes, 1, __ATOMIC_SEQ_CST);
    record->resizes++;
    record->ptr = block->ptr;
    record->n = block->n_samples;
    record->size = block->size;
    record->words = memprof_words(block->size);
    return untrack ? NULL : record;
}

static void
remember_end(void *data, void *ctx)
{
    struct kept_record *record = data;

    REQUIRE(ctx == records);
    __atomic_fetch_add(&deallocs, 1, __ATOMIC_SEQ_CST);
    record->deallocs++;
}

static const struct memprof_tracker tracker = {remember, remember_size, remember_end};

static memprof_t *
begin(double rate)
{
    memprof_t *profile = memprof_start(rate, -1, &tracker, records);

    REQUIRE(profile != NULL);
    return profile;
}

static void
end(memprof_t *profile)
{
    REQUIRE(memprof_stop() == 0);
    REQUIRE(memprof_discard(profile) == 0);
}

static const struct kept_record *
last(void)
{
    REQUIRE(record_count > 0);
    return &records[(record_count - 1) % RECORDS];
}

static void
require_events(unsigned made, unsigned changed, unsigned gone)
{
    REQUIRE(allocs == made);
    REQUIRE(resizes == changed);
    REQUIRE(deallocs == gone);
}

/* ---- without the library ---- */

static void
absent(void)
{
    int block;

    errno = 0;
    REQUIRE(memprof_start(1, -1, &tracker, NULL) == NULL && errno == ENOSYS);
    errno = 0;
    REQUIRE(memprof_start(1, -1, &tracker, NULL) == NULL && errno == ENOSYS);
    errno = 0;
    REQUIRE(memprof_stop() == -1 && errno == ENOSYS);
    errno = 0;
    REQUIRE(memprof_discard(NULL) == -1 && errno == ENOSYS);
    errno = 0;
    REQUIRE(memprof_custom_alloc(&block, 4) == &block);
    memprof_custom_free(&block);
    REQUIRE(errno == 0);
    REQUIRE(memprof_null_tracker.alloc(NULL, NULL) == NULL);
}

/* ---- errors and states ---- */

static void
errors(void)
{
    memprof_t *profile, *other;

    errno = 0;
    REQUIRE(memprof_start(-0.001, -1, &tracker, NULL) == NULL && errno == EINVAL);
    errno = 0;
    REQUIRE(memprof_start(1.001, -1, &tracker, NULL) == NULL && errno == EINVAL);
    errno = 0;
    REQUIRE(memprof_start(NAN, -1, &tracker, NULL) == NULL && errno == EINVAL);
    errno = 0;
    REQUIRE(memprof_start(INFINITY, -1, &tracker, NULL) == NULL && errno == EINVAL);
    errno = 0;
    REQUIRE(memprof_start(1, -2, &tracker, NULL) == NULL && errno == EINVAL);
    errno = 0;
    REQUIRE(memprof_start(1, -1, NULL, NULL) == NULL && errno == EINVAL);
    errno = 0;
    REQUIRE(memprof_stop() == -1 && errno == ESRCH);
    errno = 0;
    REQUIRE(memprof_discard(NULL) == -1 && errno == EINVAL);
    errno = 0;
    REQUIRE(memprof_discard((memprof_t *)(void *)&profile) == -1 && errno == EINVAL);

    profile = begin(1);
    errno = 0;
    REQUIRE(memprof_start(1, -1, &tracker, NULL) == NULL && errno == EBUSY);
    errno = 0;
    REQUIRE(memprof_discard(profile) == -1 && errno == EBUSY);
    REQUIRE(memprof_stop() == 0);
    errno = 0;
    REQUIRE(memprof_stop() == -1 && errno == ESRCH);

    /* A profile that is stopped does not keep another from starting. */
    other = begin(0);
    REQUIRE(other != profile);
    REQUIRE(memprof_discard(profile) == 0);
    errno = 0;
    REQUIRE(memprof_discard(profile) == -1 && errno == EALREADY);
    end(other);
    errno = 0;
    REQUIRE(memprof_discard(other) == -1 && errno == EALREADY);
    errno = 0;
    REQUIRE(memprof_discard(profile) == -1 && errno == EALREADY);
}

/* At most 32 stopped profiles may exist before they are discarded. */
static void
many(void)
{
    memprof_t *profiles[32];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 32; i++) {
            profiles[i] = begin(1);
            REQUIRE(memprof_stop() == 0);
        }
        errno = 0;
        REQUIRE(memprof_start(1, -1, &tracker, NULL) == NULL && errno == EAGAIN);
        for (int i = 0; i < 32; i++)
            REQUIRE(memprof_discard(profiles[i]) == 0);
    }
}

/* In a process where the library does not count. */
static void
not_counted(void)
{
    errno = 0;
    REQUIRE(memprof_start(1, -1, &tracker, NULL) == NULL);
    tell("errno", (unsigned)errno);
    errno = 0;
    REQUIRE(memprof_stop() == -1 && errno == ESRCH);
    REQUIRE(memprof_custom_alloc(&errno, 4) == &errno);
    memprof_custom_free(&errno);
}

/* ---- which blocks are sampled ---- */

/* At rate 1 every block is sampled, with as many samples as it has words. */
static void
every_block(void)
{
    static const size_t sizes[] = {0, 1, 7, 8, 9, 16, 100, 1000, 65536, 1000000};
    volatile size_t too_large = SIZE_MAX / 2; /* gcc would warn */
    void *blocks[10], *aligned;
    size_t truth = 0, estimate = 0;
    memprof_t *profile = begin(1);

    for (int i = 0; i < 10; i++) {
        blocks[i] = malloc(sizes[i]);
        REQUIRE(allocs == (unsigned)i + 1);
        REQUIRE(last()->ptr == blocks[i] && last()->size == sizes[i]);
        REQUIRE(last()->n == 1 + (sizes[i] + 7) / 8);
        REQUIRE(last()->source == MEMPROF_NORMAL);
        truth += sizes[i];
    }
    for (int i = 0; i < 10; i++)
        estimate += records[i].n * records[i].size / records[i].words;
    REQUIRE(estimate == truth);
    for (int i = 0; i < 10; i++) {
        REQUIRE(deallocs == (unsigned)i);
        free(blocks[i]);
        REQUIRE(records[i].deallocs == 1);
    }
    free(calloc(3, 100));
    REQUIRE(last()->size == 300 && last()->source == MEMPROF_NORMAL);
    free(aligned_alloc(64, 128));
    REQUIRE(last()->size == 128 && last()->source == MEMPROF_ALIGNED);
    REQUIRE(posix_memalign(&aligned, 64, 130) == 0);
    free(aligned);
    REQUIRE(last()->size == 130 && last()->source == MEMPROF_ALIGNED);
    free(memalign(32, 40));
    REQUIRE(last()->size == 40 && last()->source == MEMPROF_ALIGNED);
    free(valloc(50));
    REQUIRE(last()->size == 50 && last()->source == MEMPROF_ALIGNED);
    free(pvalloc(60));
    REQUIRE(last()->source == MEMPROF_ALIGNED);
    require_events(16, 0, 16);
    free(NULL);
    REQUIRE(malloc(too_large) == NULL && calloc(too_large, 3) == NULL);
    require_events(16, 0, 16);
    end(profile);
    free(malloc(10));
    require_events(16, 0, 16);
}

/* Blocks from before a profile are not in it; at rate 0 no block is. */
static void
none(void)
{
    void *before = malloc(100);
    memprof_t *profile = begin(1);

    free(before);
    require_events(0, 0, 0);
    end(profile);
    profile = begin(0);
    for (int i = 0; i < 100000; i++)
        free(malloc(1000));
    require_events(0, 0, 0);
    end(profile);
}

/* ---- statistics: printed; the test checks them ---- */

#define GAPS 64

static unsigned long sampled_words, sampled_blocks;
static unsigned gap_classes[GAPS];
static unsigned long since;

static void *
add_up(const struct memprof_allocation *block, void *ctx)
{
    (void)ctx;
    sampled_words += block->n_samples;
    sampled_blocks++;
    return NULL;
}

static const struct memprof_tracker adder = {add_up, NULL, NULL};

/* A million blocks of 64 bytes. */
static void
million(void)
{
    memprof_t *profile = memprof_start(1e-3, 0, &adder, NULL);

    REQUIRE(profile != NULL);
    for (int i = 0; i < 1000000; i++)
        free(malloc(64));
    end(profile);
    tell("samples", sampled_words);
    tell("blocks", sampled_blocks);
}

static void *
note_gap(const struct memprof_allocation *block, void *ctx)
{
    (void)block;
    (void)ctx;
    gap_classes[since < GAPS - 1 ? since : GAPS - 1]++;
    since = 0;
    return NULL;
}

/* Counts the blocks of two words between two sampled ones. */
static void
gaps(void)
{
    static const struct memprof_tracker noter = {note_gap, NULL, NULL};
    memprof_t *profile = memprof_start(0.05, 0, &noter, NULL);
    char key[16];

    REQUIRE(profile != NULL);
    for (int i = 0; i < 1000000; i++) {
        since++;
        free(malloc(8));
    }
    end(profile);
    for (int i = 0; i < GAPS; i++) {
        snprintf(key, sizeof key, "gap%d", i);
        tell(key, gap_classes[i]);
    }
}

/* ---- what the tracker returns ---- */

static void
refused(void)
{
    memprof_t *profile = begin(1);
    char *block;

    refuse = 1;
    block = malloc(100);
    require_events(1, 0, 0);
    block = realloc(block, 100000); /* an untracked block has no callbacks */
    free(block);
    require_events(1, 0, 0);
    refuse = 0;
    free(malloc(100));
    require_events(2, 0, 1);
    end(profile);
}

static void
resized(void)
{
    memprof_t *profile = begin(1);
    char *block = malloc(100), *guard;

    require_events(1, 0, 0);
    block = realloc(block, 101);
    require_events(1, 1, 0);
    REQUIRE(records[0].ptr == block && records[0].size == 101 && records[0].n == 14);
    guard = malloc(100); /* so that realloc has to move the block */
    block = realloc(block, 1000000);
    require_events(2, 2, 0);
    REQUIRE(records[0].ptr == block && records[0].n == 125001);
    block = realloc(block, 10);
    require_events(2, 3, 0);
    REQUIRE(records[0].ptr == block && records[0].n == 3 && records[0].size == 10);
    REQUIRE(realloc(block, PTRDIFF_MAX) == NULL);
    require_events(2, 3, 0);
    block = realloc(block, 20);
    require_events(2, 4, 0);
    free(block);
    require_events(2, 4, 1);
    REQUIRE(records[0].deallocs == 1);
    free(guard);
    require_events(2, 4, 2);

    free(realloc(NULL, 30));
    require_events(3, 4, 3);
    REQUIRE(last()->size == 30);
    block = malloc(40);
    REQUIRE(realloc(block, 0) == NULL);
    require_events(4, 4, 4);

    untrack = 1;
    block = malloc(50);
    block = realloc(block, 60);
    require_events(5, 5, 4);
    block = realloc(block, 1000);
    free(block);
    require_events(5, 5, 4);
    untrack = 0;
    end(profile);
}

/* A tracker without resize keeps the data. */
static void
partial(void)
{
    static const struct memprof_tracker ends = {remember, NULL, remember_end};
    static const struct memprof_tracker nothing = {NULL, NULL, NULL};
    memprof_t *profile = memprof_start(1, -1, &ends, records);
    void *block = malloc(10);

    block = realloc(block, 100);
    free(block);
    require_events(1, 0, 1);
    end(profile);
    profile = memprof_start(1, -1, &nothing, records);
    free(malloc(10));
    end(profile);
    profile = memprof_start(1, -1, &memprof_null_tracker, records);
    free(realloc(malloc(10), 100));
    end(profile);
    require_events(1, 0, 1);
}

/* Prints sums of resized blocks, sampled at a rate below 1; they must be unbiased. */
static void
resized_statistics(void)
{
    memprof_t *profile = begin(0.01);
    unsigned long words = 0, live = 0;

    for (int i = 0; i < 20000; i++) {
        char *block = malloc(800);
        block = realloc(block, 4000);
        block = realloc(block, 400);
        block = realloc(block, 1600);
        if (allocs > deallocs) { /* it is the only tracked block */
            live += 1;
            words += last()->n;
        }
        free(block);
        REQUIRE(allocs == deallocs);
    }
    end(profile);
    tell("samples", words);
    tell("tracked", live);
}

/* ---- stop and discard ---- */

static void
stopped(void)
{
    memprof_t *profile = begin(1);
    void *first = malloc(10), *second = malloc(20), *third = malloc(30);

    REQUIRE(memprof_stop() == 0);
    require_events(3, 0, 0);
    free(malloc(40));
    require_events(3, 0, 0);
    free(first);
    require_events(3, 0, 1);
    second = realloc(second, 200);
    require_events(3, 1, 1);
    REQUIRE(records[1].n == 4); /* nothing is sampled after the stop */
    REQUIRE(memprof_discard(profile) == 0);
    second = realloc(second, 2000);
    free(second);
    free(third);
    require_events(3, 1, 1);
}

/* Each block stays with the profile that sampled it. */
static void
successive(void)
{
    static struct kept_record other[1];
    memprof_t *first = begin(1), *second;
    void *old = malloc(10), *newer;

    REQUIRE(memprof_stop() == 0);
    second = memprof_start(1, -1, &adder, other);
    REQUIRE(second != NULL);
    newer = malloc(100);
    REQUIRE(sampled_blocks == 1);
    require_events(1, 0, 0);
    free(old);
    require_events(1, 0, 1);
    REQUIRE(memprof_discard(first) == 0);
    free(newer);
    end(second);
}

/* ---- in callbacks ---- */

static memprof_t *nested;
static void *kept[8];
static unsigned kept_count, nested_ends;

static void *
allocate_inside(const struct memprof_allocation *block, void *ctx)
{
    int *what = ctx;

    allocs++;
    REQUIRE(block->size != 77);
    for (int i = 0; i < 10; i++)
        free(realloc(malloc(77), 770));
    if (*what == 1) {
        errno = 0;
        REQUIRE(memprof_discard(nested) == -1 && errno == EBUSY);
        REQUIRE(memprof_stop() == 0);
        errno = 0;
        REQUIRE(memprof_discard(nested) == -1 && errno == EDEADLK);
    } else if (*what == 2 && kept_count > 0) {
        free(kept[--kept_count]); /* its dealloc is called later, not here */
        REQUIRE(nested_ends == 0);
    }
    errno = ERANGE; /* the caller of malloc must not see it */
    return ctx;
}

static void
end_inside(void *data, void *ctx)
{
    (void)data;
    (void)ctx;
    deallocs++;
    nested_ends++;
    if (kept_count > 0)
        free(kept[--kept_count]);
    nested_ends--;
}

static const struct memprof_tracker insider = {allocate_inside, NULL, end_inside};

static void
callbacks(void)
{
    int what = 0;
    void *block;

    nested = memprof_start(1, -1, &insider, &what);
    REQUIRE(nested != NULL);
    errno = 0;
    block = malloc(10);
    REQUIRE(errno == 0);
    REQUIRE(allocs == 1);
    free(block);
    REQUIRE(deallocs == 1);

    /* Tracked blocks that callbacks free. */
    for (int i = 0; i < 8; i++)
        kept[i] = malloc(100 + (size_t)i);
    kept_count = 8;
    what = 2;
    block = malloc(10);
    REQUIRE(kept_count == 0);
    REQUIRE(allocs == 10 && deallocs == 9);
    free(block);
    REQUIRE(deallocs == 10);

    what = 1;
    block = malloc(11);
    REQUIRE(allocs == 11);
    free(malloc(12));
    REQUIRE(allocs == 11);
    free(block);
    REQUIRE(deallocs == 11);
    REQUIRE(memprof_discard(nested) == 0);
}

/* A callback may stop the profile and start the next. */
static void *
start_inside(const struct memprof_allocation *block, void *ctx)
{
    (void)block;
    REQUIRE(memprof_stop() == 0);
    nested = memprof_start(1, -1, &tracker, records);
    REQUIRE(nested != NULL);
    REQUIRE(malloc(1) != NULL);
    require_events(0, 0, 0);
    return ctx;
}

static void
restarted(void)
{
    static const struct memprof_tracker starter = {start_inside, NULL, NULL};
    memprof_t *first = memprof_start(1, -1, &starter, records);
    void *block = malloc(10);

    require_events(0, 0, 0);
    free(malloc(20));
    require_events(1, 0, 1);
    free(block);
    require_events(1, 0, 1);
    REQUIRE(memprof_discard(first) == 0);
    end(nested);
}

/* ---- threads ---- */

static void *
churn(void *rounds)
{
    for (unsigned i = 0; i < *(unsigned *)rounds; i++)
        free(malloc(24));
    return NULL;
}

#define THREADS 8

static void
threads(void)
{
    pthread_t all[THREADS], early;
    unsigned rounds = 2000;
    void *before;
    memprof_t *profile;

    REQUIRE(pthread_create(&early, NULL, churn, &rounds) == 0); /* it has allocated */
    pthread_join(early, NULL);
    profile = begin(1);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&all[i], NULL, churn, &rounds) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    REQUIRE(allocs >= THREADS * rounds);
    before = malloc(1);
    REQUIRE(memprof_stop() == 0);
    free(before);
    REQUIRE(memprof_discard(profile) == 0);
    tell("allocs", allocs);
    tell("deallocs", deallocs);
}

/* Callbacks of all threads while profiles start and end. */
static unsigned storm_live[64];
static int storm_over;

static void *
storm_alloc(const struct memprof_allocation *block, void *ctx)
{
    unsigned *alive = ctx;

    REQUIRE(__atomic_load_n(alive, __ATOMIC_SEQ_CST) == 1);
    free(malloc(block->size));
    return ctx;
}

static void *
storm_resize(void *data, const struct memprof_allocation *block, void *ctx)
{
    (void)block;
    REQUIRE(data == ctx && __atomic_load_n((unsigned *)ctx, __ATOMIC_SEQ_CST) == 1);
    return data;
}

static void
storm_dealloc(void *data, void *ctx)
{
    REQUIRE(data == ctx && __atomic_load_n((unsigned *)ctx, __ATOMIC_SEQ_CST) == 1);
    sched_yield();
    REQUIRE(__atomic_load_n((unsigned *)ctx, __ATOMIC_SEQ_CST) == 1);
}

static void *
storm_thread(void *unused)
{
    void *blocks[32] = {NULL};
    unsigned turn = 0;

    (void)unused;
    while (!__atomic_load_n(&storm_over, __ATOMIC_RELAXED)) {
        void **place = &blocks[turn * 7 % 32];
        if (turn++ % 3 == 0) {
            *place = realloc(*place, turn % 1000 + 1);
        } else {
            free(*place);
            *place = malloc(turn % 500);
        }
    }
    for (int i = 0; i < 32; i++)
        free(blocks[i]);
    return NULL;
}

/* A round waits for callbacks of threads that may have no processor.  A hundred rounds
   take minutes on a busy machine, so there is a limit of 20 seconds. */
static bool
storm_goes_on(unsigned round, time_t began)
{
    return round < 10 || (round < 100 && time(NULL) - began < 20);
}

static void
storm(void)
{
    static const struct memprof_tracker all = {storm_alloc, storm_resize, storm_dealloc};
    time_t began = time(NULL);
    pthread_t workers[4];

    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&workers[i], NULL, storm_thread, NULL) == 0);
    for (unsigned i = 0; storm_goes_on(i, began); i++) {
        unsigned *alive = &storm_live[i % 64];
        memprof_t *profile;
        __atomic_store_n(alive, 1, __ATOMIC_SEQ_CST);
        profile = memprof_start(i % 2 ? 1 : 0.05, (int)(i % 4) - 1, &all, alive);
        REQUIRE(profile != NULL);
        for (int j = 0; j < 50; j++)
            free(malloc(100));
        REQUIRE(memprof_stop() == 0);
        REQUIRE(memprof_discard(profile) == 0);
        __atomic_store_n(alive, 0, __ATOMIC_SEQ_CST); /* no more callbacks */
    }
    __atomic_store_n(&storm_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; i++)
        pthread_join(workers[i], NULL);
}

/* Discarding waits for the callback of another thread. */
static int may_go, entered, let_go, left;

static void *
dawdle(const struct memprof_allocation *block, void *ctx)
{
    (void)block;
    __atomic_store_n(&entered, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&let_go, __ATOMIC_SEQ_CST))
        sched_yield();
    for (int i = 0; i < 1000; i++) /* long enough to be noticed if nobody waited */
        sched_yield();
    __atomic_store_n(&left, 1, __ATOMIC_SEQ_CST);
    return ctx;
}

static void *
allocate_once(void *unused)
{
    while (!__atomic_load_n(&may_go, __ATOMIC_SEQ_CST))
        sched_yield();
    free(malloc(123));
    return unused;
}

static void
awaited(void)
{
    static const struct memprof_tracker slow = {dawdle, NULL, NULL};
    memprof_t *profile;
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, allocate_once, NULL) == 0);
    REQUIRE((profile = memprof_start(1, 0, &slow, &entered)) != NULL);
    __atomic_store_n(&may_go, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&entered, __ATOMIC_SEQ_CST))
        sched_yield();
    REQUIRE(memprof_stop() == 0);
    __atomic_store_n(&let_go, 1, __ATOMIC_SEQ_CST);
    REQUIRE(memprof_discard(profile) == 0);
    REQUIRE(__atomic_load_n(&left, __ATOMIC_SEQ_CST) == 1);
    pthread_join(thread, NULL);
}

/* ---- processes ---- */

static void
forked(void)
{
    memprof_t *profile = begin(1);
    void *block = malloc(10);
    int status, pid = fork();

    if (pid == 0) {
        unsigned before = allocs, ends = deallocs;
        free(malloc(100));
        free(block);
        REQUIRE(allocs == before && deallocs == ends);
        errno = 0;
        REQUIRE(memprof_stop() == -1 && errno == ESRCH);
        errno = 0;
        REQUIRE(memprof_discard(profile) == -1 && errno == EALREADY);
        profile = begin(1);
        free(malloc(100));
        REQUIRE(allocs == before + 1 && deallocs == ends + 1);
        end(profile);
        _exit(0);
    }
    REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
    free(block);
    REQUIRE(records[0].deallocs == 1);
    end(profile);
}

static void
cloned(void)
{
    memprof_t *profile = begin(1);
    void *block = malloc(10);
    int status, pid = (int)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

    if (pid == 0) {
        unsigned before = allocs, ends = deallocs;
        errno = 0;
        REQUIRE(memprof_discard(profile) == -1 && errno == EALREADY);
        free(block);
        free(malloc(100));
        _exit(allocs == before && deallocs == ends ? 0 : 1);
    }
    REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
    free(block);
    require_events(1, 0, 1);
    end(profile);
}

/* Forks within a callback. */
static void *
fork_inside(const struct memprof_allocation *block, void *ctx)
{
    int status, pid;

    (void)block;
    if (allocs++ > 0)
        return ctx;
    pid = fork();
    if (pid == 0)
        return ctx; /* the child goes on */
    REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
    return ctx;
}

static void
forked_inside(void)
{
    static const struct memprof_tracker forker = {fork_inside, NULL, NULL};
    int parent = getpid();
    memprof_t *profile = memprof_start(1, -1, &forker, records);
    void *block = malloc(10);

    free(block);
    if (getpid() != parent) {
        free(malloc(20));
        REQUIRE(allocs == 1);
        profile = begin(1);
        free(malloc(30));
        require_events(2, 0, 1);
        end(profile);
        return;
    }
    end(profile);
}

/* ---- pools ---- */

static char pool[4096];

static void
pools(void)
{
    memprof_t *profile;
    void *counted[4];

    for (int i = 0; i < 4; i++)
        counted[i] = memprof_custom_alloc(pool + i, 10 * (size_t)(i + 1));
    REQUIRE(counted[3] == pool + 3);
    REQUIRE(memprof_custom_alloc(NULL, 10) == NULL);
    memprof_custom_free(NULL);
    memprof_custom_free(counted[0]);
    memprof_custom_free(pool + 100); /* unknown to the library */

    profile = begin(1);
    memprof_custom_alloc(pool + 200, 80);
    require_events(1, 0, 0);
    REQUIRE(last()->source == MEMPROF_CUSTOM && last()->size == 80 && last()->n == 11);
    REQUIRE(last()->ptr == pool + 200);
    memprof_custom_alloc(pool + 200, 160); /* without a free: the pool was emptied */
    require_events(2, 0, 1);
    memprof_custom_free(pool + 200);
    require_events(2, 0, 2);
    memprof_custom_free(counted[1]);
    require_events(2, 0, 2);
    end(profile);
}

/* A pool in a block of malloc(): the pool's first block has the same address. */
static void
pool_in_block(void)
{
    memprof_t *profile = begin(1);
    char *chunk = malloc(1000);

    memprof_custom_alloc(chunk, 100);
    require_events(2, 0, 0);
    REQUIRE(records[0].source == MEMPROF_NORMAL && records[1].source == MEMPROF_CUSTOM);
    memprof_custom_free(chunk);
    REQUIRE(records[0].deallocs == 0 && records[1].deallocs == 1);
    free(chunk);
    REQUIRE(records[0].deallocs == 1);
    end(profile);
}

static void
many_pool_blocks(void)
{
    enum { COUNT = 200000 };
    char *base = mmap(NULL, COUNT * 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (size_t i = 0; i < COUNT; i++)
        memprof_custom_alloc(base + i * 16, 16);
    for (size_t i = 0; i < COUNT; i += 2)
        memprof_custom_free(base + i * 16);
}

static void
pools_forked(void)
{
    int status, pid;

    memprof_custom_alloc(pool, 100);
    memprof_custom_alloc(pool + 1, 50);
    pid = fork();
    if (pid == 0) {
        memprof_custom_free(pool);
        memprof_custom_alloc(pool + 2, 7);
        _exit(0);
    }
    REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
    memprof_custom_free(pool + 1);
}

/* More blocks at a time than one level of a table can hold. */
static void
many_blocks(void)
{
    enum { COUNT = 100000 };
    static void *blocks[COUNT];
    memprof_t *profile = begin(1);

    for (int i = 0; i < COUNT; i++)
        blocks[i] = malloc(16);
    REQUIRE(allocs == COUNT);
    for (int i = 0; i < COUNT; i++)
        free(blocks[i]);
    REQUIRE(deallocs == COUNT);
    end(profile);
}

/* ---- mappings ---- */

static void
mappings(void)
{
    memprof_t *profile = begin(1);
    char *mapped = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    require_events(1, 0, 0);
    REQUIRE(last()->source == MEMPROF_MMAP && last()->ptr == mapped && last()->n == 1025);
    mapped = mremap(mapped, 8192, 1 << 20, MREMAP_MAYMOVE);
    require_events(1, 1, 0);
    REQUIRE(records[0].ptr == mapped && records[0].size == 1 << 20);
    munmap(mapped, 1 << 20);
    require_events(1, 1, 1);
    end(profile);
}

/* ---- stacks ---- */

#define DEEP 3000

static int frames_seen;
static const void *frames[1100];

static void *
note_stack(const struct memprof_allocation *block, void *ctx)
{
    (void)ctx;
    frames_seen = block->n_frames;
    memcpy(frames, block->callstack, (size_t)block->n_frames * sizeof *frames);
    return NULL;
}

__attribute__((noinline)) static void
innermost(void)
{
    free(malloc(10));
}

__attribute__((noinline)) static void
middle(int depth)
{
    if (depth > 0)
        middle(depth - 1);
    else
        innermost();
    __asm__ volatile("" : : : "memory"); /* prevents a tail call */
}

/* Returns whether the stack has a return address within the size bytes of function. */
static int
returns_into(int number, void (*function)(void), size_t size)
{
    return number < frames_seen
           && (uintptr_t)frames[number] - (uintptr_t)function <= size;
}

static void
stacks(void)
{
    static const struct memprof_tracker noter = {note_stack, NULL, NULL};
    static const int wanted[] = {0, 1, 2, 5, 64, 100, -1};
    int all = 0;

    for (int i = 0; i < 7; i++) {
        memprof_t *profile = memprof_start(1, wanted[i], &noter, NULL);
        REQUIRE(profile != NULL);
        middle(10);
        REQUIRE(wanted[i] < 0 || wanted[i] > 13 || frames_seen == wanted[i]);
        REQUIRE(frames_seen < 1 || returns_into(0, innermost, 64));
        for (int frame = 1; frame < 12 && frame < frames_seen; frame++)
            REQUIRE(returns_into(frame, (void (*)(void))middle, 128));
        REQUIRE(frames_seen < 13 || returns_into(12, stacks, 1024));
        all = frames_seen;
        middle(DEEP);
        REQUIRE(frames_seen == (wanted[i] < 0 ? 1024 : wanted[i]));
        end(profile);
    }
    REQUIRE(all > 13);
}

/* ---- signals ---- */

static volatile unsigned long handled;

/* Signal handlers may call memprof_custom_alloc() and memprof_custom_free(). */
static void
on_timer(int number)
{
    (void)number;
    memprof_custom_alloc(pool + 1, 8);
    memprof_custom_free(pool + 1);
    handled++;
}

static void
signals(void)
{
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    memprof_t *profile = begin(1);
    unsigned long calls = 0;

    signal(SIGALRM, on_timer);
    setitimer(ITIMER_REAL, &often, NULL);
    for (; handled < 1000; calls++) {
        memprof_custom_alloc(pool + 2, 16);
        free(malloc(32));
        memprof_custom_free(pool + 2);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    end(profile);
    REQUIRE(allocs == deallocs);
    tell("custom", calls + handled);
}

/* ---- callbacks that are left ---- */

static sigjmp_buf before_callback;
static bool interrupted;

static void
jump(int number)
{
    (void)number;
    siglongjmp(before_callback, 1);
}

static void
end_thread(int number)
{
    (void)number;
    pthread_exit(NULL);
}

static void *
interrupt_once(const struct memprof_allocation *block, void *ctx)
{
    if (!interrupted) {
        interrupted = true;
        raise(SIGUSR1);
    }
    return remember(block, ctx);
}

static const struct memprof_tracker interrupted_tracker = {interrupt_once, remember_size,
                                                           remember_end};

/* A signal handler jumps out of a callback.  The thread's blocks are sampled as before,
   and nobody waits for that callback. */
static void
left_by_jump(void)
{
    memprof_t *profile = memprof_start(1, 0, &interrupted_tracker, records);
    void *volatile blocks[10];

    alarm(60);
    signal(SIGUSR1, jump);
    if (sigsetjmp(before_callback, 1) == 0)
        blocks[0] = malloc(10);
    REQUIRE(interrupted && allocs == 0);
    for (unsigned i = 0; i < 10; i++)
        blocks[i] = malloc(20);
    for (unsigned i = 0; i < 10; i++)
        free(blocks[i]);
    require_events(10, 0, 10);
    end(profile);
}

static void *
allocate_thirty(void *argument)
{
    free(malloc(30));
    return argument;
}

/* A signal handler ends the thread during a callback. */
static void
ended_within(void)
{
    memprof_t *profile;
    pthread_t thread;

    alarm(60);
    signal(SIGUSR1, end_thread);
    interrupted = true;
    profile = memprof_start(1, 0, &interrupted_tracker, records);
    REQUIRE(pthread_create(&thread, NULL, allocate_thirty, NULL) == 0);
    pthread_join(thread, NULL);
    interrupted = false;
    REQUIRE(pthread_create(&thread, NULL, allocate_thirty, NULL) == 0);
    pthread_join(thread, NULL);
    REQUIRE(interrupted);
    end(profile);
}

/* Starting a profile neither adds an error to dlerror() nor takes one away. */
static void
pending(void)
{
    memprof_t *profile;
    const char *error;

    REQUIRE(dlerror() == NULL);
    profile = begin(0.5);
    REQUIRE(dlerror() == NULL);
    end(profile);
    REQUIRE(dlopen("./no-such-library.so", RTLD_NOW) == NULL);
    profile = begin(0.5);
    free(malloc(1000));
    end(profile);
    error = dlerror();
    REQUIRE(error != NULL && strstr(error, "no-such-library") != NULL);
}

CASES
    CASE(pending)
    CASE(absent)
    CASE(errors)
    CASE(many)
    CASE(not_counted)
    CASE(every_block)
    CASE(none)
    CASE(million)
    CASE(gaps)
    CASE(refused)
    CASE(resized)
    CASE(partial)
    CASE(resized_statistics)
    CASE(stopped)
    CASE(successive)
    CASE(callbacks)
    CASE(restarted)
    CASE(threads)
    CASE(storm)
    CASE(awaited)
    CASE(forked)
    CASE(cloned)
    CASE(forked_inside)
    CASE(pools)
    CASE(pool_in_block)
    CASE(many_pool_blocks)
    CASE(pools_forked)
    CASE(many_blocks)
    CASE(mappings)
    CASE(stacks)
    CASE(signals)
    CASE(left_by_jump)
    CASE(ended_within)
END_CASES
