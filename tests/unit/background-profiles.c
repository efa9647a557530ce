/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of processes that are not on the display: which are read, how often, and what
   happens to their profiles. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "monitor/background-profiles.h"
#include "scratch-segment.h"
#include "base/clock.h"
#include "segment/sites-layout.h"

#define SECOND  INT64_C(1000000000)
#define PIDS_AT 5000000   /* above all real pids */
#define ALL_MAX 17        /* one more than fit */

static struct process_list *process_list;
static struct tree *tree;
static struct background_profiles *background;
static int64_t now_ns, image_ns;

static struct site_record *
record(void)
{
    return (struct site_record *)(void *)(scratch + scratch_header()->sites_offset
                                          + SITES_RECORDS_AT);
}

static struct sites_head *
head(void)
{
    return (void *)(scratch + scratch_header()->sites_offset);
}

/* The site has allocated so many bytes. */
static void
make(uint64_t bytes)
{
    head()->sampled++;
    record()[1].made.blocks++;
    record()[1].made.objects += SITES_OBJECTS_ONE;
    record()[1].made.bytes += bytes * SITES_BYTES_ONE;
}

/* Gives the same segment another name. */
static void
link_name(char *path, size_t size, int index)
{
    snprintf(path, size, "%s/%d.0", scratch_directory, PIDS_AT + index);
}

static struct process_entry *
add(int index)
{
    struct process_entry *entry = process_list_add(process_list, PIDS_AT + index);

    assert_non_null(entry);
    entry->image_ns = entry->start_ns = (uint64_t)image_ns;
    entry->measured = entry->sampled = true;
    return entry;
}

static int
set_up(void **state)
{
    char path[128];

    (void)state;
    scratch_open_with(0, true);
    now_ns = clock_ns(CLOCK_MONOTONIC);
    image_ns = clock_ns(CLOCK_BOOTTIME) - 10 * SECOND;
    scratch_header()->created_ns = (uint64_t)(now_ns - 10 * SECOND);
    scratch_header()->created_boottime_ns = (uint64_t)image_ns;
    scratch_header()->pid_namespace = segment_pid_namespace();
    head()->rate = 1;
    head()->sites_used = 2;
    record()[1].key = site_key(0, 5);
    for (int i = 0; i < ALL_MAX; i++) {
        link_name(path, sizeof path, i);
        assert_int_equal(0, link(scratch_path, path));
    }
    process_list = process_list_new(false);
    tree = tree_new_all(scratch_directory, getuid(), geteuid());
    background = background_profiles_new();
    assert_true(process_list != NULL && tree != NULL && background != NULL
                && tree_scan(tree));
    return 0;
}

static void
unlink_names(void)
{
    char path[128];

    for (int i = 0; i < ALL_MAX; i++) {
        link_name(path, sizeof path, i);
        unlink(path);
    }
}

static int
tear_down(void **state)
{
    (void)state;
    background_profiles_free(background);
    tree_free(tree);
    process_list_free(process_list);
    unlink_names();
    scratch_close();
    return 0;
}

static void
pass_second(void)
{
    now_ns += SECOND;
    background_profiles_read(background, process_list, tree, now_ns);
}

static struct profile *
lend(int index)
{
    return background_profiles_lend(background, PIDS_AT + index, (uint64_t)image_ns);
}

static size_t
moments_of(const struct profile *profile)
{
    size_t count;

    profile_checkpoints(profile, &count);
    return count;
}

static void
it_is_read_once_a_second(void **state)
{
    struct profile *profile;
    double bytes, objects;

    (void)state;
    add(0);
    for (int i = 0; i < 4; i++) {
        make(1000);
        pass_second();
        now_ns += SECOND / 10;
        background_profiles_read(background, process_list, tree, now_ns);
        now_ns -= SECOND / 10;
    }
    profile = lend(0);
    assert_non_null(profile);
    assert_int_equal(moments_of(profile), 4);
    assert_true(profile_growth_since(profile) >= 0);
    assert_true(profile_rates(profile, 1, &bytes, &objects));
    assert_true(bytes > 999 && bytes < 1001);
    background_profiles_return(background, profile);
}

