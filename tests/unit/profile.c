/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The model of allocation sites, from artificial readings: a simulated program whose
 * true figures are known, sampled as the library does.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/profile-table.h"

#define SECOND INT64_C(1000000000)

/* ---- a program, sampled ---- */

#define POOL_MAX   4096
#define SITES_MAX  512
#define BLOCKS_MAX 65536

struct program {
    double rate;
    uint64_t seed;
    uint64_t pool[POOL_MAX];
    size_t pool_count;
    struct site sites[SITES_MAX];
    size_t site_count;
    struct sampled_block blocks[BLOCKS_MAX];
    size_t block_count;
    double true_bytes, true_objects; /* live */
};

static struct program program;

static void
begin(double rate, uint64_t seed)
{
    memset(&program, 0, sizeof program);
    program.rate = rate;
    program.seed = seed * 2 + 1;
    program.pool_count = 1; /* id 0 means no stack */
    program.site_count = 1; /* site 0 counts what has no other site */
    program.sites[0].bucket = SITE_ANY_SIZE;
}

static double
chance(void)
{
    program.seed ^= program.seed << 13;
    program.seed ^= program.seed >> 7;
    program.seed ^= program.seed << 17;
    return (double)(program.seed >> 11) / 9007199254740992.0;
}

/* A stack of functions named by letters, innermost first: "cba". */
static uint32_t
stack(const char *functions)
{
    size_t depth = strlen(functions), at;

    for (at = 1; at < program.pool_count; at += 1 + program.pool[at]) {
        size_t same = 0;

        while (same < depth && program.pool[at] == depth
               && program.pool[at + 1 + same]
                      == (uint64_t)functions[same] * 256 + 1)
            same++;
        if (same == depth && program.pool[at] == depth)
            return (uint32_t)at;
    }
    assert_true(program.pool_count + depth + 1 < POOL_MAX);
    program.pool[program.pool_count++] = depth;
    for (size_t i = 0; i < depth; i++) /* a return address is behind the call */
        program.pool[program.pool_count++] = (uint64_t)functions[i] * 256 + 1;
    return (uint32_t)at;
}

static uint32_t
site(const char *functions, uint64_t size)
{
    uint32_t id = stack(functions), bucket = histogram_coarse(size);

    for (uint32_t i = 1; i < program.site_count; i++)
        if (program.sites[i].stack == id && program.sites[i].bucket == bucket)
            return i;
    assert_true(program.site_count < SITES_MAX);
    program.sites[program.site_count].stack = id;
    program.sites[program.site_count].bucket = bucket;
    return (uint32_t)program.site_count++;
}

static void
count(struct site_figures *figures, uint64_t size, double sign)
{
    double weight = sites_weight(program.rate, size);

    figures->bytes += sign * weight * (double)size;
    figures->objects += sign * weight;
    figures->blocks += sign > 0 ? 1 : UINT64_MAX;
    figures->samples += sign > 0 ? 1 : UINT64_MAX;
}

/* Allocates a block; returns its address, 0 if it was not sampled. */
static uint64_t
make(const char *functions, uint64_t size, int64_t born_ns)
{
    static uint64_t address;
    struct site *where;
    uint32_t index;

    program.true_bytes += (double)size;
    program.true_objects++;
    if (chance() >= 1 / sites_weight(program.rate, size))
        return 0;
    index = site(functions, size);
    where = &program.sites[index];
    count(&where->made, size, 1);
    count(&where->live, size, 1);
    where->first_ns = where->first_ns > 0 ? where->first_ns : (uint64_t)born_ns;
    where->last_ns = (uint64_t)born_ns;
    assert_true(program.block_count < BLOCKS_MAX);
    program.blocks[program.block_count++] =
        (struct sampled_block){.address = ++address, .size = size,
                               .born_ns = (uint64_t)born_ns, .samples = 1, .site = index};
    return address;
}

static void
release(uint64_t address, int64_t now_ns)
{
    for (size_t i = program.block_count; i-- > 0;) {
        struct sampled_block block = program.blocks[i];
        struct site *where = &program.sites[block.site];

        if (block.address != address)
            continue;
        count(&where->live, block.size, -1);
        count(&where->freed, block.size, 1);
        count(&where->freed_after[site_lifetime((uint64_t)now_ns - block.born_ns)],
              block.size, 1);
        program.blocks[i] = program.blocks[--program.block_count];
        return;
    }
}

static void *
copy(const void *from, size_t size)
{
    void *to = malloc(size + 1);

    assert_non_null(to);
    memcpy(to, from, size);
    return to;
}

/* Makes the present the peak. */
static void
peak(void)
{
    for (size_t i = 0; i < program.site_count; i++)
        program.sites[i].at_peak = program.sites[i].live;
}

