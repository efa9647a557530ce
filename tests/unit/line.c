/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line of memtop -B. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake-process.h"
#include "report/line.h"

static void
check(const char *expected)
{
    char *text;

    FAKE_OUTPUT(text, assert_true(report_line(out, &fake)));
    assert_string_equal(text, expected);
    free(text);
}

static void
figures(void **state)
{
    (void)state;
    fake.run_ns = INT64_C(144999999999);
    fake.now.live_bytes = 260358144;
    fake.now.peak_bytes = 419535258;
    fake.now.live_blocks = 24537;
    fake.rates.calls[FN_MALLOC] = 28113.6;
    fake.rates.calls[FN_FREE] = 27990;
    check("00:02:24 heap 248.3 MiB peak 400.1 MiB live 24537 malloc/s 28114 free/s "
          "27990\n");
    fake.now.failed[FN_CALLOC] = 2;
    fake.now.failed[FN_MALLOC] = 1;
    fake.rates.calls[FN_MALLOC] = 0.0 / 0.0;
    check("00:02:24 heap 248.3 MiB peak 400.1 MiB live 24537 malloc/s 0 free/s 27990 "
          "failed 3\n");
}

static void
no_figures(void **state)
{
    (void)state;
    fake.measured = false;
    fake.state = STATE_STARTING;
    check("00:00:00 STARTING\n");
    strcpy(fake.why_not, "set-user-ID\n\033c");
    check("00:00:00 not measured: set-user-ID ?c\n");
}

static void
failing_output_is_told(void **state)
{
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    assert_non_null(full);
    assert_false(report_line(full, &fake));
    fclose(full);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(figures, fake_reset),
        cmocka_unit_test_setup(no_figures, fake_reset),
        cmocka_unit_test_setup(failing_output_is_told, fake_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
