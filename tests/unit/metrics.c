/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Figures for Prometheus: the text, its escapes, what is left out; and promtool, if
   installed, reports nothing. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/metrics.h"

static struct snapshot counters;

static struct metrics_process
whole(void)
{
    counters = (struct snapshot){0};
    counters.calls[FN_MALLOC] = 200;
    counters.calls[FN_FREE] = UINT64_MAX;
    counters.failed[FN_MALLOC] = 1;
    counters.live_blocks = 7;
    counters.usable_bytes = 4096;
    counters.stack_peak = 1234;
    counters.threads = 2;
    counters.total_bytes = 99999;
    counters.unmatched = 3;
    return (struct metrics_process){
        .pid = 42, .program = "server", .running = true, .measured = true,
        .run_ns = INT64_C(1234567890), .rss = 8192, .rss_anon = 4096,
        .heap = 1000, .heap_peak = 2000, .counters = &counters, .children_known = true,
        .children_seen = 5,
    };
}

static char *
text_of(const struct metrics_process *processes, size_t count)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_true(report_metrics(out, processes, count));
    assert_int_equal(0, fclose(out));
    return text;
}

static void
assert_has(const char *text, const char *line)
{
    const char *found = strstr(text, line);

    if (found == NULL || (found != text && found[-1] != '\n'))
        fail_msg("no '%s' in:\n%s", line, text);
}

static void
test_values(void **state)
{
    const struct metrics_process process = whole();
    char *text = text_of(&process, 1);

    (void)state;
    assert_has(text, "# HELP memtop_heap_bytes Bytes allocated and not freed.\n"
                     "# TYPE memtop_heap_bytes gauge\n"
                     "# UNIT memtop_heap_bytes bytes\n"
                     "memtop_heap_bytes{pid=\"42\",program=\"server\"} 1000\n");
    assert_has(text, "memtop_up{pid=\"42\",program=\"server\"} 1\n");
    assert_has(text, "memtop_measured{pid=\"42\",program=\"server\"} 1\n");
    assert_has(text, "memtop_run_seconds{pid=\"42\",program=\"server\"} 1.234\n");
    assert_has(text, "memtop_resident_bytes{pid=\"42\",program=\"server\"} 8192\n");
    assert_has(text, "memtop_heap_peak_bytes{pid=\"42\",program=\"server\"} 2000\n");
    assert_has(text, "memtop_heap_blocks{pid=\"42\",program=\"server\"} 7\n");
    assert_has(text,
               "memtop_calls_total{pid=\"42\",program=\"server\",function=\"malloc\"}"
               " 200\n");
    assert_has(text, "memtop_calls_total{pid=\"42\",program=\"server\",function=\"free\"}"
                     " 18446744073709551615\n");
    assert_has(text, "memtop_failed_calls_total{pid=\"42\",program=\"server\","
                     "function=\"malloc\"} 1\n");
    assert_has(text, "memtop_children_seen_total{pid=\"42\",program=\"server\"} 5\n");
    assert_string_equal("# EOF\n", text + strlen(text) - 6);
    free(text);
}

/* Not measured is not zero. */
static void
test_unmeasured(void **state)
{
    const struct metrics_process process = {.pid = 1, .program = "x", .running = true,
                                            .rss = 4096};
    char *text = text_of(&process, 1);

    (void)state;
    assert_has(text, "memtop_measured{pid=\"1\",program=\"x\"} 0\n");
    assert_has(text, "memtop_resident_bytes{pid=\"1\",program=\"x\"} 4096\n");
    assert_null(strstr(text, "memtop_heap_bytes{"));
    assert_null(strstr(text, "memtop_calls_total{"));
    assert_null(strstr(text, "memtop_resident_anonymous_bytes{"));
    free(text);
}

/* The lines of each family are together, whatever the processes. */
static void
test_families(void **state)
{
    struct metrics_process processes[3] = {whole(), whole(), whole()};
    char *text;

    (void)state;
    processes[1].pid = 43;
    processes[1].counters = NULL;
    processes[2].pid = 44;
    processes[2].running = false;
    text = text_of(processes, 3);
    assert_has(text, "memtop_heap_bytes{pid=\"42\",program=\"server\"} 1000\n"
                     "memtop_heap_bytes{pid=\"43\",program=\"server\"} 1000\n"
                     "memtop_heap_bytes{pid=\"44\",program=\"server\"} 1000\n# HELP");
    assert_has(text, "memtop_threads{pid=\"42\",program=\"server\"} 2\n"
                     "memtop_threads{pid=\"44\",program=\"server\"} 2\n# HELP");
    assert_has(text, "memtop_up{pid=\"44\",program=\"server\"} 0\n");
    free(text);
}

static void
test_labels(void **state)
{
    struct metrics_process process = whole();
    char *text;

    (void)state;
    process.program = "a\"b\\c\nd\xff\x1b[31m";
    text = text_of(&process, 1);
    assert_non_null(strstr(text, "program=\"a\\\"b\\\\c"));
    assert_null(strchr(text, '\x1b'));
    assert_null(strchr(text, '\xff'));
    for (const char *line = text; line != NULL && *line != '\0';
         line = strchr(line, '\n') + 1)
        assert_true(strncmp(line, "# ", 2) == 0 || strncmp(line, "memtop_", 7) == 0);
    free(text);
}

static void
test_none(void **state)
{
    char *text = text_of(NULL, 0);

    (void)state;
    assert_has(text, "# EOF\n");
    assert_null(strchr(text, '{'));
    free(text);
}

/* A full disk. */
static void
test_failure(void **state)
{
    const struct metrics_process process = whole();
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    if (full == NULL)
        skip();
    assert_false(report_metrics(full, &process, 1));
    fclose(full);
}

static void
test_promtool(void **state)
{
    struct metrics_process processes[2] = {whole(), whole()};
    FILE *tool;

    (void)state;
    if (system("command -v promtool >/dev/null") != 0)
        skip();
    processes[1].pid = 43;
    processes[1].program = "a\"b\\c\nd\xff";
    tool = popen("promtool check metrics", "w");
    assert_non_null(tool);
    assert_true(report_metrics(tool, processes, 2));
    assert_int_equal(0, pclose(tool));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_unmeasured),
        cmocka_unit_test(test_families), cmocka_unit_test(test_labels),
        cmocka_unit_test(test_none),     cmocka_unit_test(test_failure),
        cmocka_unit_test(test_promtool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