static const struct symbol *
name(void *context, uint64_t address)
{
    static char names[256][64];
    static struct symbol_frame frames[2];
    static struct symbol out;
    const char *module = context;
    unsigned letter = (unsigned)(address / 256) & 255;

    out = (struct symbol){.module = "/usr/lib/libtest.so.1",
                          .offset = address,
                          .state = module == NULL ? SYMBOL_KNOWN : SYMBOL_ASKED};
    if (module != NULL)
        return &out; /* not known yet */
    snprintf(names[letter], sizeof names[letter],
             letter == 'v' ? "std::vector<Row>::push_back" : "fun_%c", letter);
    out.count = 1;
    out.frames = frames;
    frames[0] = (struct symbol_frame){names[letter], "source.c", letter};
    if (letter == 'i') { /* 'j' is inlined here */
        out.count = 2;
        frames[1] = frames[0];
        frames[0] = (struct symbol_frame){"fun_j", "inline.h", 7};
    }
    return &out;
}

static const struct profile_namer namer = {NULL, name};

/* Makes the profile read the program's present state, without names. */
static void
read_unnamed(struct profile *profile, int64_t run_ns)
{
    struct sites_reading *reading = profile_reading(profile);

    sites_free(reading);
    reading->rate = program.rate;
    reading->pool = copy(program.pool, program.pool_count * sizeof *program.pool);
    reading->pool_count = program.pool_count;
    reading->sites = copy(program.sites, program.site_count * sizeof *program.sites);
    reading->site_count = program.site_count;
    reading->blocks = copy(program.blocks, program.block_count * sizeof *program.blocks);
    reading->block_count = program.block_count;
    assert_true(profile_digest(profile, run_ns, 0));
}

static void
read_at(struct profile *profile, int64_t run_ns)
{
    read_unnamed(profile, run_ns);
    profile_resolve(profile, &namer);
}

static const struct profile_filter no_filter;
static struct profile_table table;

static struct profile_query
query_of(enum profile_mode mode, enum profile_form form)
{
    return (struct profile_query){.mode = mode, .form = form, .filter = &no_filter,
                                  .past_ns = -1};
}

static void
ask(const struct profile *profile, struct profile_query query)
{
    profile_table_fill(&table, profile, &query);
}

/* The row of a function, the first one if there are several. */
static const struct profile_row *
row_of(const struct profile *profile, const char *function)
{
    for (size_t i = 0; i < table.count; i++)
        if (strcmp(profile_function(profile, table.rows[i].function), function) == 0)
            return &table.rows[i];
    return NULL;
}

static void
assert_about(double value, double expected)
{
    if (fabs(value - expected) > 1e-6 * fabs(expected) + 1e-9)
        fail_msg("%g is not %g", value, expected);
}

/* ---- tests ---- */

static void
at_rate_one_estimates_are_the_truth(void **state)
{
    struct profile *profile = profile_new();
    uint64_t block;

    (void)state;
    begin(1, 1);
    for (int i = 0; i < 1000; i++)
        make("ba", 24 + (uint64_t)(i % 8), SECOND);
    for (int i = 0; i < 10; i++)
        make("ca", 100000, SECOND);
    block = make("ca", 5000, 2 * SECOND);
    peak();
    release(block, 3 * SECOND);
    program.true_bytes -= 5000;
    read_at(profile, 11 * SECOND);

    ask(profile, query_of(PROFILE_LIVE, PROFILE_STACKS));
    assert_int_equal(table.answer, PROFILE_ANSWERED);
    assert_int_equal(table.count, 2);
    assert_about(table.sum.bytes, program.true_bytes);
    assert_about(table.sum.objects, 1010);
    assert_true(table.sum.bytes_variance == 0);
    assert_string_equal(profile_function(profile, table.rows[0].function), "fun_c");
    assert_about(table.rows[0].figures.bytes, 1000000);
    assert_about(table.rows[0].figures.made_bytes, 1005000);
    assert_about(profile_age(&table.rows[0].figures), 10 * 1e9);
    assert_true(profile_error(&table.rows[0].figures) == 0);

    ask(profile, query_of(PROFILE_PEAK, PROFILE_STACKS));
    assert_about(table.sum.bytes, program.true_bytes + 5000);
    ask(profile, query_of(PROFILE_MADE, PROFILE_STACKS));
    assert_about(table.sum.objects, 1011);
    profile_free(profile);
}

#define TRIALS 400

/* How the estimates from many samples of a program are distributed around the truth. */
struct spread {
    double sum, variance;
    int within_one, within_two;   /* standard errors */
};

static void
spread_add(struct spread *spread, double truth)
{
    double error = sqrt(table.sum.bytes_variance);

    spread->sum += table.sum.bytes;
    spread->variance += table.sum.bytes_variance;
    spread->within_one += fabs(table.sum.bytes - truth) <= error;
    spread->within_two += fabs(table.sum.bytes - truth) <= 2 * error;
}

