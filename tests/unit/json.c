/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON Lines: the names, numbers and strings that programs rely on. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <signal.h>

#include "fake-process.h"
#include "report/json.h"

/* Parses the one line written; the caller calls json_decref(). */
static json_t *
parsed(bool exit_object)
{
    char *text;
    json_t *json;

    FAKE_OUTPUT(text, assert_true(exit_object ? report_json_exit(out, &fake)
                                              : report_json_sample(out, &fake)));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    free(text);
    return json;
}

static void
sample_golden(void **state)
{
    char *text;

    (void)state;
    fake.run_ns = 1500000000;
    fake.now.live_bytes = 100;
    fake.now.live_blocks = 2;
    fake.now.peak_bytes = 300;
    fake.now.total_bytes = 400;
    fake_calls(FN_MALLOC, 200, 2);
    FAKE_OUTPUT(text, assert_true(report_json_sample(out, &fake)));
    assert_string_equal(
        text,
        "{\"v\":1,\"type\":\"sample\",\"t_ns\":1500000000,\"pid\":24817,"
        "\"state\":\"running\",\"generation\":0,\"children\":0,\"children_seen\":0,"
        "\"measured\":true,\"heap\":100,\"peak\":300,\"total\":400,\"live\":2,\"usable\":"
        "0,"
        "\"stack\":0,\"stack_peak\":0,\"threads\":0,\"threads_started\":0,"
        "\"calls\":{\"malloc\":2,\"realloc\":0,\"calloc\":0,\"free\":0,"
        "\"posix_memalign\":0,\"aligned_alloc\":0,\"memalign\":0,\"valloc\":0,"
        "\"pvalloc\":0},"
        "\"bytes\":{\"malloc\":400,\"realloc\":0,\"calloc\":0,\"free\":0,"
        "\"posix_memalign\":0,\"aligned_alloc\":0,\"memalign\":0,\"valloc\":0,"
        "\"pvalloc\":0},"
        "\"failed\":{\"malloc\":0,\"realloc\":0,\"calloc\":0,\"free\":0,"
        "\"posix_memalign\":0,\"aligned_alloc\":0,\"memalign\":0,\"valloc\":0,"
        "\"pvalloc\":0},"
        "\"failed_bytes\":{\"malloc\":0,\"realloc\":0,\"calloc\":0,\"free\":0,"
        "\"posix_memalign\":0,\"aligned_alloc\":0,\"memalign\":0,\"valloc\":0,"
        "\"pvalloc\":0},"
        "\"realloc_in_place\":0,\"realloc_shrunk\":0,\"realloc_freed\":0,\"free_null\":0,"
        "\"unmatched\":0}\n");
    free(text);
}

static void
unmeasured_has_no_figures(void **state)
{
    json_t *json;

    (void)state;
    fake.measured = false;
    fake.state = STATE_NOT_LOADED;
    strcpy(fake.why_not, "statically linked\xff");
    json = parsed(false);
    assert_true(json_is_false(json_object_get(json, "measured")));
    assert_string_equal(json_string_value(json_object_get(json, "why")),
                        "statically linked?");
    assert_string_equal(json_string_value(json_object_get(json, "state")),
                        "not-measured");
    assert_null(json_object_get(json, "heap"));
    assert_null(json_object_get(json, "calls"));
    json_decref(json);
    json = parsed(true);
    assert_null(json_object_get(json, "sizes"));
    json_decref(json);
}

static void
numbers_saturate(void **state)
{
    json_t *json;

    (void)state;
    memset(&fake.now, 0xff, sizeof fake.now);
    json = parsed(false);
    assert_true(json_integer_value(json_object_get(json, "heap")) == INT64_MAX);
    assert_true(json_integer_value(json_object_get(json, "peak")) == INT64_MAX);
    json_decref(json);
}

static void
mappings_on_request(void **state)
{
    json_t *json = parsed(false);

    (void)state;
    assert_null(json_object_get(json, "mappings"));
    json_decref(json);
    fake.identity.flags = SEGMENT_FLAG_MMAP;
    fake.now.mapping_bytes[MAPPING_MMAP_A] = 8192;
    json = parsed(false);
    assert_int_equal(json_integer_value(json_object_get(
                         json_object_get(json_object_get(json, "mappings"), "mmap(a)"),
                         "bytes")),
                     8192);
    json_decref(json);
}

