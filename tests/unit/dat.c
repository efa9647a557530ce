/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memusage's data files: memtop writes what memusage writes, and reads what can be saved
   of any such file. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/dat.h"

#define START UINT64_C(1700000000000000000)

static char path[] = "/tmp/memtop-dat-XXXXXX";

struct raw_record {
    uint64_t heap, stack;
    uint32_t low, high;
};

static struct raw_record file[100000];

static struct raw_record
raw(uint64_t heap, uint64_t stack, uint64_t time)
{
    return (struct raw_record){heap, stack, (uint32_t)time, (uint32_t)(time >> 32)};
}

/* Returns the file's size; its records go to file[]. */
static size_t
load(void)
{
    int fd = open(path, O_RDONLY);
    ssize_t size = read(fd, file, sizeof file);

    assert_true(size >= 0);
    close(fd);
    return (size_t)size;
}

static void
store(const struct raw_record *records, size_t count, size_t more_bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    size_t size = count * sizeof *records;

    assert_int_equal(size, write(fd, records, size));
    assert_int_equal(more_bytes, write(fd, "abcdefghijklmnopqrstuvw", more_bytes));
    close(fd);
}

static void
check_raw(size_t at, uint64_t heap, uint64_t stack, uint64_t time)
{
    assert_int_equal(heap, file[at].heap);
    assert_int_equal(stack, file[at].stack);
    assert_int_equal(time, (uint64_t)file[at].high << 32 | file[at].low);
}

static int
remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static struct dat_writer *
create(size_t buffered)
{
    struct dat_writer *writer;

    assert_int_equal(0, dat_create(path, false, START, buffered, &writer));
    return writer;
}

static int
put(struct dat_writer *writer, uint64_t heap, uint64_t stack, uint64_t time)
{
    return dat_write(writer, &(struct dat_record){heap, stack, time});
}

/* ---- writing ---- */

static void
test_headers(void **state)
{
    struct dat_writer *writer = create(DAT_BUFFER_MAX);

    (void)state;
    assert_int_equal(48, load()); /* written at once */
    check_raw(0, 0, 0, START);
    check_raw(1, 0, 0, START);
    put(writer, 100, 10, START + 5);
    put(writer, 90, 30, START + 6);
    put(writer, 20, 60, START + 9);
    assert_int_equal(48, load()); /* still buffered */
    assert_int_equal(0, dat_close(writer, START + 8));
    assert_int_equal(5 * 24, load());
    check_raw(0, 0, 120, START); /* not 100 + 60: they were not at the same time */
    check_raw(1, 100, 60, START + 9);
    check_raw(2, 100, 10, START + 5);
    check_raw(4, 20, 60, START + 9);
}

static void
test_end(void **state)
{
    struct dat_writer *writer = create(1);

    (void)state;
    assert_int_equal(0, dat_close(writer, START)); /* not zero, because memusagestat
                                                      divides by it */
    assert_int_equal(48, load());
    check_raw(1, 0, 0, START + 1);
    unlink(path);
    writer = create(1);
    put(writer, 1, 1, START);
    assert_int_equal(0, dat_close(writer, START + 77));
    load();
    check_raw(1, 1, 1, START + 77);
}

static void
test_buffer(void **state)
{
    (void)state;
    for (size_t buffered = 1; buffered <= 3; buffered += 2) {
        struct dat_writer *writer = create(buffered);
        for (unsigned i = 1; i <= 7; i++) {
            put(writer, i, 0, START + i);
            assert_int_equal(48 + i / buffered * buffered * 24, load());
        }
        assert_int_equal(0, dat_close(writer, 0));
        assert_int_equal(48 + 7 * 24, load()); /* nothing is written twice */
        unlink(path);
    }
}