/* The mean has no bias; two thirds are within one standard error, 95 of 100 within
   two. */
static void
expect_spread(const struct spread *spread, double truth)
{
    double error_of_mean = sqrt(spread->variance) / TRIALS;

    if (fabs(spread->sum / TRIALS - truth) > 4 * error_of_mean)
        fail_msg("%g is not %g", spread->sum / TRIALS, truth);
    assert_in_range(spread->within_one, 0.60 * TRIALS, 0.76 * TRIALS);
    assert_in_range(spread->within_two, 0.91 * TRIALS, 0.985 * TRIALS);
}

static void
estimates_are_unbiased(void **state)
{
    struct spread made = {0}, old = {0};
    double objects = 0;

    (void)state;
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        struct profile *profile = profile_new();
        struct profile_query query = query_of(PROFILE_MADE, PROFILE_STACKS);
        double old_truth = 0;

        begin(1.0 / 4096, 77 + trial);
        for (uint64_t i = 0; i < 12000; i++) {
            uint64_t size = 16 + i * 37 % 2000 + (i % 50 == 0) * 40000;

            make(i % 3 ? "ba" : "ca", size, (int64_t)(i % 2 + 1) * SECOND);
            old_truth += i % 2 ? 0 : (double)size;
        }
        read_at(profile, 10 * SECOND);
        ask(profile, query); /* computed from the sums of sites */
        spread_add(&made, program.true_bytes);
        objects += table.sum.objects / TRIALS;
        query.mode = PROFILE_LIVE;
        query.survivors_ns = 8 * SECOND + 1;
        ask(profile, query); /* computed from the blocks */
        spread_add(&old, old_truth);
        if (trial == TRIALS - 1) {
            expect_spread(&made, program.true_bytes);
            expect_spread(&old, old_truth);
        }
        profile_free(profile);
    }
    assert_true(fabs(objects / 12000 - 1) < 0.05);
}

static void
trees_have_each_block_once(void **state)
{
    struct profile *profile = profile_new();
    struct profile_toggled toggled = {{0}, 0, true};
    struct profile_query query = query_of(PROFILE_LIVE, PROFILE_CALLEES);
    double roots = 0;

    (void)state;
    begin(1, 1);
    make("cba", 100, SECOND);
    make("dba", 50, SECOND);
    make("bbba", 1000, SECOND); /* recursive */
    make("ba", 7, SECOND);      /* ends where others continue */
    read_at(profile, 2 * SECOND);

    query.toggled = &toggled;
    ask(profile, query);
    assert_int_equal(table.rows[0].depth, 0);
    assert_string_equal(profile_function(profile, table.rows[0].function), "fun_a");
    assert_about(table.rows[0].figures.bytes, 1157);
    assert_string_equal(profile_function(profile, table.rows[1].function), "fun_b");
    assert_about(table.rows[1].figures.bytes, 1157);
    assert_int_equal(table.rows[1].stacks, 4);
    assert_about(row_of(profile, "fun_c")->figures.bytes, 100);
    assert_int_equal(row_of(profile, "fun_c")->depth, 2);
    assert_int_equal(table.count, 6); /* a, b, b, b, c, d */

    /* An only child is at its parent's indent, unless the parent is a root. */
    assert_true(table.rows[1].branch && table.rows[1].indent == 1);
    assert_true(row_of(profile, "fun_c")->branch);
    assert_int_equal(row_of(profile, "fun_c")->indent, 2);

    query.form = PROFILE_CALLERS;
    ask(profile, query);
    for (size_t i = 0; i < table.count; i++)
        roots += table.rows[i].depth == 0 ? table.rows[i].figures.bytes : 0;
    assert_about(roots, 1157);
    assert_about(row_of(profile, "fun_b")->figures.bytes, 1007);

    /* Closed at first, except for only children; a key opens rows. */
    toggled.all_open = false;
    ask(profile, query);
    assert_int_equal(table.count, 3);
    assert_true(table.rows[0].more && !table.rows[0].open);
    profile_toggle(&toggled, table.rows[0].key);
    ask(profile, query);
    assert_true(table.rows[0].open);
    assert_string_equal(profile_function(profile, table.rows[1].function), "fun_b");
    assert_string_equal(profile_function(profile, table.rows[2].function), "fun_a");
    assert_int_equal(table.rows[1].depth, 1);
    profile_toggle(&toggled, table.rows[0].key);
    ask(profile, query);
    assert_int_equal(table.count, 3);
    profile_free(profile);
}

