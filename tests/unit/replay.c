/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replays: which calls are made from a log, and what is counted. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/replay.h"

/* ---- an allocator that records its calls ---- */

/* Blocks are called a, b, c... in the order they are returned; NULL is a dash. */
static struct {
    void *at;
    size_t size;
    char name;
} blocks[26];
static size_t blocks_count;
static char calls[8192];
static bool failing;

static char
name_of(void *block)
{
    if (block == NULL)
        return '-';
    for (size_t i = blocks_count; i-- > 0;)
        if (blocks[i].at == block)
            return blocks[i].name;
    return '?';
}

static void __attribute__((format(printf, 1, 2)))
note(const char *format, ...)
{
    size_t used = strlen(calls);
    va_list arguments;

    va_start(arguments, format);
    used += (size_t)vsnprintf(calls + used, sizeof calls - used, format, arguments);
    va_end(arguments);
    assert_true(used < sizeof calls);
}

static void *
new_block(size_t size)
{
    void *block = failing ? NULL : calloc(1, size > 0 ? size : 1);

    if (block != NULL && blocks_count < 26) {
        blocks[blocks_count].at = block;
        blocks[blocks_count].size = size;
        blocks[blocks_count].name = (char)('a' + blocks_count);
        blocks_count++;
    }
    return block;
}

static void *
returned(const char *name, size_t other, size_t size, size_t bytes)
{
    void *block = new_block(bytes);

    if (other != SIZE_MAX)
        note("%s(%zu,%zu)=%c ", name, other, size, name_of(block));
    else
        note("%s(%zu)=%c ", name, size, name_of(block));
    return block;
}

static void *
fake_malloc(size_t size)
{
    return returned("malloc", SIZE_MAX, size, size);
}

static void *
fake_calloc(size_t count, size_t size)
{
    return returned("calloc", count, size, count * size);
}

static void
forget(void *block)
{
    for (size_t i = 0; i < blocks_count; i++)
        if (blocks[i].at == block)
            blocks[i].at = NULL;
    free(block);
}

static void *
fake_realloc(void *block, size_t size)
{
    char was = name_of(block);
    void *result = size > 0 ? new_block(size) : NULL;

    if (result != NULL || size == 0)
        forget(block);
    note("realloc(%c,%zu)=%c ", was, size, name_of(result));
    return result;
}

static void
fake_free(void *block)
{
    note("free(%c) ", name_of(block));
    forget(block);
}

static void *
fake_memalign(size_t alignment, size_t size)
{
    return returned("memalign", alignment, size, size);
}

static int
fake_posix_memalign(void **block, size_t alignment, size_t size)
{
    void *got = returned("posix_memalign", alignment, size, size);

    if (got == NULL)
        return 12; /* *block is not written to */
    *block = got;
    return 0;
}

static void *
fake_aligned_alloc(size_t alignment, size_t size)
{
    return returned("aligned_alloc", alignment, size, size);
}

static void *
fake_valloc(size_t size)
{
    return returned("valloc", SIZE_MAX, size, size);
}

static size_t
fake_usable(void *block)
{
    for (size_t i = 0; i < blocks_count; i++)
        if (blocks[i].at == block)
            return (blocks[i].size + 15) / 16 * 16;
    return 0;
}

static const struct replay_allocator fake = {
    fake_malloc,       fake_calloc,        fake_realloc, fake_free,   fake_memalign,
    fake_posix_memalign, fake_aligned_alloc, fake_valloc,  fake_usable,
};

/* ---- one replay a test ---- */

static struct replay *replay;
static const struct replay_figures *figures;

static void
begin(struct replay_options options)
{
    options.allocator = &fake;
    calls[0] = '\0';
    blocks_count = 0;
    failing = false;
    replay = replay_new(&options);
    assert_non_null(replay);
    figures = replay_figures(replay);
}

static enum replay_verdict
line(const char *text)
{
    return replay_line(replay, text, strlen(text));
}

/* Replays lines, all of which are good. */
static void
lines(const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");

        if (replay_line(replay, text, length) != REPLAY_GOOD)
            fail_msg("not good: %.*s", (int)length, text);
        text += length + (text[length] == '\n');
    }
    replay_flush(replay);
}

static int
end(void **state)
{
    (void)state;
    for (size_t i = 0; i < blocks_count; i++)
        free(blocks[i].at);
    replay_free(replay);
    replay = NULL;
    return 0;
}

