/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process to JSON and back: complete, with missing fields, with wrong ones. */
#include "config.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "files/fields.h"

#define ALL ((1u << FIELD_GROUPS) - 1)

static struct process before, after;

/* Gives every figure of the table a different value. */
static void
fill_figures(struct process *process)
{
    uint64_t number = 1000;

    for (size_t i = 0; i < fields_count; i++) {
        void *place = (char *)process + fields_table[i].offset;

        switch (fields_table[i].kind) {
        case FIELD_NUMBER:
            *(uint64_t *)place = ++number;
            break;
        case FIELD_UNSIGNED:
            *(unsigned *)place = (unsigned)++number;
            break;
        case FIELD_REAL:
            *(double *)place = (double)++number + 0.25;
            break;
        case FIELD_LETTER:
            *(char *)place = 'S';
            break;
        case FIELD_FUNCTIONS:
            for (int f = 0; f < FN_COUNT; f++)
                ((uint64_t *)place)[f] = ++number;
            break;
        case FIELD_FUNCTION_RATES:
            for (int f = 0; f < FN_COUNT; f++)
                ((double *)place)[f] = (double)++number + 0.5;
            break;
        }
    }
}

/* Member by member, because assigning the whole struct need not keep its padding zero. */
static void
fill_bands(struct rss_breakdown *breakdown)
{
    breakdown->known = breakdown->with_reserve = true;
    breakdown->run_ns = 50;
    breakdown->pss = 51;
    breakdown->swap = 52;
    breakdown->mappings = 53;
    breakdown->absent = 54;
    breakdown->unsure = 55;
    for (uint64_t i = 0; i < BAND_COUNT; i++) {
        breakdown->bytes[i] = i % 3 ? 60 + i : BAND_UNKNOWN;
        breakdown->rss += i % 3 ? 60 + i : 0;
    }
}

static void
fill(struct process *process)
{
    struct identity *identity = &process->identity;

    memset(process, 0, sizeof *process);
    fill_figures(process);
    process->now.peak_bytes = process->now.stack_peak = process->rss_peak = 5000;
    process->os.rss_peak = process->rss_peak;
    process->pid = 24817;
    process->state = STATE_KILLED;
    process->ended = true;
    process->wait_status = W_EXITCODE(0, 11) | 0x80;
    process->run_ns = INT64_C(123456789012);
    process->measured = process->os_known = true;
    process->generations = 3;
    process->children = 4;
    process->children_seen = 5;
    identity->flags = SEGMENT_FLAG_MMAP;
    identity->accounting = ACCOUNTING_USABLE;
    strcpy(identity->program, "/usr/bin/perl");
    strcpy(identity->allocator, "/lib/libc.so.6");
    memcpy(identity->args, "perl\0-e\0", 9);
    identity->args_size = 9;
    for (int i = 0; i < MAPPING_COUNT; i++) {
        process->now.mapping_calls[i] = 10 + (uint64_t)i;
        process->now.mapping_bytes[i] = 20 + (uint64_t)i;
        process->now.mapping_failed[i] = 30 + (uint64_t)i;
    }
    process->now.mremap_inplace = 40;
    process->now.mremap_dec = 41;
    fill_bands(&process->breakdown);
    for (unsigned i = 0; i < HISTOGRAM_CELLS; i += 7)
        process->sizes.allocated[i] = i + 1;
    for (unsigned i = 0; i < HISTOGRAM_COARSE; i += 3)
        process->sizes.live[i] = i + 1;
}

static json_t *
put(const struct process *process)
{
    struct object object = object_new();

    fields_put_head(&object, "process", process);
    fields_put(&object, ALL, process);
    fields_put_mappings(&object, process);
    fields_put_rss(&object, process);
    fields_put_end(&object, process);
    fields_put_identity(&object, process);
    fields_put_sizes(&object, process);
    assert_true(object.complete);
    return object.json;
}

/* Reads a process from json and frees json. */
static bool
take(json_t *json, struct fault *fault)
{
    bool good;

    *fault = (struct fault){0};
    memset(&after, 0xA5, sizeof after);
    good = fields_take_process(json, &after, fault);
    assert_true(good == (fault->name == NULL));
    json_decref(json);
    return good;
}

static void
test_there_and_back(void **state)
{
    struct fault fault;

    (void)state;
    fill(&before);
    assert_true(take(put(&before), &fault));
    assert_memory_equal(&after, &before, sizeof before);
    before.state = STATE_EXITED;
    before.wait_status = W_EXITCODE(3, 0);
    before.missing = PART_CLOCK;
    assert_true(take(put(&before), &fault));
    memset(&before.rates, 0, sizeof before.rates); /* not written, because the clock is
                                                      not known */
    assert_memory_equal(&after, &before, sizeof before);
}