static void
inlined_functions_are_rows(void **state)
{
    struct profile *profile = profile_new();
    struct profile_place places[8];
    size_t length;
    const uint32_t *path;

    (void)state;
    begin(1, 1);
    make("cia", 100, SECOND);
    read_at(profile, 2 * SECOND);
    ask(profile, query_of(PROFILE_LIVE, PROFILE_STACKS));
    path = profile_table_path(&table, profile, 0, &length);
    assert_int_equal(length, 4);
    assert_string_equal(profile_function(profile, path[1]), "fun_j");
    assert_string_equal(profile_function(profile, path[2]), "fun_i");
    assert_int_equal(profile_places(profile, table.rows[0].stack, places, 8), 4);
    assert_true(places[1].inlined && !places[2].inlined);
    assert_string_equal(places[1].file, "inline.h");
    assert_int_equal(places[1].line, 7);
    profile_free(profile);
}

static struct profile_filter
rule(enum profile_rule_kind kind, const char *text, bool whole)
{
    struct profile_filter filter = {.rule_count = 1};

    filter.rules[0].kind = kind;
    filter.rules[0].whole = whole;
    snprintf(filter.rules[0].text, sizeof filter.rules[0].text, "%s", text);
    return filter;
}

static double
bytes_with(const struct profile *profile, struct profile_query query,
           const struct profile_filter *filter)
{
    query.filter = filter;
    ask(profile, query);
    return table.sum.bytes;
}

static void
filters_choose_stacks(void **state)
{
    struct profile *profile = profile_new();
    struct profile_query query = query_of(PROFILE_LIVE, PROFILE_CALLERS);
    struct profile_filter filter;

    (void)state;
    begin(1, 1);
    make("cba", 100, SECOND);
    make("vba", 50, SECOND);
    make("dca", 3000, SECOND);
    read_at(profile, 2 * SECOND);

    filter = rule(PROFILE_REQUIRE, "fun_b", false);
    assert_about(bytes_with(profile, query, &filter), 150);
    filter = rule(PROFILE_REQUIRE, "VECTOR", false); /* capitals match only capitals */
    assert_about(bytes_with(profile, query, &filter), 0);
    filter = rule(PROFILE_REQUIRE, "vector<row>", false);
    assert_about(bytes_with(profile, query, &filter), 50);
    filter = rule(PROFILE_REQUIRE, "fun", true); /* no function has exactly this name */
    assert_about(bytes_with(profile, query, &filter), 0);
    filter = rule(PROFILE_FORBID, "fun_c", true);
    assert_about(bytes_with(profile, query, &filter), 50);
    filter = rule(PROFILE_HIDE, "vector", false);
    assert_about(bytes_with(profile, query, &filter), 3150);
    assert_null(row_of(profile, "std::vector<Row>::push_back"));
    assert_about(row_of(profile, "fun_b")->figures.bytes, 50); /* its caller takes its
                                                                  place */
    filter = rule(PROFILE_HIDE, "", false); /* hides all functions */
    assert_about(bytes_with(profile, query, &filter), 3150);
    assert_int_equal(table.count, 1);
    assert_int_equal(table.rows[0].function, PROFILE_HIDDEN);

    filter = (struct profile_filter){.size_from = 90, .size_to = 3100};
    assert_about(bytes_with(profile, query, &filter), 3100);
    filter = (struct profile_filter){.size_to = 60};
    assert_about(bytes_with(profile, query, &filter), 50);
    filter = (struct profile_filter){.blocks_min = 2};
    assert_about(bytes_with(profile, query, &filter), 3150);
    assert_int_equal(table.count, 0);
    assert_int_equal(table.few, 3);
    profile_free(profile);
}

static void
lifetimes_choose_allocations(void **state)
{
    struct profile *profile = profile_new();
    struct profile_filter filter = {.life_to_ns = SECOND / 1000 * 5};
    struct profile_query query = query_of(PROFILE_MADE, PROFILE_STACKS);

    (void)state;
    begin(1, 1);
    release(make("ba", 100, SECOND), SECOND + SECOND / 1000 * 2);
    release(make("ba", 1000, SECOND), 31 * SECOND);
    make("ba", 7, SECOND);
    peak();
    read_at(profile, 101 * SECOND);
    assert_about(bytes_with(profile, query, &filter), 100);
    filter = (struct profile_filter){.life_from_ns = 20 * SECOND};
    assert_about(bytes_with(profile, query, &filter), 1007);
    filter.life_to_ns = 40 * SECOND;
    assert_about(bytes_with(profile, query, &filter), 1000);
    query.mode = PROFILE_LIVE;
    assert_about(bytes_with(profile, query, &filter), 0);
    filter.life_to_ns = 0;
    assert_about(bytes_with(profile, query, &filter), 7);
    query.mode = PROFILE_PEAK;
    bytes_with(profile, query, &filter);
    assert_int_equal(table.answer, PROFILE_LIFE_UNKNOWN);
    profile_free(profile);
}

