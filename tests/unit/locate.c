/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding the segment that a process has mapped, and pids of other pid namespaces. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/locate.h"
#include "system/pidspace.h"

static FILE *
text_file(const char *text)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

    assert_non_null(file);
    return file;
}

static int
parse_maps(const char *text, char path[SEGMENT_PATH_MAX], uint64_t *inode)
{
    FILE *file = text_file(text);
    int result = locate_parse_maps(file, path, inode);

    fclose(file);
    return result;
}

static void
test_maps(void **state)
{
    char path[SEGMENT_PATH_MAX] = "";
    uint64_t inode = 0;

    (void)state;
    assert_int_equal(0, parse_maps("7f00-7f01 r--s 00000000 00:19 7 /dev/shm/m/12.0\n"
                                   "7f01-7f02 rw-s 00001000 00:19 8 /dev/shm/m/12.0\n"
                                   "7f02-7f03 rw-p 00000000 00:19 9 /dev/shm/m/12.0\n"
                                   "7f03-7f04 rw-s 00000000 00:19 10 /dev/shm/m/name\n"
                                   "7f04-7f05 rw-s 00000000 00:19 11 /a b/12.3\n",
                                   path, &inode));
    assert_string_equal("/a b/12.3", path);
    assert_int_equal(11, inode);
}

static void
test_maps_without(void **state)
{
    char path[SEGMENT_PATH_MAX], text[1024];
    uint64_t inode;

    (void)state;
    assert_int_equal(-ENODATA, parse_maps("\n", path, &inode));
    assert_int_equal(-ENODATA, parse_maps("nonsense\n7f-80 rw-s\n", path, &inode));
    assert_int_equal(-ENODATA,
                     parse_maps("1-2 rw-s 00000000 00:19 7 12.0\n", path, &inode));
    assert_int_equal(-ENODATA,
                     parse_maps("1-2 rw-s 00000000 00:19 7 /m/012.0\n", path, &inode));
    assert_int_equal(-ENOENT, parse_maps("1-2 rw-s 00000000 00:19 7 /m/12.0 (deleted)\n",
                                         path, &inode));
    /* A path that is too long is refused, not cut. */
    snprintf(text, sizeof text, "1-2 rw-s 00000000 00:19 7 /%0300d/12.0\n", 0);
    assert_int_equal(-ENODATA, parse_maps(text, path, &inode));
}

/* A deleted segment does not hide a later one. */
static void
test_maps_deleted(void **state)
{
    char path[SEGMENT_PATH_MAX];
    uint64_t inode;

    (void)state;
    assert_int_equal(0, parse_maps("1-2 rw-s 00000000 00:19 7 /m/12.0 (deleted)\n"
                                   "3-4 rw-s 00000000 00:19 8 /m/12.1\n",
                                   path, &inode));
    assert_string_equal("/m/12.1", path);
}

static pid_t
parse_own(const char *text)
{
    FILE *file = text_file(text);
    pid_t own = pidspace_parse_own(file);

    fclose(file);
    return own;
}

static void
test_own_number(void **state)
{
    (void)state;
    assert_int_equal(9, parse_own("Name:\tNSpid:\nNSpid:\t9\nNSpgid:\t8\n"));
    assert_int_equal(1, parse_own("NSpid:\t4711\t12\t1\nNSsid:\t3\n"));
    assert_int_equal(0, parse_own("Name:\tx\n"));
    assert_int_equal(0, parse_own("NSpid:\n"));
    assert_int_equal(0, parse_own("NSpid:\t-1\n"));
    assert_int_equal(0, parse_own("NSpid:\t99999999999999999999\n"));
}

/* Processes of the same namespace are not foreign. */
static void
test_no_stranger(void **state)
{
    struct pidspace *pidspace = pidspace_read();
    struct pidspace_thread thread;

    (void)state;
    assert_non_null(pidspace);
    assert_int_equal(segment_pid_namespace(), pidspace_of(getpid()));
    assert_int_equal(0, pidspace_find(pidspace, pidspace_of(getpid()), getpid()));
    pidspace_free(pidspace);
    assert_int_equal(1, pidspace_threads(getpid(), &thread, 1));
    assert_int_equal(getpid(), thread.here);
    assert_int_equal(getpid(), thread.own);
}

static void
test_nobody(void **state)
{
    struct located located;

    (void)state;
    assert_int_equal(-ESRCH, locate_segment(INT32_MAX, &located));
    assert_int_equal(0, locate_segment(getpid(), &located)); /* without a segment */
    assert_string_equal("", located.directory);
    assert_int_equal(getuid(), located.real);
    assert_false(locate_has_mapped(getpid(), 1));
    assert_int_equal(0, pidspace_of(INT32_MAX));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),         cmocka_unit_test(test_maps_without),
        cmocka_unit_test(test_maps_deleted), cmocka_unit_test(test_own_number),
        cmocka_unit_test(test_no_stranger),  cmocka_unit_test(test_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
