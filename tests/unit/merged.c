/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiles of processes that have mapped the same files at different addresses, as one.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/merged.h"
#include "monitor/profile-table.h"

/* A process whose program lies at base; its library is a file of its own. */
struct mapping {
    uint64_t base;
    const char *program, *library;
    uint8_t build_id;        /* of the program; 0: none */
};

#define LIBRARY 0x100000 /* behind the program */

/* Odd offsets have no names. */
static const struct symbol *
name(void *context, uint64_t address)
{
    static struct symbol_frame frames[2];
    static struct symbol out;
    static char text[32];
    const struct mapping *mapping = context;
    uint64_t offset = address - mapping->base;
    bool library = offset >= LIBRARY;

    out = (struct symbol){.state = SYMBOL_NO_MODULE};
    if (address < mapping->base)
        return &out;
    out.module = library ? mapping->library : mapping->program;
    out.offset = library ? offset - LIBRARY : offset;
    out.state = offset & 1 ? SYMBOL_UNNAMED : SYMBOL_KNOWN;
    out.frames = frames;
    out.count = offset & 1 ? 0 : offset == 0x20 ? 2 : 1;
    snprintf(text, sizeof text, "%s_%x", library ? "lib" : "fun", (unsigned)out.offset);
    frames[0] = (struct symbol_frame){text, "own.c", (unsigned)out.offset};
    frames[1] = (struct symbol_frame){"outer", "own.c", 1};
    return &out;
}

/* Each site has a stack of one or two places; offsets, 0: none. */
struct row {
    uint64_t inner, outer;
    double bytes;
};

static struct profile *
profile_with(const struct mapping *mapping, const struct row *rows, size_t count)
{
    const struct profile_namer namer = {(void *)mapping, name};
    struct profile *profile = profile_new();
    struct sites_reading *reading = profile_reading(profile);

    reading->rate = 1;
    reading->has_modules = true;
    reading->sampled = count;
    reading->pool = calloc(3 * count + 1, sizeof *reading->pool);
    reading->pool_count = 1;
    reading->sites = calloc(count + 1, sizeof *reading->sites);
    reading->site_count = count;
    reading->blocks = calloc(count + 1, sizeof *reading->blocks);
    reading->block_count = count;
    reading->modules = calloc(1, sizeof *reading->modules);
    reading->module_count = 1;
    reading->modules[0] = (struct site_module){.start = mapping->base,
                                               .end = mapping->base + LIBRARY,
                                               .bias = mapping->base,
                                               .build_id = {mapping->build_id},
                                               .build_id_size = mapping->build_id > 0};
    strcpy(reading->modules[0].path, mapping->program);
    for (size_t i = 0; i < count; i++) {
        const struct site_figures figures = {.bytes = rows[i].bytes, .objects = 1,
                                            .blocks = 1, .samples = 1};

        reading->sites[i] = (struct site){.stack = (uint32_t)reading->pool_count,
                                          .bucket = histogram_coarse(100),
                                          .made = figures,
                                          .live = figures,
                                          .at_peak = figures,
                                          .first_ns = 1000 + i,
                                          .last_ns = 2000 + i};
        reading->blocks[i] = (struct sampled_block){
            .size = 100, .site = (uint32_t)i, .born_ns = 1500, .samples = 1};
        reading->pool[reading->pool_count++] = rows[i].outer > 0 ? 2 : 1;
        reading->pool[reading->pool_count++] = mapping->base + rows[i].inner + 1;
        if (rows[i].outer > 0)
            reading->pool[reading->pool_count++] = mapping->base + rows[i].outer + 1;
    }
    assert_true(profile_digest(profile, 5000, 100));
    profile_resolve(profile, &namer);
    return profile;
}

static struct profile *
merge(struct profile *one, struct profile *other)
{
    struct merged *merged = merged_new();
    struct profile *profile;

    assert_non_null(merged);
    assert_true(merged_add(merged, one));
    assert_true(merged_add(merged, other));
    assert_int_equal(merged_count(merged), 2);
    profile = merged_finish(merged, 6000);
    assert_non_null(profile);
    merged_free(merged);
    profile_free(one);
    profile_free(other);
    return profile;
}

static const struct profile_filter no_filter;
static struct profile_table table;

/* The rows as text, "function bytes;". */
static const char *
rows_of(const struct profile *profile, enum profile_form form)
{
    const struct profile_query query = {.mode = PROFILE_LIVE, .form = form,
                                        .filter = &no_filter, .past_ns = -1};
    static char text[1024];
    size_t used = 0;

    profile_table_fill(&table, profile, &query);
    assert_int_equal(table.answer, PROFILE_ANSWERED);
    text[0] = '\0';
    for (size_t i = 0; i < table.count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %.0f;",
                                 profile_function(profile, table.rows[i].function),
                                 table.rows[i].figures.bytes);
    return text;
}

static void
test_same_program(void **state)
{
    static const struct mapping one = {0x10000000, "/bin/prog", "/lib/x.so", 7};
    static const struct mapping other = {0x70000000, "/bin/link", "/lib/x.so", 7};
    static const struct row rows[] = {{0x20, 0x40, 1000}, {0x31, 0x40, 300}};
    static const struct row more[] = {{0x31, 0x40, 30}, {0x20, 0x40, 500},
                                      {LIBRARY + 0x10, 0x40, 7}};
    struct profile *profile =
        merge(profile_with(&one, rows, 2), profile_with(&other, more, 3));
    const struct sites_reading *reading = profile_digested(profile, NULL);
    struct profile_place places[4];

    (void)state;
    assert_string_equal(rows_of(profile, PROFILE_STACKS),
                        "fun_20 1500;[prog+0x31] 330;lib_10 7;");
    assert_int_equal(profile_places(profile, table.rows[0].stack, places, 4), 3);
    assert_true(places[0].inlined && !places[1].inlined);
    assert_int_equal(places[0].line, 0x20);
    assert_int_equal(reading->sampled, 5);
    assert_int_equal(reading->block_count, 5);
    assert_int_equal(reading->site_count, 3);
    assert_int_equal(reading->sites[0].first_ns, 1100); /* since the process's start */
    assert_int_equal(reading->sites[0].last_ns, 2101);
    assert_int_equal(reading->sites[0].made.blocks, 2);
    profile_free(profile);
}

/* Files of one name that are not the same are not added up, nor are addresses that only
   look alike. */
static void
test_other_programs(void **state)
{
    static const struct mapping one = {0x10000000, "/bin/prog", "/lib/x.so", 7};
    static const struct mapping other = {0x10000000, "/opt/prog", "/lib/y.so", 8};
    static const struct row rows[] = {{0x31, 0, 1000}, {0x40, 0, 20}};
    struct profile *profile =
        merge(profile_with(&one, rows, 2), profile_with(&other, rows, 2));

    (void)state;
    assert_string_equal(
        rows_of(profile, PROFILE_STACKS),
        "[prog+0x31] 1000;[/opt/prog+0x31] 1000;fun_40 20;fun_40 20;");
    assert_string_equal(rows_of(profile, PROFILE_CALLERS),
                        "[prog+0x31] 1000;[/opt/prog+0x31] 1000;fun_40 40;");
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_program),
        cmocka_unit_test(test_other_programs),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    profile_table_free(&table);
    return failed;
}
