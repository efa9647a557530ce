/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The library must do no harm: it leaves nothing behind and holds nothing open, and the
   program does not notice when the library finds no place for its segment. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "segment/names.h"
#include "watch.h"

/* ---- descriptors, sandboxes, identities ---- */

static void
test_descriptors(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV("harm.run", "descriptors")};
    struct watched ours, plain;

    (void)state;
    if (watch_mode("log")) /* the log keeps a descriptor, see log:descriptors */
        skip();
    watch_run(&how, &ours);
    how.plain = true;
    watch_run(&how, &plain);
    assert_string_equal(plain.out, ours.out);
    watch_free(&ours);
    watch_free(&plain);
}

static void
close_input(void)
{
    close(STDIN_FILENO);
}

/* However stacks are walked, the program's first file has the same number as without the
   library, and nobody else reads or writes it. */
static void
test_numbers(void **state)
{
    static const char *const words[] = {"", "sites=1", "sites=1,unwind=fp",
                                        "sites=1,dormant", "rings=4096,drop"};
    struct preload_watch how = {.argv = WATCH_ARGV("harm.run", "first_number"),
                                .plain = true};
    struct watched ours, plain;

    (void)state;
    for (size_t i = 0; i < 2 * sizeof words / sizeof words[0]; i++) {
        how.prepare = i % 2 ? close_input : NULL;
        how.options = words[i / 2];
        how.plain = true;
        watch_run(&how, &plain);
        how.plain = false;
        watch_run(&how, &ours);
        watch_assert_success(&ours);
        assert_string_equal("", ours.err);
        if (!watch_mode("log")) /* the log keeps a descriptor */
            assert_string_equal(plain.out, ours.out);
        watch_free(&ours);
        watch_free(&plain);
        watch_case("harm.run", "numbers_used_again", words[i / 2], &ours);
        watch_free(&ours);
    }
}