static void
test_calls(void **state)
{
    (void)state;
    begin((struct replay_options){0});
    lines("1 1 jemalloc_stats()\n1 1 malloc(42)=#1\n1 1 malloc(24)=#2\n"
          "2 2 malloc(42)=#1\n1 1 free(#1)\n1 1 posix_memalign(4096,1024)=#1\n"
          "1 1 calloc(4,42)=#3\n1 1 free(#2)\n1 1 realloc(#3,84)=#2\n"
          "1 1 aligned_alloc(256,1024)=#3\n1 1 memalign(512,1024)=#4\n"
          "1 1 valloc(1024)=#5\n1 1 jemalloc_stats()\n1 1 free(#5)\n1 1 free(#4)\n"
          "1 1 free(#3)\n1 1 free(#2)\n1 1 free(#1)\n");
    assert_string_equal(
        "malloc(42)=a malloc(24)=b free(a) posix_memalign(4096,1024)=c "
        "calloc(4,42)=d free(b) realloc(d,84)=e aligned_alloc(256,1024)=f "
        "memalign(512,1024)=g valloc(1024)=h free(h) free(g) free(f) "
        "free(e) free(c) ",
        calls);
    assert_int_equal(1, figures->pid);
    assert_int_equal(17, figures->calls);
    assert_int_equal(1, figures->passed_over);
    assert_int_equal(0, figures->live_blocks);
    assert_int_equal(0, figures->live_bytes);
    assert_int_equal(5, figures->peak_blocks);
    assert_int_equal(1024 + 84 + 3 * 1024, figures->peak_bytes);
    assert_int_equal(5, figures->slots);
    assert_int_equal(0, figures->failed);
    assert_int_equal(0, figures->lost);
}

static void
test_process(void **state)
{
    (void)state;
    begin((struct replay_options){.pid = 3});
    lines("1 1 malloc(1)=#1\n3 1 malloc(2)=#1\n2 1 free(#1)\n3 9 free(#1)");
    assert_string_equal("malloc(2)=a free(a) ", calls);
    assert_int_equal(2, figures->passed_over);
    assert_int_equal(2, figures->calls);
}

static void
test_nothing(void **state)
{
    (void)state;
    begin((struct replay_options){0});
    lines("\n1 1 free(#0)\n\r\n1 1 free(#7)\n1 1 realloc(#0,5)=#1\n1 1 free(#1)\n\n");
    assert_string_equal("free(-) free(-) realloc(-,5)=a free(a) ", calls);
    assert_int_equal(4, figures->calls);
}

static void
test_failures(void **state)
{
    (void)state;
    begin((struct replay_options){.touch = true, .slop = true});
    lines("1 1 malloc(5)=#1");
    failing = true;
    lines("1 1 malloc(9)=#2\n1 1 calloc(4294967296,4294967296)=#3\n"
          "1 1 posix_memalign(64,9)=#4\n1 1 realloc(#1,50)=#5\n1 1 realloc(#0,7)=#6");
    failing = false;
    lines("1 1 free(#2)\n1 1 free(#3)\n1 1 free(#4)\n1 1 free(#5)");
    assert_string_equal("malloc(5)=a malloc(9)=- calloc(4294967296,4294967296)=- "
                        "posix_memalign(64,9)=- realloc(a,50)=- realloc(-,7)=- "
                        "free(-) free(-) free(-) free(a) ",
                        calls);
    assert_int_equal(5, figures->failed);
    assert_int_equal(0, figures->live_blocks);
}

static void
test_realloc_to_nothing(void **state)
{
    (void)state;
    begin((struct replay_options){0});
    lines("1 1 malloc(5)=#1\n1 1 realloc(#1,0)=#1\n1 1 free(#1)");
    assert_string_equal("malloc(5)=a realloc(a,0)=- free(-) ", calls);
    assert_int_equal(0, figures->failed);
    assert_int_equal(0, figures->live_bytes);
}

/* With the original's munging a slot may be filled twice; the first block is then
   lost. */
static void
test_lost(void **state)
{
    void *lost;

    (void)state;
    begin((struct replay_options){0});
    lines("1 1 malloc(5)=#1");
    lost = blocks[0].at;
    lines("1 1 malloc(6)=#1\n1 1 free(#1)");
    assert_string_equal("malloc(5)=a malloc(6)=b free(b) ", calls);
    assert_int_equal(1, figures->lost);
    assert_int_equal(1, figures->live_blocks);
    assert_int_equal(5, figures->live_bytes);
    assert_ptr_equal(lost, blocks[0].at);
}

