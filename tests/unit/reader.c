/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader with segments that lie, shrink or change: never a crash, never a number
 * that nobody wrote.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "scratch-segment.h"
#include "segment/reader.h"
#include "segment/seqlock.h"

static uint64_t seed = 88172645463325252u;

/* xorshift64 (G. Marsaglia, Xorshift RNGs, 2003) */
static uint64_t
random_word(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static int
set_up(void **state)
{
    (void)state;
    scratch_open();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    scratch_close();
    return 0;
}

static int
open_scratch(struct reader **reader)
{
    return reader_open(scratch_path, getuid(), geteuid(), reader);
}

/* Reads everything; the results may be errors. */
static void
read_everything(struct reader *reader)
{
    static struct histogram histogram;
    struct recorded *recorded;
    struct identity identity;
    struct snapshot snapshot;
    enum segment_state state;
    size_t count;

    reader_state(reader, &state);
    if (reader_identity(reader, &identity) == 0) {
        assert_true(strlen(identity.program) < SEGMENT_PROGRAM_LEN);
        assert_true(strlen(identity.allocator) < SEGMENT_ALLOCATOR_LEN);
        assert_true(identity.args_size <= SEGMENT_ARGS_LEN);
        assert_true(identity.pid > 0 && identity.keeper >= 0 && identity.parent >= 0);
    }
    if (reader_snapshot(reader, &snapshot) == 0)
        assert_true(snapshot.peak_bytes >= snapshot.live_bytes);
    reader_histogram(reader, &histogram);
    if (reader_recorded(reader, &recorded, &count) == 0) {
        assert_true(count <= (size_t)RECORDER_LEVELS * RECORDER_SLOTS * 2); /* gaps */
        for (size_t i = 0; i < count; i++) {
            assert_true(recorded[i].begin_ns < recorded[i].end_ns);
            assert_true(i == 0 || recorded[i].begin_ns >= recorded[i - 1].end_ns);
        }
        free(recorded);
    }
}

/* ---- threads ---- */

static void
test_threads(void **state)
{
    struct thread_counters threads[2];
    struct shard *shard = scratch_shard(1);
    struct reader *reader;
    size_t count = 9;

    (void)state;
    assert_int_equal(0, open_scratch(&reader));
    scratch_process()->shards_used = 2;
    shard->thread = 77;
    shard->owners = 2;
    shard->stack_base = 100000;
    shard->stack_limit = 5000;
    shard->hot.stack_pointer = 99000;
    shard->hot.stack_peak = 3000;
    shard->hot.calls[FN_MALLOC] = 5;
    shard->hot.calls[FN_FREE] = 3;
    shard->hot.bytes[FN_MALLOC] = 500;
    shard->hot.bytes[FN_FREE] = 300;
    shard->hot.realloc_shrunk = 20;
    assert_int_equal(0, reader_threads(reader, threads, 2, &count));
    assert_int_equal(1, count);
    assert_int_equal(77, threads[0].tid);
    assert_int_equal(2, threads[0].owners);
    assert_int_equal(8, threads[0].calls);
    assert_int_equal(500, threads[0].allocated);
    assert_int_equal(320, threads[0].freed);
    assert_int_equal(1000, threads[0].stack_now);
    assert_int_equal(3000, threads[0].stack_peak);
    assert_int_equal(5000, threads[0].stack_limit);
    /* Counted even without room for it; not listed after its end. */
    assert_int_equal(0, reader_threads(reader, threads, 0, &count));
    assert_int_equal(1, count);
    scratch_states()[1] = SHARD_FREE;
    assert_int_equal(0, reader_threads(reader, threads, 2, &count));
    assert_int_equal(0, count);
    reader_close(reader);
}

/* ---- opening ---- */

static void
test_empty(void **state)
{
    struct reader *reader;
    struct snapshot snapshot, zero;

    (void)state;
    memset(&zero, 0, sizeof zero);
    assert_int_equal(0, open_scratch(&reader));
    assert_int_equal(0, reader_snapshot(reader, &snapshot));
    assert_memory_equal(&zero, &snapshot, sizeof zero);
    read_everything(reader);
    reader_close(reader);
    reader_close(NULL);
}

/* Every 32-bit word of the layout must have the value of this version. */
static void
test_wrong_headers(void **state)
{
    uint32_t *words = (void *)scratch;
    size_t last = offsetof(struct segment_header, state) / 4;
    struct reader *reader;

    (void)state;
    for (size_t i = 0; i < last; i++) {
        size_t at = i * 4;
        bool unused = at == offsetof(struct segment_header, page_size)
                      || (at >= offsetof(struct segment_header, sites_offset)
                          && at < offsetof(struct segment_header, shard_size));
        uint32_t right = words[i];

        for (unsigned bit = 0; bit < 32; bit++) {
            int expected = at == offsetof(struct segment_header, version)
                               ? -EPROTONOSUPPORT
                               : -EPROTO;
            words[i] = right ^ (1u << bit);
            if (!unused)
                assert_int_equal(expected, open_scratch(&reader));
            else if (open_scratch(&reader) == 0)
                reader_close(reader);
            words[i] = right;
        }
    }
    assert_int_equal(0, open_scratch(&reader));
    reader_close(reader);
}

static void
test_wrong_files(void **state)
{
    struct reader *reader;
    char path[160];

    (void)state;
    assert_int_equal(-ENOENT, reader_open("/nonexistent", getuid(), getuid(), &reader));
    assert_int_equal(-EPERM,
                     reader_open(scratch_path, getuid() + 1, getuid() + 2, &reader));
    assert_int_equal(0, reader_open(scratch_path, getuid() + 1, getuid(), &reader));
    reader_close(reader);
    assert_int_equal(-EPROTO,
                     reader_open(scratch_directory, getuid(), getuid(), &reader));
    assert_int_equal(-EPROTO, reader_open("/dev/zero", getuid(), getuid(), &reader));
    snprintf(path, sizeof path, "%s/link", scratch_directory);
    assert_int_equal(0, symlink(scratch_path, path));
    assert_int_equal(-ELOOP, reader_open(path, getuid(), getuid(), &reader));
    unlink(path);
    assert_int_equal(0, mkfifo(path, 0600));
    assert_int_equal(-EPROTO, reader_open(path, getuid(), getuid(), &reader));
    unlink(path);
}

/* ---- files cut short ---- */

static void
test_cut_before(void **state)
{
    static const off_t sizes[] = {0, 1, 100, 4095, 4096, 8192, SHARDS_OFFSET,
                                  SEGMENT_SIZE - 4096, SEGMENT_SIZE - 1,
                                  SEGMENT_SIZE + 1};
    struct reader *reader;

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct segment_header header = *scratch_header();
        assert_int_equal(0, truncate(scratch_path, sizes[i]));
        assert_int_equal(-EMSGSIZE, open_scratch(&reader));
        assert_int_equal(0, truncate(scratch_path, SEGMENT_SIZE));
        *scratch_header() = header;
    }
}

