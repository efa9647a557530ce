/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Munging: the original's rules, and memtop's corrections of them. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/munge.h"

static char output[4096];
static bool counting; /* count records instead of writing them */
static int counted;

static void
put(void *context, const struct logalloc_line *line)
{
    (void)context;
    if (counting && line->call == LOGALLOC_STATS) {
        counted++;
        return;
    }
    assert_true(strlen(output) + LOGALLOC_LINE_MAX < sizeof output);
    logalloc_format(output + strlen(output), LOGALLOC_MUNGED, line);
}

static struct munge *
start(bool original)
{
    const struct munge_options options = {.original = original, .put = put};

    output[0] = '\0';
    counting = false;
    return munge_new(&options);
}

/* Munges each line of input. refused has a letter per line: '.' good, Malformed,
   Unknown, block not Seen, Failed, no Result. */
static void
check(bool original, const char *input, const char *refused, const char *expected)
{
    struct munge *munge = start(original);

    for (size_t i = 0; *input != '\0'; i++) {
        size_t length = strcspn(input, "\n");
        char got = ".MUSFR!"[munge_line(munge, input, length)];

        if (refused[i] != got)
            fail_msg("'%c', not '%c': %.*s", got, refused[i], (int)length, input);
        input += length + (input[length] == '\n');
    }
    assert_string_equal(expected, output);
    munge_free(munge);
}

static void
check_both(const char *input, const char *refused, const char *expected)
{
    check(true, input, refused, expected);
    check(false, input, refused, expected);
}

static void
test_slots(void **state)
{
    (void)state;
    check_both("18545 18545 malloc(32)=0xe0\n"
               "18545 18545 calloc(1,148)=0x480\n"
               "18545 18545 realloc(0xe0,64)=0x680\n"
               "18545 18545 posix_memalign(256,240)=0x300\n"
               "18545 18545 jemalloc_stats()\n"
               "18545 18545 free(0x680)",
               "......",
               "1 1 malloc(32)=#1\n"
               "1 1 calloc(1,148)=#2\n"
               "1 1 realloc(#1,64)=#1\n"
               "1 1 posix_memalign(256,240)=#3\n"
               "1 1 jemalloc_stats()\n"
               "1 1 free(#1)\n");
    /* The slot that was freed first is used again first. */
    check_both("1 1 malloc(1)=0x10\n1 1 malloc(2)=0x20\n1 1 malloc(3)=0x30\n"
               "1 1 free(0x20)\n1 1 free(0x10)\n"
               "1 1 valloc(4)=0x10\n1 1 memalign(8,5)=0x20\n1 1 aligned_alloc(8,6)=0x40\n"
               "1 1 realloc(0x30,9)=0x30",
               ".........",
               "1 1 malloc(1)=#1\n1 1 malloc(2)=#2\n1 1 malloc(3)=#3\n"
               "1 1 free(#2)\n1 1 free(#1)\n"
               "1 1 valloc(4)=#2\n1 1 memalign(8,5)=#1\n1 1 aligned_alloc(8,6)=#4\n"
               "1 1 realloc(#3,9)=#3\n");
}

static void
test_processes_and_threads(void **state)
{
    (void)state;
    check_both(
        "50 71 malloc(1)=0x10\n60 71 malloc(2)=0x10\n50 70 malloc(3)=0x20\n"
        "50 71 free(0x20)\n60 60 free(0x10)\n60 71 free(0x20)\n13663 malloc(42)=0x1",
        ".....S.",
        "1 1 malloc(1)=#1\n2 1 malloc(2)=#1\n1 2 malloc(3)=#2\n"
        "1 1 free(#2)\n2 2 free(#1)\n3 1 malloc(42)=#1\n");
}

/* Malformed lines get no numbers; lines refused later do. */
static void
test_refused(void **state)
{
    (void)state;
    check_both("7 7 malloc 1\n8 8 munmap(1)\n9 9 free(0x10)\n9 8 malloc(x)=0x1\n"
               "8 9 malloc(1)=0x10\n9 7 malloc(1)=0x10\n5 free(0x1)=0x2",
               "MUSM..M",
               "1 2 malloc(1)=#1\n2 3 malloc(1)=#1\n");
    check_both("1 1 malloc(99)=0x0\n1 1 calloc(9,9)=0x0", "FF", "");
}