static void
test_refused(void **state)
{
    static const struct {
        const char *text;
        enum replay_verdict verdict;
    } cases[] = {
        {"hello", REPLAY_MALFORMED},
        {"1 1 malloc(5)=0x10", REPLAY_MALFORMED},
        {"1 1 free(0x10)", REPLAY_MALFORMED},
        {"1 1 malloc(5,5)=#1", REPLAY_MALFORMED},
        {"1 1 munmap(#1)", REPLAY_UNKNOWN},
        {"1 1 malloc(5)", REPLAY_NO_RESULT},
        {"1 1 malloc(5)=#0", REPLAY_NO_RESULT},
        {"1 1 malloc(5)=#268435456", REPLAY_SLOT},
        {"1 1 free(#18446744073709551615)", REPLAY_SLOT},
    };

    (void)state;
    begin((struct replay_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (line(cases[i].text) != cases[i].verdict)
            fail_msg("%s", cases[i].text);
    lines("1 1 stats()");
    assert_string_equal("", calls);
    assert_int_equal(1, figures->calls);
}

static void
test_touch(void **state)
{
    (void)state;
    begin((struct replay_options){.touch = true});
    lines("1 1 malloc(3)=#1\n1 1 calloc(2,2)=#2\n1 1 memalign(8,5)=#3");
    assert_memory_equal("UUU", blocks[0].at, 3);
    assert_memory_equal("UUUU", blocks[1].at, 4);
    assert_memory_equal("UUUUU", blocks[2].at, 5);
}

static void
test_slop(void **state)
{
    struct replay_slop slop;

    (void)state;
    begin((struct replay_options){.slop = true});
    lines("1 1 malloc(16)=#1\n1 1 malloc(1)=#200000\n1 1 malloc(20)=#2\n1 1 free(#2)");
    assert_int_equal(37, figures->requested);
    assert_int_equal(64, figures->usable);
    replay_slop(replay, &slop);
    assert_int_equal(2, slop.blocks);
    assert_int_equal(1, slop.sloppy_blocks);
    assert_int_equal(17, slop.requested);
    assert_int_equal(32, slop.usable);
}

/* ---- records ---- */

static void
note_record(void *context, const struct replay *of)
{
    const struct replay_figures *now = replay_figures(of);

    assert_ptr_equal(&failing, context);
    note("[%d calls %d live] ", (int)now->calls, (int)now->live_bytes);
}

static void
test_records(void **state)
{
    (void)state;
    begin((struct replay_options){.stats = note_record, .context = &failing});
    lines(
        "1 1 malloc(3)=#1\n1 1 jemalloc_stats()\n2 1 stats()\n1 1 free(#1)\n1 1 stats()");
    assert_string_equal("malloc(3)=a [2 calls 3 live] free(a) [4 calls 0 live] ", calls);
}

static void
test_records_every(void **state)
{
    (void)state;
    begin((struct replay_options){
        .stats = note_record, .context = &failing, .stats_every = 2});
    lines("1 1 malloc(3)=#1\n1 1 free(#1)\n1 1 malloc(4)=#1\n1 1 stats()\n1 1 free(#1)");
    assert_string_equal(
        "malloc(3)=a free(a) [2 calls 0 live] malloc(4)=b [4 calls 4 live] "
        "free(b) ",
        calls);
}

/* More than a bundle and more than a group of slots. */
static void
test_many(void **state)
{
    const int count = 70000;
    struct replay_options options = {0};
    char text[64];

    (void)state;
    replay = replay_new(&options); /* with the real allocator */
    figures = replay_figures(replay);
    for (int i = 1; i <= count; i++) {
        snprintf(text, sizeof text, "1 1 malloc(%d)=#%d", i % 100, i);
        assert_int_equal(REPLAY_GOOD, line(text));
    }
    replay_flush(replay);
    assert_int_equal(count, figures->calls);
    assert_int_equal(count, figures->live_blocks);
    assert_int_equal(count, figures->slots);
    assert_int_equal(700 * 4950, figures->live_bytes);
    assert_true(figures->own_bytes >= (uint64_t)count * 16);
    assert_true(figures->cpu_ns > 0);
    for (int i = 1; i <= count; i++) {
        snprintf(text, sizeof text, "1 1 free(#%d)", i);
        assert_int_equal(REPLAY_GOOD, line(text));
    }
    replay_flush(replay);
    assert_int_equal(0, figures->live_blocks);
    assert_int_equal(0, figures->live_bytes);
    assert_int_equal(700 * 4950, figures->peak_bytes);
    blocks_count = 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_calls, end),
        cmocka_unit_test_teardown(test_process, end),
        cmocka_unit_test_teardown(test_nothing, end),
        cmocka_unit_test_teardown(test_failures, end),
        cmocka_unit_test_teardown(test_realloc_to_nothing, end),
        cmocka_unit_test_teardown(test_lost, end),
        cmocka_unit_test_teardown(test_refused, end),
        cmocka_unit_test_teardown(test_touch, end),
        cmocka_unit_test_teardown(test_slop, end),
        cmocka_unit_test_teardown(test_records, end),
        cmocka_unit_test_teardown(test_records_every, end),
        cmocka_unit_test_teardown(test_many, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
