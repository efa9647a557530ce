/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which words are sampled, compared by Pearson's chi^2 with the distributions they must
 * have.  The generator always starts with the same number, so a test that passes once
 * always does.
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "preload/draw.h"

#define CLASSES 64
#define FEW     8.0 /* least expected number in a class; smaller neighbours are joined */

/* How often each outcome was drawn, and should have been. */
struct drawn_sample {
    double seen[CLASSES];
    double expected[CLASSES];
};

/* chi^2 with k degrees of freedom is almost never above k + 5 sqrt(2 k) + 8. */
static void
assert_fits(const struct drawn_sample *sample)
{
    double chi = 0, seen = 0, expected = 0;
    int freedom = -1;

    for (int i = 0; i < CLASSES; i++) {
        seen += sample->seen[i];
        expected += sample->expected[i];
        if (expected < FEW && i < CLASSES - 1)
            continue;
        if (expected > 0)
            chi += (seen - expected) * (seen - expected) / expected;
        else
            assert_true(seen == 0);
        seen = expected = 0;
        freedom++;
    }
    assert_true(freedom > 3);
    if (chi > freedom + 5 * sqrt(2.0 * freedom) + 8)
        fail_msg("chi^2 is %g with %d degrees of freedom", chi, freedom);
}

static double
log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

static void
test_words(void **state)
{
    (void)state;
    assert_int_equal(draw_words(0), 1);
    assert_int_equal(draw_words(1), 2);
    assert_int_equal(draw_words(8), 2);
    assert_int_equal(draw_words(9), 3);
    assert_int_equal(draw_words(64), 9);
    assert_true(draw_words(SIZE_MAX) == SIZE_MAX / 8 + 2);
}

static void
test_bounds(void **state)
{
    struct draw draw = {.random = 1};

    (void)state;
    draw_begin(&draw, 0);
    assert_int_equal(draw_hits(&draw, UINT64_C(1) << 60), 0);
    draw_begin(&draw, 1);
    assert_true(draw_hits(&draw, UINT64_C(1) << 60) == UINT64_C(1) << 60);
    assert_int_equal(draw_hits(&draw, 1), 1);
    draw_begin(&draw, 1e-18); /* distances so large that a number can hardly hold them */
    for (int i = 0; i < 1000; i++)
        assert_int_equal(draw_hits(&draw, 1000), 0);
    draw_begin(&draw, 5e-324);
    assert_int_equal(draw_hits(&draw, UINT64_C(1) << 50), 0);
}

/* The gaps are the same for single words and for blocks of three. */
static void
test_gaps(void **state)
{
    const double rate = 0.1;
    const int words = 3000000;
    struct draw draw = {.random = 2};
    struct drawn_sample sample = {{0}, {0}};
    int since = 0;
    double count = 0;

    (void)state;
    draw_begin(&draw, rate);
    for (int i = 0; i < words; i++) {
        since++;
        if (draw_hits(&draw, 1) == 0)
            continue;
        sample.seen[since < CLASSES ? since - 1 : CLASSES - 1]++;
        since = 0;
        count++;
    }
    for (int i = 0; i < CLASSES; i++)
        sample.expected[i] = count * pow(1 - rate, i) * (i < CLASSES - 1 ? rate : 1);
    assert_fits(&sample);
}

/* `draws` draws of the number of hits in `words` words. */
static void
check_binomial(uint64_t random, double rate, unsigned words, double begin, double width)
{
    const int draws = 300000;
    struct draw draw = {.random = random};
    struct drawn_sample sample = {{0}, {0}};

    draw_begin(&draw, rate);
    for (int i = 0; i < draws; i++) {
        double class = floor(((double)draw_hits(&draw, words) - begin) / width);
        sample.seen[class < 0 ? 0 : class >= CLASSES ? CLASSES - 1 : (int)class]++;
    }
    for (unsigned k = 0; k <= words; k++) {
        double class = floor((k - begin) / width);
        sample.expected[class < 0 ? 0 : class >= CLASSES ? CLASSES - 1 : (int)class] +=
            draws
            * exp(log_choose(words, k) + k * log(rate) + (words - k) * log1p(-rate));
    }
    assert_fits(&sample);
}

/* Drawn by gaps, or all at once if many hits are expected. */
static void
test_hits(void **state)
{
    (void)state;
    check_binomial(3, 0.01, 9, 0, 1);
    check_binomial(4, 0.1, 100, 0, 1);
    check_binomial(5, 0.5, 20, 0, 1);
    check_binomial(6, 0.9, 30, 0, 1);
    check_binomial(7, 0.1, 1000, 70, 1);
    check_binomial(8, 0.5, 1000, 437, 2);
    check_binomial(9, 0.7, 2000, 1335, 2);
    check_binomial(10, 0.001, 100000, 68, 1);
    check_binomial(11, 0.02, 3400, 36, 1);
}

/* Far more hits than can be drawn one by one. */
static void
test_huge(void **state)
{
    const double words = 0x1p50, rate = 1e-3;
    struct draw draw = {.random = 12};
    double sum = 0;

    (void)state;
    draw_begin(&draw, rate);
    for (int i = 0; i < 1000; i++)
        sum += ((double)draw_hits(&draw, UINT64_C(1) << 50) - words * rate)
               / sqrt(words * rate * (1 - rate));
    assert_true(fabs(sum) < 5 * sqrt(1000));
}

/* Of 30 words, of which 12 were hit, 18 remain. */
static void
test_kept(void **state)
{
    const int draws = 300000;
    struct draw draw = {.random = 13};
    struct drawn_sample sample = {{0}, {0}};

    (void)state;
    for (int i = 0; i < draws; i++)
        sample.seen[draw_kept(&draw, 12, 30, 18)]++;
    for (int k = 0; k <= 12; k++)
        sample.expected[k] =
            draws * exp(log_choose(18, k) + log_choose(12, 12 - k) - log_choose(30, 12));
    assert_fits(&sample);
    assert_int_equal(draw_kept(&draw, 1000000000000, 1000000000000, 7), 7);
    assert_int_equal(draw_kept(&draw, 0, 10, 7), 0);
    assert_int_equal(draw_kept(&draw, 5, 10, 10), 5);
    assert_int_equal(draw_kept(&draw, 5, 10, 0), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_gaps),  cmocka_unit_test(test_hits),
        cmocka_unit_test(test_huge),  cmocka_unit_test(test_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