static void
test_sandboxes(void **state)
{
    static const struct {
        char *name;
        const char *options;
        size_t segments;
    } runs[] = {
        {"strict", "", 1},          {"strict", "rings=256,drop", 1},
        {"strict", "rings=128", 1}, {"strict", "accounting=usable,rings=128,drop", 1},
        {"strict", "sites=1", 1},   {"strict", "sites=1,unwind=fp", 1},
        {"strict", "sites=1e-3,rings=256,drop", 1},
        {"no_tsc", "", 2},          {"no_tsc", "rings=4096,drop", 2},
        {"close_all", "", 1},       {"new_environment", "", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct watched what;
        print_message("  %s %s\n", runs[i].name, runs[i].options);
        watch_case("harm.run", runs[i].name, runs[i].options, &what);
        assert_true(watch_last(&what)->snapshot.calls[FN_MALLOC] >= 1000);
        assert_int_equal(runs[i].segments, what.count);
        watch_free(&what);
    }
}

static void
test_chroot(void **state)
{
    char root[] = "/tmp/memtop-test-XXXXXX";
    struct preload_watch how = {.argv = WATCH_ARGV("harm.run", "in_chroot", root)};
    struct watched what;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_non_null(mkdtemp(root));
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_int_equal(2000, watch_last(&what)->snapshot.calls[FN_MALLOC]);
    watch_free(&what);
    assert_int_equal(0, rmdir(root)); /* still empty */
}

static void
test_dropped(void **state)
{
    struct preload_watch how = {
        .argv = WATCH_ARGV("harm.run", "dropped"), .options = "keep=0", .unkept = true};
    struct watched what;

    (void)state;
    if (geteuid() != 0)
        skip();
    watch_run(&how, &what);
    watch_assert_success(&what);
    watch_free(&what);
    rmdir("/dev/shm/memtop-65534");
}

/* ---- no place for the segment ---- */

static void
limit(int resource, rlim_t value)
{
    struct rlimit both = {value, value};

    setrlimit(resource, &both);
}

static void small_files(void) { limit(RLIMIT_FSIZE, 10 * 1024); }
static void few_descriptors(void) { limit(RLIMIT_NOFILE, 4); }
static void little_room(void) { limit(RLIMIT_AS, 20 << 20); }

static void
test_limits(void **state)
{
    static const struct {
        void (*prepare)(void);
        const char *options;
        size_t segments;
    } limits[] = {
        {small_files, "", 0},
        {few_descriptors, "", 0},
        {little_room, "sites", 0}, /* all tables are one mapping of 20 MiB */
        {little_room, "", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct preload_watch how = {.argv = WATCH_ARGV("harm.run", "work"),
                                    .options = limits[i].options,
                                    .prepare = limits[i].prepare};
        struct watched what;
        watch_run(&how, &what);
        watch_assert_success(&what);
        assert_string_equal("", what.err);
        assert_int_equal(watch_mode("sites") ? 0 : limits[i].segments, what.files);
        watch_free(&what);
    }
}

/* Runs a program with a MEMTOP_DIR that cannot be used, and checks that nothing appears
   there.  The program has no keeper: kept segments in the directory used instead would
   remain. */
static void
check_unusable(const char *directory)
{
    struct preload_watch how = {.argv = WATCH_ARGV("harm.run", "work"),
                                .directory = directory,
                                .unkept = true,
                                .gone = true};
    struct watched what;

    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_string_equal("", what.err);
    watch_free(&what);
}

static void
test_unusable_directories(void **state)
{
    char base[] = "/dev/shm/memtop-test-XXXXXX", real[64], link[64];
    char disk_base[] = "/var/tmp/memtop-test-XXXXXX", disk[64];

    (void)state;
    assert_non_null(mkdtemp(base));
    snprintf(real, sizeof real, "%s/real", base);
    snprintf(link, sizeof link, "%s/link", base);
    assert_int_equal(0, mkdir(real, 0700));
    assert_int_equal(0, symlink(real, link));
    check_unusable(link);
    assert_int_equal(0, chmod(real, 0755));
    check_unusable(real);
    if (geteuid() == 0) {
        assert_int_equal(0, chmod(real, 0700));
        assert_int_equal(0, chown(real, 1, 1));
        check_unusable(real);
    }
    assert_int_equal(0, watch_entries(real));
    check_unusable("relative/path");
    check_unusable("/nonexistent/deep/path");
    check_unusable("/dev/null");
    /* Not on a memory file system: not even the directory remains. */
    assert_non_null(mkdtemp(disk_base));
    snprintf(disk, sizeof disk, "%s/not-there", disk_base);
    check_unusable(disk);
    assert_int_equal(0, rmdir(disk_base)); /* empty */
    unlink(link);
    rmdir(real);
    rmdir(base);
}

/* The segment is in another directory and says why. */
static void
test_moved(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV("harm.run", "work"),
                                .directory = "/nonexistent/deep/path",
                                .gone = true};
    struct identity identity;
    struct reader *reader;
    struct watched what;
    char path[64];

    (void)state;
    if (watch_mode("dormant")) /* the first of two runs would leave its segment */
        skip();
    watch_run(&how, &what);
    watch_assert_success(&what);
    snprintf(path, sizeof path, "/dev/shm/memtop-%u/%d.0", (unsigned)geteuid(),
             (int)what.pid);
    assert_int_equal(0, reader_open(path, geteuid(), geteuid(), &reader));
    assert_int_equal(0, reader_identity(reader, &identity));
    assert_true(identity.flags & SEGMENT_FLAG_MOVED);
    reader_close(reader);
    unlink(path);
    watch_free(&what);
    watch_case("harm.run", "work", NULL, &what);
    assert_false(watch_last(&what)->identity.flags & SEGMENT_FLAG_MOVED);
    watch_free(&what);
}

static void
test_full(void **state)
{
    struct watched what;

    (void)state;
    if (!watch_own_mounts())
        skip();
    watch_run_on("12k", NULL, "harm.run", "work", &what);
    assert_int_equal(0, what.files);
    watch_free(&what);
    /* Room for the head of the segment only; it says why there are no figures. */
    if (!watch_mode("rings") && !watch_mode("sites") && !watch_mode("dormant")) {
        watch_run_on("20k", NULL, "harm.run", "work", &what);
        assert_int_equal(REASON_NO_ROOM, watch_last(&what)->identity.reason);
        assert_int_equal(0, watch_last(&what)->snapshot.calls[FN_MALLOC]);
        watch_free(&what);
        watch_run_on("20k", "mmap", "rows.run", "mappings", &what);
        watch_free(&what);
    }
    /* Room for the segment and a few threads; the others share a shard.  (For rings there
       is no room.) */
    watch_run_on(watch_mode("rings") ? "200k" : "500k", NULL, "threads.run", "crowd",
                 &what);
    if (watch_mode("rings")) {
        assert_int_equal(0, what.files);
        watch_free(&what);
        return;
    }
    assert_int_equal(22000, watch_last(&what)->snapshot.calls[FN_MALLOC]);
    assert_true(watch_last(&what)->snapshot.threads_merged > 1000);
    watch_free(&what);
    watch_run_on("300k", NULL, "forks.run", "simple", &what);
    assert_true(what.count >= 1);
    watch_free(&what);
}

/* The tables of sites grow until there is no room.  The counters stay right, and samples
   without room are counted. */
static void
test_full_of_sites(void **state)
{
    static const char *const sizes[] = {"280k", "400k", "700k", "3m"};
    struct watched what;

    (void)state;
    if (!watch_own_mounts() || watch_mode("rings") || watch_mode("dormant")) /* no room
                                                                          for more */
        skip();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct watched_segment *last;

        watch_run_on(sizes[i], "sites=1", "sites.run", "crowded", &what);
        last = watch_last(&what);
        assert_true(last->snapshot.calls[FN_MALLOC] >= 140000);
        assert_int_equal(0, last->snapshot.unmatched);
        assert_true(last->sites.rate == 0 || last->sites.lost.blocks > 0);
        watch_free(&what);
        watch_run_on(sizes[i], "sites=1", "sites.run", "forked", &what);
        watch_free(&what);
    }
}