static void
test_existing(void **state)
{
    struct dat_writer *writer;

    (void)state;
    store(file, 10, 0);
    assert_int_equal(-EEXIST, dat_create(path, false, START, 1, &writer));
    assert_int_equal(240, load());
    assert_int_equal(0, dat_create(path, true, START, 1, &writer));
    assert_int_equal(48, load());
    dat_close(writer, START);
    assert_int_equal(-ENOENT, dat_create("/nonexistent/f", true, START, 1, &writer));
    assert_int_equal(-EISDIR, dat_create("/tmp", true, START, 1, &writer));
    assert_int_equal(0, dat_create("/dev/null", false, START, 1, &writer));
    assert_int_equal(0, put(writer, 1, 1, START));
    assert_int_equal(0, dat_close(writer, START));
}

/* Every write to /dev/full fails. */
static void
test_full_at_once(void **state)
{
    struct dat_writer *writer;

    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(-ENOSPC, dat_create("/dev/full", false, START, 1, &writer));
}

/* A limit in the middle of a record. */
static void
test_full_later(void **state)
{
    struct dat_writer *writer = create(2);
    struct rlimit before, limit;
    int errors = 0;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 48 + 3 * 24 + 10;
    assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &limit));
    for (unsigned i = 1; i <= 10; i++)
        errors += put(writer, i, 0, START + i) == -EFBIG;
    assert_int_equal(7, errors); /* from the fourth on */
    assert_int_equal(-EFBIG, dat_close(writer, START + 10));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(5 * 24, load()); /* complete records, */
    check_raw(1, 4, 0, START + 10);   /* and the headers */
    check_raw(4, 3, 0, START + 3);
}

/* ---- reading ---- */

static struct dat_record seen[1000];
static uint64_t seen_count;

static void
take(void *context, uint64_t index, const struct dat_record *record)
{
    (void)context;
    assert_int_equal(seen_count, index);
    assert_true(index < sizeof seen / sizeof *seen);
    seen[seen_count++] = *record;
}

static struct dat
read_back(uint64_t expected)
{
    struct dat dat;

    assert_int_equal(0, dat_open(path, NULL, &dat));
    seen_count = 0;
    assert_int_equal(0, dat_scan(&dat, take, NULL));
    dat_close_read(&dat);
    assert_int_equal(expected, dat.count);
    assert_int_equal(expected, seen_count);
    return dat;
}

static void
test_round_trip(void **state)
{
    struct dat_writer *writer = create(4);
    struct dat dat;

    (void)state;
    for (unsigned i = 1; i <= 10; i++)
        put(writer, i * 100, 5 * i % 7, START + i);
    dat_close(writer, START + 50);
    chmod(path, 0400); /* memusagestat would refuse it */
    dat = read_back(10);
    assert_int_equal(START, dat.start);
    assert_int_equal(START + 50, dat.end);
    assert_int_equal(1000, dat.heap_peak);
    assert_int_equal(6, dat.stack_peak);
    assert_int_equal(1001, dat.sum_peak);
    assert_true(dat.nanoseconds);
    assert_false(dat.killed || dat.cut_bytes || dat.doubled || dat.holes
                 || dat.backwards);
    assert_int_equal(300, seen[2].heap);
    assert_int_equal(START + 3, seen[2].time);
}

static void
test_killed(void **state)
{
    const struct raw_record records[] = {raw(0, 0, 1000), raw(0, 0, 1000),
                                         raw(50, 3, 1010), raw(70, 1, 1020)};
    struct stat before, after;
    struct dat dat;

    (void)state;
    store(records, 4, 0);
    stat(path, &before);
    dat = read_back(2);
    stat(path, &after);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_true(dat.killed);
    assert_false(dat.nanoseconds);
    assert_int_equal(1020, dat.end);
    assert_int_equal(70, dat.heap_peak);
    assert_int_equal(3, dat.stack_peak);
    assert_int_equal(71, dat.sum_peak); /* memusagestat would say 73 */
}