/* At every page that is read, while it is mapped. */
static void
test_cut_while_mapped(void **state)
{
    struct sigaction before, after;
    struct reader *reader;
    off_t read_up_to = SHARDS_OFFSET + 2 * SHARD_SIZE;
    struct segment_header header = *scratch_header();

    (void)state;
    sigaction(SIGBUS, NULL, &before);
    for (off_t size = read_up_to; size >= 0; size -= SEGMENT_PAGE) {
        struct snapshot snapshot;
        struct identity identity;

        assert_int_equal(0, truncate(scratch_path, SEGMENT_SIZE));
        *scratch_header() = header;
        scratch_process()->shards_used = 2;
        scratch_process()->overview_ns = OVERVIEW_NS_MIN;
        scratch_states()[0] = scratch_states()[1] = SHARD_OWNED;
        assert_int_equal(0, open_scratch(&reader));
        assert_int_equal(0, truncate(scratch_path, size));
        read_everything(reader);
        assert_int_equal(size < SEGMENT_PAGE ? -EMSGSIZE : 0,
                         reader_identity(reader, &identity));
        assert_int_equal(size < PROCESS_OFFSET + SEGMENT_PAGE ? -EMSGSIZE : 0,
                         size < PROCESS_OFFSET + SEGMENT_PAGE
                             ? reader_snapshot(reader, &snapshot)
                             : 0);
        reader_close(reader);
    }
    sigaction(SIGBUS, NULL, &after);
    assert_true(before.sa_handler == after.sa_handler);
    assert_int_equal(0, truncate(scratch_path, SEGMENT_SIZE));
}