static void
marks_and_moments(void **state)
{
    struct profile *profile = profile_new();
    struct profile_query query = query_of(PROFILE_SINCE, PROFILE_STACKS);
    uint64_t old;

    (void)state;
    ask(profile, query);
    assert_int_equal(table.answer, PROFILE_NOTHING_KNOWN);
    begin(1, 1);
    old = make("ba", 1000, SECOND);
    read_at(profile, 2 * SECOND);
    ask(profile, query);
    assert_int_equal(table.answer, PROFILE_NOT_MARKED);
    assert_true(profile_set_mark(profile, 2 * SECOND));

    release(old, 3 * SECOND);
    make("ca", 300, 3 * SECOND);
    read_at(profile, 4 * SECOND);
    ask(profile, query);
    assert_about(table.sum.bytes, -700);
    assert_about(row_of(profile, "fun_b")->figures.bytes, -1000);
    assert_about(row_of(profile, "fun_c")->figures.bytes, 300);
    assert_about(row_of(profile, "fun_c")->figures.made_bytes, 300);
    assert_about(row_of(profile, "fun_b")->figures.made_bytes, 0);
    assert_true(!(table.missing & PROFILE_RATES));
    assert_about(row_of(profile, "fun_c")->figures.bytes_rate, 150);

    /* In the past. */
    query.mode = PROFILE_LIVE;
    query.past_ns = 3 * SECOND;
    ask(profile, query);
    assert_int_equal(table.run_ns, 2 * SECOND);
    assert_about(table.sum.bytes, 1000);
    assert_true(table.missing & PROFILE_AGES && table.missing & PROFILE_RATES);
    query.past_ns = SECOND;
    ask(profile, query);
    assert_int_equal(table.answer, PROFILE_NOT_RECORDED);
    profile_clear_mark(profile);
    assert_false(profile_marked(profile));

    profile_restart(profile);
    query.past_ns = -1;
    ask(profile, query);
    assert_int_equal(table.answer, PROFILE_NOTHING_KNOWN);
    profile_free(profile);
}

/* Growing sites come before larger ones whose blocks come and go. */
static void
leaks_come_first(void **state)
{
    struct profile *profile = profile_new();
    struct profile_query query = query_of(PROFILE_LIVE, PROFILE_STACKS);
    uint64_t cache[10] = {0};

    (void)state;
    begin(1, 1);
    make("ka", 50000, SECOND); /* live from the beginning */
    for (int64_t now = 2; now < 300; now++) {
        for (int i = 0; i < 10; i++)
            if ((now + i) % 7 == 0) {
                release(cache[i], now * SECOND);
                cache[i] = make("ca", 3000, now * SECOND);
            }
        make("la", 100, now * SECOND);
        read_at(profile, now * SECOND);
    }
    assert_int_equal(profile_growth_since(profile), 2 * SECOND);
    query.survivors_ns = 60 * SECOND;
    ask(profile, query);
    assert_string_equal(profile_function(profile, table.rows[0].function), "fun_l");
    assert_about(table.rows[0].figures.bytes, 100 * 238); /* older than a minute */
    assert_true(table.rows[0].figures.growth > 10000);
    assert_string_equal(profile_function(profile, table.rows[1].function), "fun_k");
    assert_null(row_of(profile, "fun_c")); /* none of its blocks are that old */
    query.survivors_ns = 0;
    query.column = PROFILE_BY_GROWTH;
    ask(profile, query);
    assert_true(fabs(row_of(profile, "fun_k")->figures.growth) < 1);
    assert_true(fabs(row_of(profile, "fun_c")->figures.growth) < 1000);
    profile_free(profile);
}

static void
rows_are_sorted_by_every_column(void **state)
{
    struct profile *profile = profile_new();
    struct profile_query query = query_of(PROFILE_LIVE, PROFILE_STACKS);
    static const struct { enum profile_column column; const char *first; } cases[] = {
        {PROFILE_BY_DEFAULT, "fun_b"}, {PROFILE_BY_BYTES, "fun_b"},
        {PROFILE_BY_OBJECTS, "fun_c"}, {PROFILE_BY_MADE, "fun_d"},
        {PROFILE_BY_RATE, "fun_d"},    {PROFILE_BY_AGE, "fun_b"},
        {PROFILE_BY_BLOCKS, "fun_c"},  {PROFILE_BY_GROWTH, "fun_b"},
    };

    (void)state;
    begin(1, 1);
    make("ba", 10000, SECOND);
    for (int i = 0; i < 5; i++)
        make("ca", 10, 2 * SECOND);
    make("da", 1, 2 * SECOND);
    read_at(profile, 2 * SECOND);
    for (int i = 0; i < 100; i++)
        release(make("da", 1000, 3 * SECOND), 3 * SECOND);
    read_at(profile, 3 * SECOND);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        query.column = cases[i].column;
        query.reverse = false;
        ask(profile, query);
        assert_int_equal(table.count, 3);
        if (cases[i].column != PROFILE_BY_GROWTH) /* nothing has grown */
            assert_string_equal(profile_function(profile, table.rows[0].function),
                                cases[i].first);
        query.reverse = true;
        ask(profile, query);
        if (cases[i].column != PROFILE_BY_GROWTH)
            assert_string_equal(profile_function(profile, table.rows[2].function),
                                cases[i].first);
    }
    profile_free(profile);
}