static void
test_null(void **state)
{
    const char *input = "1 1 malloc(1)=0x10\n1 1 free(0x10)\n1 1 free(0x0)\n"
                        "1 1 realloc(0x0,5)=0x20\n1 1 free(0x0)\n1 1 malloc(2)=0x30";

    (void)state;
    check(true, input, "......",
          "1 1 malloc(1)=#1\n1 1 free(#1)\n1 1 free(#1)\n"
          "1 1 realloc(#1,5)=#2\n1 1 free(#1)\n1 1 malloc(2)=#3\n");
    check(false, input, "......",
          "1 1 malloc(1)=#1\n1 1 free(#1)\n1 1 free(#0)\n"
          "1 1 realloc(#0,5)=#1\n1 1 free(#0)\n1 1 malloc(2)=#2\n");
}

static void
test_failed_realloc(void **state)
{
    const char *input = "1 1 malloc(1)=0x10\n1 1 realloc(0x10,9)=0x0\n1 1 free(0x10)";

    (void)state;
    check(true, input, ".FS", "1 1 malloc(1)=#1\n");
    check(false, input, ".F.", "1 1 malloc(1)=#1\n1 1 free(#1)\n");
    check(false, "1 1 realloc(0x0,9)=0x0\n1 1 realloc(0x0,0)=0x0", "FF", "");
}

static void
test_realloc_to_nothing(void **state)
{
    const char *input = "1 1 malloc(1)=0x10\n1 1 realloc(0x10,0)=0x0\n1 1 free(0x10)";

    (void)state;
    check(true, input, ".FS", "1 1 malloc(1)=#1\n");
    check(false, input, "..S", "1 1 malloc(1)=#1\n1 1 free(#1)\n");
    check_both("1 1 malloc(1)=0x10\n1 1 realloc(0x10,0)=0x20\n1 1 free(0x20)", "...",
               "1 1 malloc(1)=#1\n1 1 realloc(#1,0)=#1\n1 1 free(#1)\n");
}

/* Adds lines until the munger stops waiting. */
static void
wait_long(struct munge *munge, int lines)
{
    while (lines-- > 0)
        munge_line(munge, "1 1 stats()", 11);
}

/* Address 0x10 is returned again without having been freed. */
static void
test_missing_free(void **state)
{
    const char *input = "1 1 malloc(1)=0x10\n1 1 malloc(2)=0x10\n1 1 free(0x10)";
    struct munge *munge;

    (void)state;
    check(true, input, "...", "1 1 malloc(1)=#1\n1 1 malloc(2)=#1\n1 1 free(#1)\n");
    check(false, input, "...", "1 1 malloc(1)=#1\n1 1 malloc(2)=#2\n1 1 free(#2)\n");
    /* Again and again: at most five blocks at an address. */
    check(false,
          "1 1 malloc(1)=0x10\n1 1 malloc(2)=0x10\n1 1 malloc(3)=0x10\n"
          "1 1 malloc(4)=0x10\n1 1 malloc(5)=0x10\n1 1 malloc(6)=0x10\n1 1 free(0x10)",
          ".......",
          "1 1 malloc(1)=#1\n1 1 malloc(2)=#2\n1 1 malloc(3)=#3\n1 1 malloc(4)=#4\n"
          "1 1 free(#1)\n1 1 malloc(5)=#1\n1 1 free(#2)\n1 1 malloc(6)=#2\n"
          "1 1 free(#2)\n");

    /* At the end a free() is added, whether its address is live or not. */
    munge = start(false);
    munge_line(munge, "1 7 malloc(1)=0x10", 18);
    munge_line(munge, "1 7 malloc(2)=0x10", 18);
    munge_line(munge, "1 7 malloc(3)=0x20", 18);
    munge_line(munge, "1 7 malloc(4)=0x20", 18);
    munge_line(munge, "1 7 free(0x20)", 14);
    output[0] = '\0';
    counting = true;
    counted = 0;
    wait_long(munge, 99990);
    assert_int_equal(99990, counted);
    assert_string_equal("", output);
    wait_long(munge, 20);
    assert_string_equal("1 1 free(#1)\n1 1 free(#3)\n", output);
    assert_int_equal(MUNGE_UNSEEN, munge_line(munge, "1 1 free(0x20)", 14));
    assert_int_equal(MUNGE_GOOD, munge_line(munge, "1 1 free(0x10)", 14));
    assert_string_equal("1 1 free(#1)\n1 1 free(#3)\n1 2 free(#2)\n", output);
    munge_free(munge);
}