static void
test_not_measured(void **state)
{
    struct fault fault;

    (void)state;
    memset(&before, 0, sizeof before);
    before.state = STATE_NOT_LOADED;
    before.generations = 1;
    strcpy(before.why_not, "it is statically linked");
    assert_true(take(put(&before), &fault));
    assert_false(after.measured);
    assert_false(after.os_known);
    assert_string_equal(after.why_not, before.why_not);
}

/* Missing fields are not read as zero. */
static void
test_missing(void **state)
{
    static const struct {
        const char *name;
        unsigned missing;
        bool measured, os_known;
    } cases[] = {
        {"sizes", PART_SIZES, true, true},      {"live_sizes", PART_SIZES, true, true},
        {"calls", PART_COUNTERS, true, true},   {"live", PART_COUNTERS, true, true},
        {"heap", 0, false, true},               {"measured", 0, false, true},
        {"rss", 0, true, false},                {"stack_touched", 0, true, true},
        {"program", 0, true, true},             {"usable", PART_USABLE, true, true},
        {"failed", PART_VAIN, true, true},      {"free_null", PART_VAIN, true, true},
        {"stack", PART_STACK, true, true},
    };
    struct fault fault;

    (void)state;
    fill(&before);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *json = put(&before);

        assert_int_equal(json_object_del(json, cases[i].name), 0);
        assert_true(take(json, &fault));
        assert_int_equal(after.missing, cases[i].missing);
        assert_true(after.measured == cases[i].measured);
        assert_true(after.os_known == cases[i].os_known);
    }
    assert_true(take(json_object(), &fault));
    assert_false(after.measured);
    assert_int_equal(after.state, STATE_GONE);
}

/* Missing fields stay missing when written again. */
static void
test_missing_is_not_made_up(void **state)
{
    struct fault fault;

    (void)state;
    fill(&before);
    before.missing = PART_COUNTERS | PART_SIZES;
    assert_true(take(put(&before), &fault));
    assert_int_equal(after.missing, PART_COUNTERS | PART_SIZES);
    assert_int_equal(after.now.live_bytes, before.now.live_bytes);
    assert_int_equal(after.now.live_blocks, 0);
}

static void
test_wrong(void **state)
{
    static const struct {
        const char *name;
        const char *value;
    } cases[] = {
        {"heap", "-1"},       {"heap", "\"12\""},      {"heap", "1.5"},
        {"heap", "null"},     {"pid", "2147483648"},   {"pid", "-4"},
        {"t_ns", "-1"},       {"t_ns", "9223372036854775807"},
        {"state", "\"no\""},  {"state", "7"},          {"generation", "4294967296"},
        {"calls", "[]"},      {"calls", "{\"malloc\":-1}"},
        {"call_rates", "{\"free\":1e19}"},             {"freed_rate", "-0.5"},
        {"sizes", "{}"},      {"sizes", "[{\"from\":-1,\"allocated\":2}]"},
        {"live_sizes", "[{\"from\":16,\"live\":\"x\"}]"},
        {"args", "\"x\""},    {"args", "[1]"},         {"measured", "1"},
        {"signal", "300"},    {"mappings", "3"},       {"program", "[]"},
        {"bands", "7"},       {"bands", "{\"slack\":-1}"},
        {"torn", "99999999999"},                       {"task_state", "1"},
    };
    struct fault fault;

    (void)state;
    fill(&before);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *json = put(&before);

        json_object_set_new(json, cases[i].name,
                            json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
        if (take(json, &fault))
            fail_msg("%s: %s", cases[i].name, cases[i].value);
        assert_non_null(fault.what);
    }
}

/* Sizes may be anywhere in their range, and occur more than once. */
static void
test_sizes_of_any_kind(void **state)
{
    struct fault fault;
    json_t *json = json_loads("{\"sizes\":[{\"from\":20,\"allocated\":1},"
                              "{\"from\":16,\"allocated\":9223372036854775807},"
                              "{\"from\":9223372036854775807,\"allocated\":4},{}],"
                              "\"live_sizes\":[7]}",
                              0, NULL);

    (void)state;
    assert_true(take(json, &fault));
    assert_int_equal(after.sizes.allocated[1], UINT64_C(1) << 63);
    assert_int_equal(after.sizes.allocated[HISTOGRAM_CELLS - 1], 4);
}

/* More arguments than fit. */
static void
test_arguments_are_cut(void **state)
{
    json_t *json = json_object(), *args = json_array();
    struct fault fault;

    (void)state;
    for (int i = 0; i < 3000; i++)
        json_array_append_new(args, json_string("x"));
    json_object_set_new(json, "args", args);
    assert_true(take(json, &fault));
    assert_true(after.identity.args_cut);
    assert_true(after.identity.args_size <= sizeof after.identity.args);
    assert_int_equal(after.identity.args[after.identity.args_size - 1], '\0');
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_not_measured),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_missing_is_not_made_up),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_sizes_of_any_kind),
        cmocka_unit_test(test_arguments_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