static void
names_come_later(void **state)
{
    struct profile *profile = profile_new();
    struct profile_namer none = {"libtest", name};
    struct sites_reading *reading = profile_reading(profile);

    (void)state;
    begin(1, 1);
    make("ba", 100, SECOND);
    make("", 50, SECOND); /* could not be unwound */
    read_at(profile, 2 * SECOND);
    profile_restart(profile);
    reading->rate = 1;
    reading->pool = copy(program.pool, program.pool_count * sizeof *program.pool);
    reading->pool_count = program.pool_count;
    reading->sites = copy(program.sites, program.site_count * sizeof *program.sites);
    reading->site_count = program.site_count;
    assert_true(profile_digest(profile, 2 * SECOND, 0));
    assert_true(profile_resolve(profile, NULL)); /* without a source of names */
    ask(profile, query_of(PROFILE_LIVE, PROFILE_STACKS));
    assert_string_equal(profile_function(profile, table.rows[0].function), "[0x6200]");
    assert_true(profile_resolve(profile, &none));
    assert_false(profile_resolve(profile, NULL));
    assert_false(profile_resolve(profile, &none));
    ask(profile, query_of(PROFILE_LIVE, PROFILE_STACKS));
    assert_string_equal(profile_function(profile, table.rows[0].function),
                        "[libtest.so.1+0x6200]");
    assert_int_equal(table.rows[1].function, PROFILE_NO_STACK);
    assert_true(profile_resolve(profile, &namer));
    assert_false(profile_resolve(profile, &namer));
    ask(profile, query_of(PROFILE_LIVE, PROFILE_STACKS));
    assert_string_equal(profile_function(profile, table.rows[0].function), "fun_b");
    profile_free(profile);
}

/* Files that name no functions: 'a' and 'b' have the same offset in files of the same
   name, the others lie in no file. */
static const struct symbol *
name_nothing(void *context, uint64_t address)
{
    static struct symbol out;

    (void)context;
    out = (struct symbol){.state = SYMBOL_NO_MODULE};
    if (address < 'c' * 256)
        out = (struct symbol){.state = SYMBOL_UNNAMED,
                              .module = address < 'b' * 256 ? "/one/libx.so"
                                                            : "/two/libx.so",
                              .offset = 0x10};
    return &out;
}

/* Two addresses never share a name by mistake. */
static void
addresses_without_a_name(void **state)
{
    static const char *const expected[] = {"[libx.so+0x10]", "[/two/libx.so+0x10]",
                                           "[jit 0x6300]", "[jit 0x6400]"};
    const struct profile_namer none = {NULL, name_nothing};
    struct profile *profile = profile_new();
    struct profile_place places[4];
    uint32_t id;

    (void)state;
    begin(1, 1);
    make("abcd", 100, SECOND);
    id = stack("abcd");
    read_unnamed(profile, SECOND);
    assert_true(profile_resolve(profile, &none));
    assert_int_equal(profile_places(profile, id, places, 4), 4);
    for (unsigned i = 0; i < 4; i++)
        assert_string_equal(profile_function(profile, places[i].function), expected[i]);
    profile_free(profile);
}

/* 'x' is a wrapper, 'w' one of an inlined function of the source; 'g' was generated. */
static const struct symbol *
name_wrappers(void *context, uint64_t address)
{
    static struct symbol_frame frames[2];
    static struct symbol out;
    static char own[8];
    unsigned letter = (unsigned)(address / 256) & 255;

    (void)context;
    snprintf(own, sizeof own, "own_%c", letter);
    out = (struct symbol){.state = SYMBOL_KNOWN, .module = "/bin/prog", .count = 1,
                          .frames = frames};
    frames[0] = (struct symbol_frame){letter == 'x' ? "xmalloc" : own, "/src/own.c",
                                      letter};
    if (letter == 'w') {
        out.count = 2;
        frames[1] = frames[0];
        frames[0] = (struct symbol_frame){"make", "/usr/include/c++/12/new", 3};
    } else if (letter == 'g') {
        out.module = NULL;
    }
    return &out;
}

/* Lists begin with the first function that is no wrapper, unless all are or that is not
   wanted; trees and places have all. */