/* Processes that do not sample, and images that the tree does not know, have no
   profile. */
static void
not_everybody_is_read(void **state)
{
    struct profile *profile;

    (void)state;
    add(0)->sampled = false;
    add(1)->image_ns++;
    add(2);
    make(10);
    pass_second();
    assert_null(lend(0));
    assert_null(
        background_profiles_lend(background, PIDS_AT + 1, (uint64_t)image_ns + 1));
    profile = lend(2);
    assert_non_null(profile);
    background_profiles_return(background, profile);
}

/* There are many short-lived processes, so a process is not read before its third
   second, which never comes here. */
static void
the_young_are_not_read(void **state)
{
    (void)state;
    image_ns += 1000 * SECOND;
    scratch_header()->created_boottime_ns = (uint64_t)image_ns;
    tree_free(tree);
    tree = tree_new_all(scratch_directory, getuid(), geteuid());
    assert_true(tree != NULL && tree_scan(tree));
    add(0);
    make(10);
    pass_second();
    assert_null(lend(0));
}

static void
what_is_lent_is_not_read(void **state)
{
    struct profile *profile;
    int64_t run_ns, before_ns;

    (void)state;
    add(0);
    make(10);
    pass_second();
    profile = lend(0);
    assert_non_null(profile);
    assert_null(lend(0));
    assert_true(profile_known(profile, &before_ns));
    assert_true(profile_set_mark(profile, before_ns));
    pass_second();
    assert_true(profile_known(profile, &run_ns));
    assert_int_equal(run_ns, before_ns);
    background_profiles_return(background, profile);
    assert_false(profile_marked(profile));
    pass_second();
    assert_true(profile_known(profile, &run_ns));
    assert_true(run_ns > before_ns);
}

/* Also if its segment's file is gone; and only once. */
static void
the_last_reading_is_after_the_end(void **state)
{
    struct process_entry *entry = add(0);
    const struct sites_reading *reading;
    struct profile *profile;
    int64_t run_ns;

    (void)state;
    make(10);
    pass_second();
    unlink_names();
    make(20);
    entry->ended = true;
    entry->run_ns = 12 * SECOND;
    pass_second();
    make(40);
    pass_second();
    profile = lend(0);
    assert_non_null(profile);
    assert_true(profile_known(profile, &run_ns));
    assert_int_equal(run_ns, 12 * SECOND);
    reading = profile_digested(profile, NULL);
    assert_int_equal((int)reading->sites[1].made.bytes, 30);
    background_profiles_return(background, profile);
}

/* A profile is freed when its process leaves the list, unless it is in use. */
static void
the_forgotten_go(void **state)
{
    struct profile *profile;

    (void)state;
    add(0);
    add(1);
    make(10);
    pass_second();
    profile = lend(0);
    assert_non_null(profile);
    process_list_free(process_list);
    process_list = process_list_new(false);
    pass_second();
    assert_null(lend(0));
    assert_null(lend(1));
    assert_int_equal(moments_of(profile), 1);
    background_profiles_return(background, profile);
}

/* An ended process gives up its place to a living one. */
static void
places_are_few(void **state)
{
    struct process_entry *first = add(0);
    struct profile *profile;

    (void)state;
    for (int i = 1; i < ALL_MAX; i++)
        add(i);
    make(10);
    pass_second();
    assert_null(lend(ALL_MAX - 1));
    first->ended = true;
    pass_second();
    pass_second();
    assert_null(lend(0));
    profile = lend(ALL_MAX - 1);
    assert_non_null(profile);
    background_profiles_return(background, profile);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_read_once_a_second, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_everybody_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_young_are_not_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_lent_is_not_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_reading_is_after_the_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_forgotten_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(places_are_few, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
