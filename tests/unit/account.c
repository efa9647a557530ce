/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The code that counts, run on the host without the library's own process: threads with
 * shards and threads without call it all the time while the reader reads. tests/tsan.sh
 * builds this with ThreadSanitizer as well.
 */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "hosted-library.h"
#include "preload/account.h"
#include "preload/recorder.h"
#include "segment/live.h"
#include "segment/reader.h"

/* ---- threads ---- */

#define OWNERS  3
#define SHARERS 2
#define ROUNDS  20000

/* Bytes of blocks between looks: every 25th block of the packed way is the one. */
#define LOOK 2200

/* What a block occupies beyond its usable bytes. */
#define HEAD 8

static unsigned running;
static unsigned looks;

static void
look_next(struct shard *shard)
{
    seqlock_write_begin(&shard->hot.sequence);
    mt_due_in(shard, 1);
    mt_due_gone_in(shard, LOOK);
    seqlock_write_end(&shard->hot.sequence);
}

static void
made_packed(struct shard *shard, uint64_t size, uint64_t usable)
{
    uint64_t before;

    if (count_came(shard, FN_MALLOC, size, usable + HEAD)) {
        __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
        assert_true(update_begin(shard, &before));
        mt_due_in(shard, LOOK);
        mt_update_end_looking(shard);
    }
    cell_of(shard, size)->came++;
}

static void
freed_packed(struct shard *shard, uint64_t size, uint64_t usable)
{
    uint64_t before;

    if (count_gone(shard, size, usable + HEAD)) {
        assert_true(update_begin(shard, &before));
        mt_due_gone_in(shard, LOOK);
        mt_update_end_looking(shard);
    }
    cell_of(shard, size)->gone++;
}

static void *
owner(void *argument)
{
    unsigned index = (unsigned)(uintptr_t)argument;

    mt_thread.shard = mt_shard(index);
    mt_thread.state = THREAD_COUNTED;
    mt_thread.stack_base = mt_thread.stack_lowest = (uintptr_t)&index + 4096;
    mt_thread.stack_limit = 1 << 20;
    look_next(mt_shard(index));
    for (uint64_t i = 0; i < ROUNDS; i++) {
        if (i % 2 == 0)
            made_packed(mt_shard(index), 64 + i % 5000, 80);
        else
            mt_count_made(FN_MALLOC, 64 + i % 5000, 80);
        if (i % 16 == 0)
            mt_count_failed(FN_CALLOC, 10, 10, true);
        if (i % 3 == 0)
            freed_packed(mt_shard(index), 64 + i % 5000, 80);
        else
            mt_count_freed(64 + i % 5000, 80);
        mt_count_free_null();
    }
    __atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void *
sharer(void *argument)
{
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct mt_resize resize = {.kind = RESIZE_FRESH, .size = 100, .usable = 104};
        mt_count_resized(&resize);
        mt_count_freed(100, 104);
        mt_count_unmatched();
    }
    __atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED);
    return argument;
}

static void
start(void)
{
    host_segment(0);
    scratch_header()->created_ns = 1;
    for (unsigned i = 0; i <= OWNERS; i++)
        scratch_states()[i] = SHARD_OWNED;
    scratch_process()->shards_used = OWNERS + 1;
    scratch_process()->threads = OWNERS;
    mt_recorder_start();
    mt_guard.mode = ACCOUNTING_REQUESTED;
}