static void
lists_begin_without_wrappers(void **state)
{
    static const struct {
        const char *stack, *first;
        unsigned line;
        size_t length;
    } cases[] = {{"xxab", "own_a", 'a', 2}, {"wa", "own_w", 'w', 2},
                 {"ax", "own_a", 'a', 2},   {"xx", "xmalloc", 'x', 2},
                 {"xagxb", "own_g", 'g', 3}, {"gb", "own_g", 'g', 2}};
    const struct profile_namer wrapped = {NULL, name_wrappers};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct profile *profile = profile_new();
        struct profile_query query = query_of(PROFILE_LIVE, PROFILE_STACKS);
        struct profile_place places[8], place;
        size_t length;

        begin(1, 1);
        make(cases[i].stack, 100, SECOND);
        read_unnamed(profile, SECOND);
        assert_true(profile_resolve(profile, &wrapped));
        ask(profile, query);
        assert_string_equal(profile_function(profile, table.rows[0].function),
                            cases[i].first);
        profile_table_path(&table, profile, 0, &length);
        assert_int_equal(length, cases[i].length);
        assert_true(profile_table_place(&table, profile, 0, &place));
        assert_int_equal(place.line, cases[i].line);
        length = profile_places(profile, table.rows[0].stack, places, 8);
        assert_string_equal(
            profile_function(profile,
                             places[profile_first_place(places, length)].function),
            cases[i].first);
        query.wrappers = true;
        ask(profile, query);
        assert_int_equal(table.rows[0].function, places[0].function);
        ask(profile, query_of(PROFILE_LIVE, PROFILE_CALLERS));
        assert_int_equal(table.rows[0].function, places[0].function);
        profile_free(profile);
    }
}

/* One step of the key of stacks, as profile.c makes it. */
#define KEY_PRIME UINT64_C(0x100000001b3)
static uint64_t
key_step(uint64_t key, uint64_t pc)
{
    return (key ^ pc) * KEY_PRIME ^ key >> 29;
}

/* Two stacks that a program has made so that their keys are equal are still two. */
static void
stacks_with_equal_keys(void **state)
{
    struct profile *profile = profile_new();
    uint64_t first = key_step(UINT64_C(0xcbf29ce484222325), 'a' * 256 + 1);
    uint64_t other = key_step(UINT64_C(0xcbf29ce484222325), 'c' * 256 + 1);
    uint64_t key = key_step(first, 'b' * 256 + 1), inverse = KEY_PRIME;

    (void)state;
    for (int i = 0; i < 6; i++) /* Newton: modulo 2^64 */
        inverse *= 2 - KEY_PRIME * inverse;
    begin(1, 1);
    make("ab", 100, SECOND);
    make("cd", 1000, SECOND);
    uint64_t *pcs = &program.pool[stack("cd") + 1];
    pcs[1] = ((key ^ other >> 29) * inverse) ^ other;
    assert_int_equal(key_step(other, pcs[1]), key);
    read_at(profile, SECOND);
    ask(profile, query_of(PROFILE_LIVE, PROFILE_STACKS));
    assert_int_equal(table.count, 2);
    assert_string_equal(profile_function(profile, table.rows[0].function), "fun_c");
    assert_true(table.rows[0].figures.bytes == 1000);
    assert_true(table.rows[0].key != table.rows[1].key);
    profile_free(profile);
}

static void
a_row_is_made_of_sizes_and_ages(void **state)
{
    struct profile *profile = profile_new();
    struct profile_detail detail;

    (void)state;
    begin(1, 1);
    make("ba", 100, SECOND);
    make("ba", 100, SECOND);
    make("ba", 70000, 5 * SECOND);
    release(make("ba", 24, 2 * SECOND), 4 * SECOND);
    make("ca", 9, SECOND);
    read_at(profile, 100 * SECOND);
    ask(profile, query_of(PROFILE_LIVE, PROFILE_CALLERS));
    assert_true(profile_table_detail(&table, profile, 0, &detail));
    assert_int_equal(detail.size_count, 3);
    assert_true(detail.sizes[0].from <= 24 && detail.sizes[0].to >= 24);
    assert_about(detail.sizes[0].live.bytes, 0);
    assert_about(detail.sizes[1].live.objects, 2);
    assert_about(detail.sizes[2].live.bytes, 70000);
    assert_int_equal(detail.freed_after[4].blocks, 1); /* 1 s to 10 s */
    assert_int_equal(detail.alive_for[6].blocks, 3);   /* 1 min to 10 min */
    assert_int_equal(detail.first_ns, SECOND);
    assert_int_equal(detail.last_ns, 5 * SECOND);
    assert_false(profile_table_detail(&table, profile, table.count, &detail));
    profile_free(profile);
}