/* ---- wrong contents ---- */

static void
test_random_contents(void **state)
{
    uint64_t *words = (void *)scratch;
    size_t first = sizeof(struct segment_header) / 8;
    size_t last = (SHARDS_OFFSET + 2 * SHARD_SIZE) / 8;
    struct reader *reader;

    (void)state;
    for (int round = 0; round < 60; round++) {
        for (size_t i = first; i < last; i++)
            words[i] = random_word() >> random_word() % 64;
        /* Not all 1024 shards each time, because writing makes their pages exist. */
        scratch_process()->shards_used = round == 0 ? UINT32_MAX : 2;
        for (unsigned i = 2; i < SHARD_COUNT; i++)
            scratch_states()[i] = SHARD_UNUSED;
        for (size_t i = offsetof(struct segment_header, state);
             i < sizeof(struct segment_header); i++)
            scratch[i] = (unsigned char)random_word();
        if (round % 2)
            scratch_header()->state = SEGMENT_ACTIVE;
        assert_int_equal(0, open_scratch(&reader));
        read_everything(reader);
        reader_close(reader);
    }
}

static void
test_nonsense_identity(void **state)
{
    struct reader *reader;
    struct identity identity;
    struct segment_header *header = scratch_header();
    const struct segment_header right = *header;

    (void)state;
    assert_int_equal(0, open_scratch(&reader));
    assert_int_equal(0, reader_identity(reader, &identity));
    header->state = SEGMENT_EXITED + 1;
    assert_int_equal(-EPROTO, reader_identity(reader, &identity));
    *header = right;
    header->pid = UINT32_MAX; /* kill(-1) would kill all processes of the user */
    assert_int_equal(-EPROTO, reader_identity(reader, &identity));
    header->pid = 0;
    assert_int_equal(-EPROTO, reader_identity(reader, &identity));
    *header = right;
    header->keeper = UINT32_MAX;
    assert_int_equal(-EPROTO, reader_identity(reader, &identity));
    *header = right;
    header->parent = UINT32_MAX;
    assert_int_equal(-EPROTO, reader_identity(reader, &identity));
    *header = right;
    header->accounting = ACCOUNTING_USABLE + 1;
    assert_int_equal(-EPROTO, reader_identity(reader, &identity));
    *header = right;
    header->origin = ORIGIN_RAW_CLONE + 1;
    assert_int_equal(-EPROTO, reader_identity(reader, &identity));
    *header = right;
    header->reason = 12345; /* a newer library may have more reasons */
    assert_int_equal(0, reader_identity(reader, &identity));
    assert_string_not_equal("", segment_reason_text(identity.reason));
    memset(header->program, 'x', sizeof header->program + sizeof header->options);
    memset(header->args, 'y', sizeof header->args);
    header->args_size = UINT32_MAX;
    assert_int_equal(0, reader_identity(reader, &identity));
    assert_int_equal(SEGMENT_PROGRAM_LEN - 1, strlen(identity.program));
    assert_int_equal(SEGMENT_ARGS_LEN, identity.args_size);
    assert_int_equal(SEGMENT_ARGS_LEN - 1, strlen(identity.args));
    reader_close(reader);
}

static void
test_saturation(void **state)
{
    struct reader *reader;
    struct snapshot snapshot;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        memset(&scratch_shard(i)->hot, 0xff, sizeof(struct shard_hot));
        scratch_shard(i)->hot.sequence = 2;
        memset(scratch_shard(i)->failed, 0xff, sizeof scratch_shard(i)->failed);
        memset(scratch_shard(i)->coarse, 0xff, sizeof scratch_shard(i)->coarse);
    }
    assert_int_equal(0, open_scratch(&reader));
    assert_int_equal(0, reader_snapshot(reader, &snapshot));
    assert_int_equal(UINT64_MAX, snapshot.calls[FN_MALLOC]);
    assert_int_equal(UINT64_MAX, snapshot.total_bytes);
    assert_int_equal(UINT64_MAX, snapshot.failed[FN_FREE]);
    assert_int_equal(0, snapshot.live_bytes);
    reader_close(reader);
}