static char disk[] = "/var/tmp/memtop-test-XXXXXX";

/* Runs in the child: replaces /dev/shm by a directory on disk. */
static void
hide_dev_shm(void)
{
    if (!watch_own_mounts() || mount(disk, "/dev/shm", NULL, MS_BIND, NULL) != 0)
        _exit(77);
}

static void
test_no_dev_shm(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV("harm.run", "work"),
                                .prepare = hide_dev_shm,
                                .directory = "/nonexistent",
                                .gone = true};
    struct watched what;

    (void)state;
    assert_non_null(mkdtemp(disk));
    watch_run(&how, &what);
    assert_int_equal(0, rmdir(disk)); /* empty */
    if (WIFEXITED(what.status) && WEXITSTATUS(what.status) == 77) {
        watch_free(&what);
        skip();
    }
    watch_assert_success(&what);
    watch_free(&what);
}

/* ---- segments left by others ---- */

/* Makes the segment of a process that has ended, or of PID if that is not 0. */
static void
leave_segment(int directory, pid_t pid, pid_t keeper, uint64_t pid_namespace)
{
    struct segment_header header;
    uint32_t generation;
    int fd;

    if (pid == 0) {
        pid = fork();
        if (pid == 0)
            _exit(0);
        waitpid(pid, NULL, 0);
    }
    fd = segment_create(directory, pid, 0, 0, false, &generation);
    assert_true(fd >= 0);
    memset(&header, 0, sizeof header);
    segment_header_init(&header, 0, false);
    header.pid = (uint32_t)pid;
    header.keeper = (uint32_t)keeper;
    header.pid_namespace = pid_namespace;
    assert_int_equal(sizeof header, pwrite(fd, &header, sizeof header, 0));
    close(fd);
}

static void
remove_all(const char *directory)
{
    char path[512];
    DIR *dir = opendir(directory);

    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        unlink(path);
    }
    closedir(dir);
    rmdir(directory);
}

static void
test_sweep(void **state)
{
    char path[] = "/dev/shm/memtop-test-XXXXXX";
    struct preload_watch how = {.argv = WATCH_ARGV("harm.run", "work"),
                                .directory = path,
                                .unkept = true,
                                .gone = true};
    struct preload_watch kept = {.argv = how.argv, .directory = path};
    uint64_t here = segment_pid_namespace();
    struct watched what;
    int directory;

    (void)state;
    if (watch_mode("dormant")) /* there each run is two runs, and both remove segments */
        skip();
    assert_non_null(mkdtemp(path));
    directory = open(path, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 20; i++)
        leave_segment(directory, 0, 0, here);
    leave_segment(directory, 0, getpid(), here); /* this process keeps it */
    leave_segment(directory, 0, 0, here + 1);    /* of another pid namespace */
    leave_segment(directory, getpid(), 0, here); /* alive */
    assert_int_equal(23, watch_entries(path));
    watch_run(&kept, &what); /* with a keeper the process removes nothing, and its own
                                segment remains */
    watch_assert_success(&what);
    watch_free(&what);
    assert_int_equal(24, watch_entries(path));
    watch_run(&how, &what); /* removes 16 at its start, its own at its end */
    watch_assert_success(&what);
    watch_free(&what);
    assert_int_equal(8, watch_entries(path));
    watch_run(&how, &what);
    watch_free(&what);
    assert_int_equal(4, watch_entries(path));
    close(directory);
    remove_all(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_sandboxes),
        cmocka_unit_test(test_chroot),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_unusable_directories),
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_no_dev_shm),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_full_of_sites),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