/* Thread 1 calls realloc, which frees 0x10; thread 2 then gets 0x10 and is recorded
   first. */
static void
test_late_realloc(void **state)
{
    (void)state;
    check(false,
          "1 1 malloc(1)=0x10\n1 2 malloc(2)=0x10\n1 1 realloc(0x10,9)=0x20\n"
          "1 2 free(0x10)\n1 1 free(0x20)\n1 1 free(0x10)",
          ".....S",
          "1 1 malloc(1)=#1\n1 2 malloc(2)=#2\n1 1 realloc(#1,9)=#1\n"
          "1 2 free(#2)\n1 1 free(#1)\n");
    /* Thread 2 has freed it since, and got it again. */
    check(false,
          "1 1 malloc(1)=0x10\n1 2 malloc(2)=0x10\n1 2 free(0x10)\n1 2 malloc(3)=0x10\n"
          "1 2 realloc(0x10,4)=0x30\n1 1 realloc(0x10,9)=0x20\n1 1 free(0x20)\n"
          "1 1 free(0x10)",
          ".......S",
          "1 1 malloc(1)=#1\n1 2 malloc(2)=#2\n1 2 free(#2)\n1 2 malloc(3)=#2\n"
          "1 2 realloc(#2,4)=#2\n1 1 realloc(#1,9)=#1\n1 1 free(#1)\n");
    /* Two reallocs are late, and a third thread has the address. */
    check(false,
          "1 1 malloc(1)=0x10\n1 2 malloc(2)=0x10\n1 3 malloc(3)=0x10\n"
          "1 2 realloc(0x10,8)=0x20\n1 1 realloc(0x10,9)=0x30\n1 3 free(0x10)",
          "......",
          "1 1 malloc(1)=#1\n1 2 malloc(2)=#2\n1 3 malloc(3)=#3\n"
          "1 2 realloc(#2,8)=#2\n1 1 realloc(#1,9)=#1\n1 3 free(#3)\n");
    /* The realloc failed, so it was not the cause. */
    check(false,
          "1 1 malloc(1)=0x10\n1 2 malloc(2)=0x10\n1 1 realloc(0x10,9)=0x0\n"
          "1 2 free(0x10)",
          "..F.", "1 1 malloc(1)=#1\n1 2 malloc(2)=#2\n1 2 free(#2)\n");
}

static void
test_no_result(void **state)
{
    (void)state;
    check(true, "1 1 malloc(1)\n1 1 realloc(0x0,5)", "..",
          "1 1 malloc(1)\n1 1 realloc(#1,5)\n");
    check(false, "1 1 malloc(1)\n1 1 realloc(0x0,5)\n1 1 free(0x1)", "RRS", "");
}

/* Whatever is recorded, a corrected log is a possible one: every freed slot is in use,
   and none is used twice. */
static void
check_legal(void *context, const struct logalloc_line *line)
{
    bool *taken = context;

    if (logalloc_takes_block(line->call) && line->block != 0) {
        assert_true(line->block < 64 && taken[line->block]);
        taken[line->block] = false;
    }
    if (line->has_result) {
        assert_true(line->result > 0 && line->result < 64 && !taken[line->result]);
        taken[line->result] = true;
    }
}

static void
test_any_calls(void **state)
{
    static const char *const forms[] = {
        "1 %d malloc(1)=0x%x", "1 %d free(0x%x)", "1 %d realloc(0x%x,%u)=0x%x",
    };
    bool taken[64] = {false};
    const struct munge_options options = {.put = check_legal, .context = taken};
    struct munge *munge = munge_new(&options);

    (void)state;
    srand(1);
    for (int round = 0; round < 200000; round++) {
        char text[64];
        int form = rand() % 3;
        unsigned size = (unsigned)rand() % 2;

        if (form == 2)
            snprintf(text, sizeof text, forms[2], rand() % 3, rand() % 16, size,
                     rand() % 16);
        else
            snprintf(text, sizeof text, forms[form], rand() % 3, rand() % 16);
        munge_line(munge, text, strlen(text));
    }
    munge_free(munge);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_processes_and_threads),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_failed_realloc),
        cmocka_unit_test(test_realloc_to_nothing),
        cmocka_unit_test(test_missing_free),
        cmocka_unit_test(test_late_realloc),
        cmocka_unit_test(test_no_result),
        cmocka_unit_test(test_any_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