/* Odd, and the same twice: killed during an update. */
static void
test_torn(void **state)
{
    struct reader *reader;
    struct snapshot snapshot;

    (void)state;
    scratch_shard(1)->hot.sequence = 7;
    scratch_shard(1)->hot.calls[FN_MALLOC] = 3;
    assert_int_equal(0, open_scratch(&reader));
    assert_int_equal(0, reader_snapshot(reader, &snapshot));
    assert_int_equal(0, snapshot.torn);
    assert_int_equal(1, snapshot.inconsistent);
    assert_int_equal(3, snapshot.calls[FN_MALLOC]);
    assert_int_equal(0, reader_snapshot(reader, &snapshot));
    assert_int_equal(1, snapshot.torn);
    scratch_shard(1)->hot.sequence = 9;
    assert_int_equal(0, reader_snapshot(reader, &snapshot));
    assert_int_equal(0, snapshot.torn);
    reader_close(reader);
}

/* ---- a writer at full speed ---- */

/* A process that writes all the time and ends with the test, however that ends. */
static pid_t
fork_writer(void)
{
    pid_t writer = fork();

    assert_true(writer >= 0);
    if (writer == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return writer;
}

/* Some hundred nanoseconds: longer than a copy takes, even if cache lines travel slowly
   between two busy processors. */
static void
work_a_while(void)
{
    for (volatile int i = 0; i < 300; i++)
        ;
}

static void
count_a_block(struct shard *shard)
{
    seqlock_write_begin(&shard->hot.sequence);
    word_add(&shard->hot.calls[FN_MALLOC], 1);
    word_add(&shard->hot.bytes[FN_MALLOC], 64);
    word_add(&shard->hot.calls[FN_FREE], 1);
    word_add(&shard->hot.bytes[FN_FREE], 64);
    seqlock_write_end(&shard->hot.sequence);
}

/* Reads a shard that is written all the time; returns the percentage of inconsistent
   copies. */
static double
read_while_written(struct reader *reader)
{
    struct snapshot snapshot;
    uint64_t calls = 0, changes = 0, mixed = 0, polls;

    for (polls = 0; polls < 100000 || changes < 100; polls++) {
        assert_int_equal(0, reader_snapshot(reader, &snapshot));
        if (snapshot.torn != 0 || snapshot.live_bytes != 0 || snapshot.live_blocks != 0
            || snapshot.bytes[FN_MALLOC] != snapshot.calls[FN_MALLOC] * 64
            || snapshot.calls[FN_MALLOC] != snapshot.calls[FN_FREE]) {
            mixed += snapshot.torn == 0;
            continue;
        }
        assert_true(snapshot.calls[FN_MALLOC] >= calls);
        changes += snapshot.calls[FN_MALLOC] != calls;
        calls = snapshot.calls[FN_MALLOC];
    }
    print_message("  %lu of %lu mixed, %lu changes\n", mixed, polls, changes);
    return 100.0 * (double)mixed / (double)polls;
}

/* A copy is inconsistent only if the writer lost the CPU during an update (it is torn if
   the writer stays there) or all tries failed: some in 100,000.  With a single try there
   are some hundreds in each round. */
static void
test_consistent(void **state)
{
    struct reader *reader;
    double mixed = 100;
    pid_t writer = fork_writer();

    (void)state;
    if (writer == 0)
        for (;;) {
            count_a_block(scratch_shard(1));
            work_a_while();
        }
    assert_int_equal(0, open_scratch(&reader));
    for (int round = 0; round < 5 && mixed > 0.05; round++)
        mixed = read_while_written(reader);
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    reader_close(reader);
    assert_true(mixed <= 0.05);
}

/* Blocks are allocated in one shard and freed in another.  Freed ones are read first, so
   counts are never negative, nor higher than possible. */
static void
test_never_negative(void **state)
{
    struct reader *reader;
    struct snapshot snapshot;
    pid_t writer = fork_writer();

    (void)state;
    if (writer == 0)
        for (uint64_t turn = 0;; turn++) {
            struct shard *maker = scratch_shard((unsigned)(turn & 1));
            struct shard *freer = scratch_shard((unsigned)(~turn & 1));
            seqlock_write_begin(&maker->hot.sequence);
            word_add(&maker->hot.calls[FN_MALLOC], 1);
            word_add(&maker->hot.bytes[FN_MALLOC], 64);
            seqlock_write_end(&maker->hot.sequence);
            work_a_while();
            seqlock_write_begin(&freer->hot.sequence);
            word_add(&freer->hot.calls[FN_FREE], 1);
            word_add(&freer->hot.bytes[FN_FREE], 64);
            seqlock_write_end(&freer->hot.sequence);
            work_a_while();
        }
    assert_int_equal(0, open_scratch(&reader));
    for (int i = 0; i < 100000; i++) {
        assert_int_equal(0, reader_snapshot(reader, &snapshot));
        assert_true(snapshot.bytes[FN_FREE] <= snapshot.total_bytes);
        assert_true(snapshot.calls[FN_FREE] <= snapshot.calls[FN_MALLOC]);
    }
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    reader_close(reader);
}

/* ---- sizes ---- */

static struct shard_cell *
cell_of(unsigned index, uint64_t size)
{
    struct shard *shard = scratch_shard(index);

    shard->cell_pages = UINT32_MAX;
    return size < HISTOGRAM_LARGE ? &shard->cells[histogram_cell(size)]
                                  : &shard->coarse[histogram_coarse(size)];
}

/* A call of shard 1 for a block of size bytes. */
static void
count_malloc(uint64_t size)
{
    scratch_shard(1)->hot.calls[FN_MALLOC]++;
    cell_of(1, size)->came++;
}

/* The reader looks at further cells only if calls are missing in those it knows: it must
   never miss any. */
static void
test_cells(void **state)
{
    static struct histogram histogram;
    struct reader *reader;
    uint64_t size = 1, made = 0;

    (void)state;
    assert_int_equal(0, open_scratch(&reader));
    for (int i = 0; i < 3000; i++) {
        size = (size * 7919 + 13) % 200000;
        count_malloc(size);
        made++;
        count_malloc(48);
        made++;
        if (i % 3 == 0) { /* realloc(p, 0) is counted in no cell */
            scratch_shard(1)->hot.calls[FN_REALLOC]++;
            scratch_shard(1)->hot.realloc_freed++;
        }
        if (i % 5 == 0) {
            cell_of(0, size)->came++;
            scratch_shard(0)->hot.calls[FN_CALLOC]++;
            made++;
        }
        uint64_t seen = 0;
        assert_int_equal(0, reader_histogram(reader, &histogram));
        for (unsigned c = 0; c < HISTOGRAM_CELLS; c++)
            seen += histogram.allocated[c];
        assert_int_equal(made, seen);
    }
    reader_close(reader);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* Blocks of pools: the counts of shards, and those carried over. */
static void
test_custom(void **state)
{
    struct snapshot snapshot;
    struct reader *reader;

    (void)state;
    scratch_process()->custom_carried = 3;
    scratch_process()->custom_carried_bytes = 300;
    scratch_process()->custom_unmatched = 2;
    scratch_shard(0)->custom_freed = 4;
    scratch_shard(0)->custom_freed_bytes = 400;
    scratch_shard(1)->custom_made = 5;
    scratch_shard(1)->custom_made_bytes = 1000;
    assert_int_equal(open_scratch(&reader), 0);
    assert_int_equal(reader_snapshot(reader, &snapshot), 0);
    assert_int_equal(snapshot.custom_made, 5);
    assert_int_equal(snapshot.custom_made_bytes, 1000);
    assert_int_equal(snapshot.custom_freed, 4);
    assert_int_equal(snapshot.custom_freed_bytes, 400);
    assert_int_equal(snapshot.custom_unmatched, 2);
    assert_int_equal(snapshot.custom_live, 4);
    assert_int_equal(snapshot.custom_live_bytes, 900);
    assert_int_equal(snapshot.live_bytes, 0);
    scratch_shard(0)->custom_freed = 10; /* impossible */
    assert_int_equal(reader_snapshot(reader, &snapshot), 0);
    assert_int_equal(snapshot.custom_live, 0);
    reader_close(reader);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_empty),           TEST(test_wrong_headers), TEST(test_wrong_files),
        TEST(test_threads),
        TEST(test_cut_before),      TEST(test_cut_while_mapped),
        TEST(test_random_contents), TEST(test_nonsense_identity),
        TEST(test_saturation),      TEST(test_torn),          TEST(test_consistent),
        TEST(test_never_negative),  TEST(test_cells),        TEST(test_custom),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