static void
test_doubled(void **state)
{
    struct raw_record records[2 + 15] = {raw(0, 9, 0), raw(9, 9, 100)};

    (void)state;
    for (unsigned i = 0; i < 10; i++)
        records[2 + i] = raw(i, i, 10 + i);
    memcpy(&records[12], &records[7], 5 * sizeof *records);
    store(records, 17, 0);
    assert_int_equal(5, read_back(10).doubled);
    store(records, 16, 0); /* not doubled: 4 of 5 are equal */
    assert_int_equal(0, read_back(14).doubled);
    memcpy(&records[12], &records[11], sizeof *records); /* as memusage -u leaves it */
    store(records, 13, 0);
    assert_int_equal(1, read_back(10).doubled);
}

static void
test_disorder(void **state)
{
    const struct raw_record records[] = {
        raw(0, 9, 1000), raw(9, 9, 2000), raw(1, 1, 1500), raw(0, 0, 0),  raw(0, 0, 0),
        raw(2, 1, 1400), raw(3, 1, 5000), raw(4, 1, 1800), raw(5, 1, 10),
    };
    struct dat dat;

    (void)state;
    store(records, 9, 0);
    dat = read_back(5);
    assert_int_equal(2, dat.holes);
    assert_int_equal(3, dat.backwards);
    assert_int_equal(1500, seen[0].time);
    assert_int_equal(1500, seen[1].time);
    for (unsigned i = 2; i < 5; i++)
        assert_int_equal(2000, seen[i].time);
    assert_int_equal(5, seen[4].heap);
}

static void
test_sizes(void **state)
{
    const struct raw_record records[] = {raw(0, 2, 5), raw(1, 1, 5), raw(1, 1, 5)};
    struct dat dat;

    (void)state;
    store(records, 3, 23);
    dat = read_back(1);
    assert_int_equal(23, dat.cut_bytes);
    assert_int_equal(5, dat.start); /* equal times */
    assert_int_equal(5, dat.end);
    store(records, 2, 0);
    read_back(0);
    store(records, 1, 23);
    assert_int_equal(-EBADMSG, dat_open(path, NULL, &dat));
    store(records, 0, 0);
    assert_int_equal(-EBADMSG, dat_open(path, NULL, &dat));
    unlink(path);
    assert_int_equal(-ENOENT, dat_open(path, NULL, &dat));
    assert_int_equal(-EISDIR, dat_open("/tmp", NULL, &dat));
}

/* More records than are read at once, and a doubled half of memusage's own size. */
static void
test_long(void **state)
{
    const uint64_t count = 2 * DAT_BUFFER_MAX;
    struct dat dat;

    (void)state;
    file[0] = raw(0, 9, 1);
    file[1] = raw(9, 9, 1000000);
    for (uint64_t i = 0; i < count; i++)
        file[2 + i] = raw(i, 1, i + 2);
    memcpy(&file[2 + count], &file[2 + count - 1000], 1000 * sizeof *file);
    store(file, 2 + count + 1000, 0);
    assert_int_equal(0, dat_open(path, NULL, &dat));
    assert_int_equal(1000, dat.doubled);
    assert_int_equal(count, dat.count);
    assert_int_equal(count - 1, dat.heap_peak);
    assert_int_equal(0, dat.backwards);
    dat_close_read(&dat);
    store(file, 2 + count, 0);
    memcpy(&file[2 + count / 2], &file[2], count / 2 * sizeof *file);
    store(file, 2 + count, 0);
    assert_int_equal(0, dat_open(path, NULL, &dat));
    assert_int_equal(DAT_BUFFER_MAX, dat.doubled);
    dat_close_read(&dat);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, remove_file)
    const struct CMUnitTest tests[] = {
        TEST(test_headers),  TEST(test_end),           TEST(test_buffer),
        TEST(test_existing), TEST(test_full_at_once),  TEST(test_full_later),
        TEST(test_round_trip), TEST(test_killed),      TEST(test_doubled),
        TEST(test_disorder), TEST(test_sizes),         TEST(test_long),
    };
    int fd = mkstemp(path);

    if (fd < 0)
        return 99;
    close(fd);
    unlink(path);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
