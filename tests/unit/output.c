/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Output files: never overwritten, and failures are noticed. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "programs/output.h"

static char directory[64];

static void
test_new_file(void **state)
{
    struct output output;
    char text[16] = "";

    (void)state;
    assert_int_equal(output_open(&output, "new"), 0);
    fputs("text", output.file);
    assert_true(output_check(&output, true));
    output_close(&output);
    FILE *file = fopen("new", "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "text");

    assert_int_equal(output_open(&output, "new"), -EEXIST);
    assert_int_equal(symlink("elsewhere", "link"), 0);
    assert_true(output_open(&output, "link") < 0);
    assert_int_equal(access("elsewhere", F_OK), -1);
    assert_true(output_open(&output, "no/such/place") < 0);
    assert_true(output_open(&output, ".") < 0);
}

static void
test_streams(void **state)
{
    struct output output;

    (void)state;
    assert_int_equal(output_open(&output, NULL), 0);
    assert_ptr_equal(output.file, stderr);
    assert_int_equal(output_open(&output, "-"), 0);
    assert_ptr_equal(output.file, stdout);
    assert_int_equal(output_open(&output, "/dev/null"), 0);
    output_close(&output);
    assert_false(output.failed);
}

static void
test_discard(void **state)
{
    struct output output;

    (void)state;
    assert_int_equal(output_open(&output, "vain"), 0);
    output_discard(&output);
    assert_int_equal(access("vain", F_OK), -1);
    assert_int_equal(output_open(&output, "/dev/null"), 0);
    output_discard(&output); /* not created here, so it is not removed */
    assert_int_equal(access("/dev/null", F_OK), 0);
}

static void
test_full(void **state)
{
    struct output output;

    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(output_open(&output, "/dev/full"), 0);
    fputs("text", output.file);
    output_close(&output);
    assert_true(output.failed);
}

/* Text that belongs together goes to its destination, or to the standard error. */
static void
test_kept(void **state)
{
    char text[64] = "";
    struct output output;
    int before = dup(STDERR_FILENO), fd;

    (void)state;
    assert_int_equal(output_open(&output, "kept"), 0);
    output_keep(&output);
    fputs("whole", output.file);
    output_close(&output);
    assert_false(output.failed);
    assert_ptr_equal(output.file, stderr);
    fd = open("kept", O_RDONLY);
    assert_int_equal(read(fd, text, sizeof text), 5);
    close(fd);

    if (access("/dev/full", W_OK) != 0)
        skip();
    fd = open("errors", O_RDWR | O_CREAT, 0600);
    dup2(fd, STDERR_FILENO);
    assert_int_equal(output_open(&output, "/dev/full"), 0);
    output_keep(&output);
    fputs("not lost", output.file);
    output_close(&output);
    dup2(before, STDERR_FILENO);
    assert_true(output.failed);
    assert_false(output_whole());
    memset(text, 0, sizeof text);
    lseek(fd, -8, SEEK_END);
    assert_int_equal(read(fd, text, sizeof text), 8);
    assert_string_equal(text, "not lost");
    close(fd);
}

static void
test_new_later(void **state)
{
    (void)state;
    assert_int_equal(output_check_new("later"), 0);
    assert_int_equal(access("later", F_OK), -1);
    assert_int_equal(output_check_new("kept"), -EEXIST);
    assert_int_equal(output_check_new("link"), -EEXIST);
    assert_int_equal(output_check_new("."), -EISDIR);
    assert_int_equal(output_check_new("missing/later"), -ENOENT);
    assert_int_equal(output_check_new("kept/later"), -ENOTDIR);
}

static int
enter_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/memtop-output-XXXXXX");
    return mkdtemp(directory) != NULL && chdir(directory) == 0 ? 0 : -1;
}

static int
remove_directory(void **state)
{
    (void)state;
    unlink("new");
    unlink("link");
    unlink("kept");
    unlink("errors");
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_file),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_discard),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_new_later),
    };

    return cmocka_run_group_tests(tests, enter_directory, remove_directory);
}
