/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes as a table and as JSON lines: unknown values are not made up. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/listing.h"

static struct process_list *process_list;

static int
set_up(void **state)
{
    struct process_entry *entry;

    (void)state;
    process_list = process_list_new(false);
    entry = process_list_add(process_list, 100);
    strcpy(entry->command, "server \033[31m");
    entry->measured = true;
    entry->state = STATE_RUNNING;
    entry->heap = 1048576;
    entry->heap_peak = 2097152;
    entry->rss = 4194304;
    entry->run_ns = INT64_C(61000000000);
    entry = process_list_add(process_list, 101);
    strcpy(entry->command, "blind");
    entry->state = STATE_NOT_LOADED;
    entry->why_not = "because";
    process_list_arrange(process_list, 0);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    process_list_free(process_list);
    return 0;
}

static char *
text_of(bool json)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_true(json ? listing_json(out, process_list)
                     : listing_text(out, process_list, UNIT_AUTO));
    fclose(out);
    return text;
}

static void
test_text(void **state)
{
    char *text = text_of(false), *second = strchr(text, '\n') + 1;
    char *third = strchr(second, '\n') + 1;

    (void)state;
    assert_non_null(strstr(text, "program\n"));
    assert_non_null(
        strstr(second, "     100 RUNNING    1.000 MiB  2.000 MiB  4.000 MiB"));
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(third, "     101 NO DATA            -          -          -"));
    free(text);
}

static void
test_json(void **state)
{
    char *text = text_of(true), *second = strchr(text, '\n') + 1;
    json_t *one = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
    json_t *two = json_loads(second, 0, NULL);

    (void)state;
    assert_int_equal(100, json_integer_value(json_object_get(one, "pid")));
    assert_int_equal(1048576, json_integer_value(json_object_get(one, "heap")));
    assert_int_equal(4194304, json_integer_value(json_object_get(one, "rss")));
    assert_null(json_object_get(one, "why_not"));
    assert_true(json_is_false(json_object_get(two, "measured")));
    assert_string_equal("because", json_string_value(json_object_get(two, "why_not")));
    assert_null(json_object_get(two, "heap"));
    assert_null(json_object_get(two, "rss"));
    json_decref(one);
    json_decref(two);
    free(text);
}

static void
test_failure(void **state)
{
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    if (full == NULL)
        skip();
    assert_false(listing_text(full, process_list, UNIT_AUTO));
    assert_false(listing_json(full, process_list));
    fclose(full);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failure, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