/* In the past, a row has the sums of that time, but no lifetimes, which are not kept. */
static void
a_row_of_the_past_is_as_it_was(void **state)
{
    struct profile *profile = profile_new();
    struct profile_query query = query_of(PROFILE_LIVE, PROFILE_CALLERS);
    struct profile_detail detail;

    (void)state;
    begin(1, 1);
    make("ba", 100, SECOND);
    release(make("ba", 100, 2 * SECOND), 3 * SECOND);
    read_at(profile, 4 * SECOND);
    make("ba", 100, 5 * SECOND);
    make("ba", 70000, 5 * SECOND);
    read_at(profile, 6 * SECOND);
    query.past_ns = 5 * SECOND;
    ask(profile, query);
    assert_true(profile_table_detail(&table, profile, 0, &detail));
    assert_int_equal(detail.size_count, 1); /* no block as large existed then */
    assert_about(detail.sizes[0].live.bytes, 100);
    assert_about(detail.sizes[0].made.bytes, 200);
    for (unsigned i = 0; i < SITE_LIFETIMES; i++) {
        assert_int_equal(detail.freed_after[i].blocks, 0);
        assert_int_equal(detail.alive_for[i].blocks, 0);
    }
    assert_int_equal(detail.first_ns, SECOND);
    assert_int_equal(detail.last_ns, -1);
    query.past_ns = 6 * SECOND;
    ask(profile, query);
    assert_true(profile_table_detail(&table, profile, 0, &detail));
    assert_int_equal(detail.size_count, 2);
    assert_int_equal(detail.last_ns, 5 * SECOND);
    profile_free(profile);
}

/* The number of moments is limited; the first and the latest are kept. */
static void
moments_are_bounded(void **state)
{
    struct profile *profile = profile_new();

    (void)state;
    begin(1, 1);
    make("ba", 100, SECOND);
    for (int64_t now = 1; now < 1000; now++)
        read_at(profile, now * SECOND);
    assert_int_equal(profile_checkpoint(profile, SECOND), SECOND);
    assert_true(profile_checkpoint(profile, 999 * SECOND) > 980 * SECOND);
    assert_int_equal(profile_checkpoint(profile, 0), -1);
    profile_free(profile);
}

/* With less memory for moments there are fewer of them, and growth is computed from
   those that are left. */
static void
moments_may_have_less_room(void **state)
{
    struct profile *profile = profile_new();
    size_t count;

    (void)state;
    begin(1, 1);
    make("ba", 100, SECOND);
    for (int64_t now = 1; now <= 100; now++)
        read_at(profile, now * SECOND);
    profile_checkpoints(profile, &count);
    assert_int_equal(count, 100);
    profile_limit_checkpoints(profile, 20 * 2 * sizeof(struct profile_kept_site));
    profile_checkpoints(profile, &count);
    assert_in_range(count, 5, 20);
    assert_int_equal(profile_growth_since(profile), SECOND);
    assert_false(profile_checkpoint_due(profile, 102 * SECOND));
    profile_limit_checkpoints(profile, 0);
    profile_checkpoints(profile, &count);
    assert_in_range(count, 1, 4);
    profile_free(profile);
}

/* A reading after no time has no rate: the last rate is kept. */
static void
rates_take_their_time(void **state)
{
    struct profile *profile = profile_new();
    double bytes, objects;

    (void)state;
    begin(1, 1);
    make("ba", 1000, SECOND);
    read_at(profile, 2 * SECOND);
    make("ba", 1000, 2 * SECOND);
    read_at(profile, 3 * SECOND);
    assert_true(profile_rates(profile, 1, &bytes, &objects));
    assert_about(bytes, 1000);
    make("ba", 1000, 3 * SECOND);
    read_at(profile, 3 * SECOND + SECOND / 1000);
    assert_true(profile_rates(profile, 1, &bytes, &objects));
    assert_about(bytes, 1000);
    read_at(profile, 4 * SECOND);
    assert_true(profile_rates(profile, 1, &bytes, &objects));
    assert_about(bytes, 1000);
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_rate_one_estimates_are_the_truth),
        cmocka_unit_test(estimates_are_unbiased),
        cmocka_unit_test(trees_have_each_block_once),
        cmocka_unit_test(inlined_functions_are_rows),
        cmocka_unit_test(filters_choose_stacks),
        cmocka_unit_test(lifetimes_choose_allocations),
        cmocka_unit_test(marks_and_moments),
        cmocka_unit_test(leaks_come_first),
        cmocka_unit_test(rows_are_sorted_by_every_column),
        cmocka_unit_test(names_come_later),
        cmocka_unit_test(addresses_without_a_name),
        cmocka_unit_test(lists_begin_without_wrappers),
        cmocka_unit_test(stacks_with_equal_keys),
        cmocka_unit_test(a_row_is_made_of_sizes_and_ages),
        cmocka_unit_test(a_row_of_the_past_is_as_it_was),
        cmocka_unit_test(moments_are_bounded),
        cmocka_unit_test(moments_may_have_less_room),
        cmocka_unit_test(rates_take_their_time),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    profile_table_free(&table);
    return failed;
}