static void
exit_tells_the_end(void **state)
{
    static const char args[] = "./prog\0--name\0\0\xd0\xb6\xff";
    json_t *json, *list;

    (void)state;
    fake.state = STATE_EXITED;
    fake.wait_status = 3 << 8;
    memcpy(fake.identity.args, args, sizeof args);
    fake.identity.args_size = sizeof args;
    fake.os_known = true;
    fake.os.rss = 4096;
    fake_coverage = 87;
    json = parsed(true);
    assert_string_equal(json_string_value(json_object_get(json, "type")), "exit");
    assert_int_equal(json_integer_value(json_object_get(json, "status")), 3);
    assert_null(json_object_get(json, "signal"));
    assert_int_equal(json_integer_value(json_object_get(json, "rss")), 4096);
    assert_int_equal(json_integer_value(json_object_get(json, "coverage")), 87);
    list = json_object_get(json, "args");
    assert_int_equal(json_array_size(list), 4);
    assert_string_equal(json_string_value(json_array_get(list, 1)), "--name");
    assert_string_equal(json_string_value(json_array_get(list, 2)), "");
    assert_string_equal(json_string_value(json_array_get(list, 3)), "ж?");
    json_decref(json);

    fake.state = STATE_KILLED;
    fake.wait_status = SIGSEGV;
    json = parsed(true);
    assert_int_equal(json_integer_value(json_object_get(json, "signal")), SIGSEGV);
    assert_true(json_is_false(json_object_get(json, "core")));
    assert_null(json_object_get(json, "status"));
    json_decref(json);
}

static void
check_range(json_t *array, size_t index, json_int_t from, json_int_t to, const char *name)
{
    json_t *range = json_array_get(array, index);

    assert_int_equal(json_integer_value(json_object_get(range, "from")), from);
    assert_int_equal(json_integer_value(json_object_get(range, "to")), to);
    assert_int_equal(json_integer_value(json_object_get(range, name)), 1);
}

/* Only in snapshots, and without unknown parts. */
static void
bands_of_a_moment(void **state)
{
    json_t *json, *bands;

    (void)state;
    fake.breakdown.known = true;
    fake.breakdown.run_ns = 7;
    fake.breakdown.swap = 5;
    fake.breakdown.bytes[BAND_REQUESTED] = 4096;
    fake.breakdown.bytes[BAND_HELD] = BAND_UNKNOWN;
    json = parsed(false);
    assert_null(json_object_get(json, "bands"));
    json_decref(json);
    json = parsed(true);
    bands = json_object_get(json, "bands");
    assert_int_equal(json_integer_value(json_object_get(bands, "t_ns")), 7);
    assert_int_equal(json_integer_value(json_object_get(bands, "requested")), 4096);
    assert_int_equal(json_integer_value(json_object_get(bands, "swap")), 5);
    assert_true(json_is_integer(json_object_get(bands, "memtop")));
    assert_null(json_object_get(bands, "held"));
    json_decref(json);
    fake.breakdown.known = false;
    json = parsed(true);
    assert_null(json_object_get(json, "bands"));
    json_decref(json);
}

static void
sizes_by_range(void **state)
{
    json_t *json, *sizes, *live;

    (void)state;
    fake_calls(FN_MALLOC, 24, 1);
    fake_calls(FN_MALLOC, 70000, 1);
    fake.sizes.allocated[HISTOGRAM_CELLS - 1] = 1;
    fake.sizes.live[histogram_coarse(100)] = 1;
    json = parsed(true);
    sizes = json_object_get(json, "sizes");
    live = json_object_get(json, "live_sizes");
    assert_int_equal(json_array_size(sizes), 3);
    assert_int_equal(json_array_size(live), 1);
    check_range(sizes, 0, 16, 31, "allocated");
    check_range(sizes, 1, 65536, 81919, "allocated");
    assert_null(json_object_get(json_array_get(sizes, 2), "to"));
    check_range(live, 0, 96, 111, "live");
    json_decref(json);
}

/* For programs that report their pools; sample_golden does not. */
static void
pools_if_there_are(void **state)
{
    char *text;

    (void)state;
    fake.now.custom_made = 7;
    fake.now.custom_live_bytes = 55;
    FAKE_OUTPUT(text, assert_true(report_json_sample(out, &fake)));
    assert_non_null(strstr(text, "\"custom_allocated\":7,"));
    assert_non_null(strstr(text, "\"custom_live_bytes\":55"));
    free(text);
}

static void
failing_output_is_told(void **state)
{
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    assert_non_null(full);
    assert_false(report_json_sample(full, &fake));
    fclose(full);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sample_golden, fake_reset),
        cmocka_unit_test_setup(unmeasured_has_no_figures, fake_reset),
        cmocka_unit_test_setup(numbers_saturate, fake_reset),
        cmocka_unit_test_setup(mappings_on_request, fake_reset),
        cmocka_unit_test_setup(exit_tells_the_end, fake_reset),
        cmocka_unit_test_setup(bands_of_a_moment, fake_reset),
        cmocka_unit_test_setup(pools_if_there_are, fake_reset),
        cmocka_unit_test_setup(sizes_by_range, fake_reset),
        cmocka_unit_test_setup(failing_output_is_told, fake_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