static void
test_hammer(void **state)
{
    pthread_t threads[OWNERS + SHARERS];
    struct reader *reader;
    struct snapshot snapshot;

    (void)state;
    start();
    running = OWNERS + SHARERS;
    for (unsigned i = 0; i < OWNERS + SHARERS; i++)
        pthread_create(&threads[i], NULL, i < OWNERS ? owner : sharer,
                       (void *)(uintptr_t)(i + 1));
    assert_int_equal(0, reader_open(scratch_path, getuid(), geteuid(), &reader));
    while (__atomic_load_n(&running, __ATOMIC_RELAXED) > 0) {
        assert_int_equal(0, reader_snapshot(reader, &snapshot));
        assert_true(snapshot.calls[FN_MALLOC] <= OWNERS * ROUNDS);
    }
    for (unsigned i = 0; i < OWNERS + SHARERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(0, reader_snapshot(reader, &snapshot));
    assert_int_equal(OWNERS * ROUNDS, snapshot.calls[FN_MALLOC]);
    assert_int_equal(SHARERS * ROUNDS, snapshot.calls[FN_REALLOC]);
    assert_int_equal((2 * OWNERS + SHARERS) * ROUNDS, snapshot.calls[FN_FREE]);
    assert_int_equal(OWNERS * ROUNDS / 16, snapshot.failed[FN_CALLOC]);
    assert_int_equal(SHARERS * ROUNDS, snapshot.unmatched);
    assert_int_equal(0, snapshot.live_bytes);
    assert_int_equal(0, snapshot.live_blocks);
    assert_int_equal(0, snapshot.usable_bytes);
    assert_int_equal(0, snapshot.torn);
    assert_int_equal(OWNERS * (1 + (ROUNDS / 2 - 1) / (LOOK / (80 + HEAD))), looks);
    assert_in_range(snapshot.peak_bytes, 5000, 5 * 5064 + 5 * 4096);
    reader_close(reader);
    scratch_close();
}

/* ---- one thread that does nothing but malloc and free ---- */

#ifndef SAME_MAPPING
#define SNAPSHOTS 100000u
#define SIZE      64u
#define SPACE     80u

/* As the library does: something is due every 128 blocks.  The calls of the allocator
   give the reader as much time as it has in a real process. */
static void
make_and_free(struct shard *shard)
{
    void *volatile block = malloc(SIZE);
    uint64_t before;

    if (count_came(shard, FN_MALLOC, SIZE, SPACE)) {
        update_begin(shard, &before);
        mt_due_in(shard, mt_due_after(shard, SPACE));
        mt_update_end_looking(shard);
    }
    if (count_gone(shard, SIZE, SPACE)) {
        update_begin(shard, &before);
        mt_due_gone_in(shard, mt_due_after(shard, SPACE));
        mt_update_end_looking(shard);
    }
    free(block);
}

/* Ends with the test, however that ends. */
static pid_t
fork_writer(void)
{
    struct shard *shard = mt_shard(1);
    pid_t writer = fork();

    assert_true(writer >= 0);
    if (writer > 0)
        return writer;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    mt_thread.shard = shard;
    mt_thread.state = THREAD_COUNTED;
    mt_thread.stack_base = mt_thread.stack_lowest = (uintptr_t)&shard + 4096;
    mt_thread.stack_limit = 1 << 20;
    shard->hot.quantum = 65536;
    seqlock_write_begin(&shard->hot.sequence);
    mt_due_in(shard, 1000);
    mt_due_gone_in(shard, 1300);
    seqlock_write_end(&shard->hot.sequence);
    for (;;)
        make_and_free(shard);
}

static bool
makes_sense(const struct shard_hot *copy, uint64_t calls_before)
{
    uint64_t made = copy->calls[FN_MALLOC], freed = copy->calls[FN_FREE];

    return made - freed <= 1 && made >= calls_before
           && copy->bytes[FN_MALLOC] == made * SIZE
           && copy->bytes[FN_FREE] == freed * SIZE;
}

/* No copy that is said to be consistent is wrong.  A few tries are enough nearly always;
   where 512 are not, the writer has lost the processor inside an update, which the odd
   sequence tells. */
static void
test_packed_copies(void **state)
{
    unsigned polls = 0, late = 0, interrupted = 0, changes = 0;
    uint64_t calls = 0;
    pid_t writer;

    (void)state;
    start();
    writer = fork_writer();
    while (word_load(&mt_shard(1)->hot.sequence) < 10)
        ;
    for (; polls < SNAPSHOTS || changes < SNAPSHOTS / 100; polls++) {
        struct shard_hot copy;

        if (!hot_read(&mt_shard(1)->hot, &copy, 64)) {
            late++;
            if (!hot_read(&mt_shard(1)->hot, &copy, 512 - 64)) {
                assert_true(seqlock_is_odd(&copy.sequence));
                interrupted++;
                while (word_load(&mt_shard(1)->hot.sequence) == copy.sequence)
                    ; /* each interruption counts once, however long it is */
                continue;
            }
        }
        if (!makes_sense(&copy, calls))
            fail_msg("snapshot %u: %lu made, %lu freed, %lu and %lu bytes", polls,
                     copy.calls[FN_MALLOC], copy.calls[FN_FREE], copy.bytes[FN_MALLOC],
                     copy.bytes[FN_FREE]);
        changes += copy.calls[FN_MALLOC] != calls;
        calls = copy.calls[FN_MALLOC];
    }
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    scratch_close();
    print_message("  %u of %u after 64 tries, %u after 512 (interrupted), %u changes\n",
                  late, polls, interrupted, changes);
    assert_in_range(late - interrupted, 0, polls / 1000);
    assert_in_range(interrupted, 0, polls / 100);
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hammer),
#ifndef SAME_MAPPING
        cmocka_unit_test(test_packed_copies),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
