/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sampled allocations: with every word sampled the sites are exact, otherwise they are
 * right on average.  The counters are not affected, and no way to allocate waits for the
 * unwinder.
 */
#include "config.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "watch.h"

static const char *const unwinders[] = {"auto", "dwarf", "fp", "none"};

static struct site_figures
sum(const struct sites_reading *sites, size_t offset)
{
    struct site_figures all = {.bytes = 0};

    for (size_t i = 0; i < sites->site_count; i++) {
        const struct site_figures *one =
            (const void *)((const unsigned char *)&sites->sites[i] + offset);
        all.bytes += one->bytes;
        all.objects += one->objects;
        all.blocks += one->blocks;
        all.samples += one->samples;
    }
    return all;
}

#define SUM(sites, what) sum(sites, offsetof(struct site, what))

/* With every word sampled, sites and counters agree. */
static void
assert_exact(const struct watched_segment *segment)
{
    const struct sites_reading *sites = &segment->sites;
    const struct snapshot *counted = &segment->snapshot;
    uint64_t bytes = 0;

    assert_true(sites->rate == 1);
    assert_true(SUM(sites, live).bytes == (double)counted->live_bytes);
    assert_true(SUM(sites, live).objects == (double)counted->live_blocks);
    assert_int_equal(SUM(sites, live).blocks, counted->live_blocks);
    assert_true(sites->live_bytes == (double)counted->live_bytes);
    assert_int_equal(sites->block_count, counted->live_blocks);
    for (size_t i = 0; i < sites->block_count; i++)
        bytes += sites->blocks[i].size;
    assert_int_equal(bytes, counted->live_bytes);
    assert_int_equal(0, sites->lost.stacks + sites->lost.sites + sites->lost.blocks
                            + sites->lost.modules);
    assert_int_equal(0, counted->unmatched);
}

static void
run_killed(const char *allocator, const char *options, struct watched *what)
{
    watch_run(
        &(struct preload_watch){.argv = WATCH_ARGV((char *)"sites.run", (char *)"killed"),
                                .options = options,
                                .preload_after = allocator},
        what);
    assert_true(WIFSIGNALED(what->status) && WTERMSIG(what->status) == SIGKILL);
    assert_string_equal("", what->err);
}

static void
test_exact(void **state)
{
    static const char *const ways[] = {"sites=1", "sites=1,accounting=usable",
                                       "sites=1,rings=4096,drop", "sites=1,exact",
                                       "sites=1,old-kernel",
                                       "sites=1,unwind=fp,depth=64",
                                       "sites=1,unwind=none"};
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        run_killed(NULL, ways[i], &what);
        assert_exact(watch_last(&what));
        watch_free(&what);
    }
}

/* With one thread the estimated peak equals the heap's, with the blocks live at it. */
static void
test_peak(void **state)
{
    struct watched what;
    const struct watched_segment *last;

    (void)state;
    watch_case("sites.run", "every_way", "sites=1", &what);
    last = watch_last(&what);
    assert_exact(last);
    assert_true(last->sites.peak_bytes == SUM(&last->sites, at_peak).bytes);
    assert_true(last->sites.peak_bytes == (double)last->snapshot.peak_bytes);
    watch_free(&what);
}

/* Counters are the same with sites and without. */
static void
test_counters_the_same(void **state)
{
    struct watched with, without;

    (void)state;
    watch_case("sites.run", "every_way", "", &without);
    for (size_t i = 0; i < sizeof unwinders / sizeof unwinders[0]; i++) {
        char options[64];
        snprintf(options, sizeof options, "sites=0.01,unwind=%s", unwinders[i]);
        watch_case("sites.run", "every_way", options, &with);
        assert_memory_equal(watch_last(&with)->snapshot.calls,
                            watch_last(&without)->snapshot.calls,
                            sizeof watch_last(&with)->snapshot.calls);
        assert_memory_equal(watch_last(&with)->snapshot.bytes,
                            watch_last(&without)->snapshot.bytes,
                            sizeof watch_last(&with)->snapshot.bytes);
        assert_int_equal(watch_last(&with)->snapshot.unmatched,
                         watch_last(&without)->snapshot.unmatched);
        assert_int_equal(watch_last(&with)->snapshot.live_blocks,
                         watch_last(&without)->snapshot.live_blocks);
        watch_free(&with);
    }
    watch_free(&without);
}

/* 1e6 blocks of `words` words at rate 1e-3; for 9 words binomial with mean 9000,
   deviation 95. */
static void
assert_uniform(char *which, double words, double size)
{
    struct watched what;
    const struct sites_reading *sites;
    double hits = 1e6 * words * 1e-3, most = 5 * sqrt(hits);

    watch_case("sites.run", which, "sites=1e-3", &what);
    sites = &watch_last(&what)->sites;
    assert_true(fabs((double)SUM(sites, made).samples - hits) < most);
    assert_true(fabs(SUM(sites, made).objects - 1e6) < 1e6 * most / hits);
    assert_true(fabs(SUM(sites, made).bytes - 1e6 * size) < 1e6 * size * most / hits);
    assert_true(SUM(sites, live).bytes < 1e6);
    watch_free(&what);
}

static void
test_uniform(void **state)
{
    (void)state;
    assert_uniform((char *)"uniform", 9, 64);
    assert_uniform("uneven", 8, 49);
}

/* Mixed sizes: no bias, within five deviations of the estimate. */
static void
test_mixed(void **state)
{
    struct watched what;
    const struct watched_segment *last;
    struct site_figures made, live;

    (void)state;
    for (int times = 0; times < 3; times++) {
        watch_case("sites.run", "mixed",
                   times == 1 ? "sites=1e-3,accounting=usable" : "sites=1e-3", &what);
        last = watch_last(&what);
        made = SUM(&last->sites, made);
        live = SUM(&last->sites, live);
        assert_true(fabs(made.bytes - (double)last->snapshot.total_bytes)
                    < 5 * made.bytes / sqrt((double)made.blocks));
        assert_true(fabs(live.bytes - (double)last->snapshot.live_bytes)
                    < 5 * live.bytes / sqrt((double)live.blocks));
        assert_int_equal(live.blocks, last->sites.block_count);
        watch_free(&what);
    }
}

/* A child copies its parent's tables when it needs its own, as they were at the fork. */
static void
test_forked_before_growth(void **state)
{
    struct watched what;

    (void)state;
    watch_case("sites.run", "forked_before_growth", "sites=1", &what);
    for (size_t i = 0; i < what.count; i++)
        if (what.segments[i].pid == (pid_t)watch_number(&what, "child")) {
            assert_exact(&what.segments[i]);
            assert_in_range(what.segments[i].sites.block_count, 1001, 1020);
        }
    watch_free(&what);
}

/* Samples that do not fit are counted as lost, and the others stay right. */
static void
test_crowded(void **state)
{
    struct watched what;
    const struct watched_segment *last;

    (void)state;
    watch_case("sites.run", "crowded", "sites=1,sites-memory=4096", &what);
    last = watch_last(&what);
    assert_true(last->sites.lost.blocks > 0);
    assert_int_equal(last->sites.sampled,
                     SUM(&last->sites, made).blocks + last->sites.lost.blocks);
    assert_true(SUM(&last->sites, made).bytes + last->sites.lost.bytes
                >= (double)last->snapshot.total_bytes);
    assert_int_equal(0, last->snapshot.unmatched);
    watch_free(&what);
}

static void
test_threads(void **state)
{
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof unwinders / sizeof unwinders[0]; i++) {
        char options[64];
        snprintf(options, sizeof options, "sites=1,unwind=%s", unwinders[i]);
        watch_case("sites.run", "threads", options, &what);
        assert_exact(watch_last(&what));
        watch_free(&what);
    }
}

/* A child begins with its parent's live blocks; what the parent does later does not
   count for it. */
static void
test_fork(void **state)
{
    struct watched what;
    pid_t child;

    (void)state;
    for (int usable = 0; usable < 2; usable++) {
        watch_case("sites.run", "forked",
                   usable ? "sites=1,accounting=usable" : "sites=1", &what);
        child = (pid_t)watch_number(&what, "child");
        assert_int_equal(2, what.count);
        for (size_t i = 0; i < what.count; i++) {
            const struct watched_segment *segment = &what.segments[i];
            assert_exact(segment);
            if (segment->pid == child && !usable)
                assert_true(SUM(&segment->sites, made).bytes == 100 * 999);
        }
        watch_free(&what);
    }
}

/* Samples of an earlier awake period are forgotten, as its counts are. */
static void
test_dormant(void **state)
{
    static char *const names[] = {"woken", "twice", "child_awake"};
    struct watched what;

    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        watch_case((char *)"dormant.run", names[k], "dormant,sites=1", &what);
        for (size_t i = 0; i < what.count; i++)
            if (what.segments[i].snapshot.wakes > 0)
                assert_true(SUM(&what.segments[i].sites, live).bytes
                            == (double)what.segments[i].snapshot.live_bytes);
        watch_free(&what);
    }
    watch_case((char *)"dormant.run", (char *)"toggled", "dormant,sites=1", &what);
    assert_true(watch_last(&what)->sites.sampled > 0); /* a call may be counted in part */
    watch_free(&what);
    watch_case((char *)"dormant.run", (char *)"never_woken", "dormant,sites=1", &what);
    assert_int_equal(0, watch_last(&what)->sites.sampled);
    watch_free(&what);
}

/* After the program has called prctl(), sampling makes no system calls, which might kill
   it. */
static void
test_sandbox(void **state)
{
    static char *const names[] = {"alone", "threads", "children"};
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof unwinders / sizeof unwinders[0]; i++) {
        char options[64];
        snprintf(options, sizeof options, "dormant,sites=1,unwind=%s", unwinders[i]);
        watch_case((char *)"dormant.run", (char *)"sandboxed", options, &what);
        watch_free(&what);
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            watch_case((char *)"sandbox.run", names[k], options + strlen("dormant,"),
                       &what);
            watch_free(&what);
        }
    }
}

/* Places where a careless unwinder would hang or crash. */
static void
test_odd_places(void **state)
{
    static char *const names[] = {"forked_threads", "storms",  "iterating",
                                  "in_handler",     "at_ends", "small_stacks"};
    struct watched what;

    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        for (size_t i = 0; i < sizeof unwinders / sizeof unwinders[0]; i++) {
            char options[64];
            snprintf(options, sizeof options, "sites=1,unwind=%s", unwinders[i]);
            watch_case("sites.run", names[k], options, &what);
            assert_true(watch_last(&what)->sites.sampled > 0);
            watch_free(&what);
        }
}

/* A thread that holds the loader's list lock waits for a thread that allocates. */
static void
test_waiting_callback(void **state)
{
    static const char *const safe[] = {"sites=1", "sites=1,unwind=fp",
                                       "sites=1,unwind=none"};
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof safe / sizeof safe[0]; i++) {
        watch_case((char *)"sites.run", (char *)"waiting_callback", safe[i], &what);
        watch_free(&what);
    }
}

/* libgcc allocates with its own lock held when it first looks at frames that the program
   has registered.  A forked child may also find that lock held. */
static void
test_registered_frames(void **state)
{
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof unwinders / sizeof unwinders[0]; i++) {
        char options[64];

        snprintf(options, sizeof options, "sites=1,unwind=%s", unwinders[i]);
        watch_case((char *)"sites.run", (char *)"registered_frames", options, &what);
        assert_exact(watch_last(&what));
        watch_free(&what);
        watch_case((char *)"cxx.run", (char *)"registers", options, &what);
        watch_free(&what);
        watch_case((char *)"sites.run", (char *)"forked_registered", options, &what);
        watch_free(&what);
    }
}

/* ---- stacks ---- */

static const struct site *
site_of_size(const struct sites_reading *sites, uint64_t size)
{
    for (size_t i = 0; i < sites->block_count; i++)
        if (sites->blocks[i].size == size)
            return &sites->sites[sites->blocks[i].site];
    fail_msg("no block of %u bytes", (unsigned)size);
    return NULL;
}

static bool
lies_in(uint64_t pc, uint64_t function)
{
    return pc > function && pc < function + 200; /* about the size of a function */
}

static uint64_t
inode_of(const char *path)
{
    struct stat st;

    assert_int_equal(0, stat(path, &st));
    return st.st_ino;
}

/* All of the program's frames, innermost first. */
static void
test_stacks(void **state)
{
    struct watched what;
    const struct sites_reading *sites;
    const uint64_t *pcs;
    unsigned depth;

    (void)state;
    for (size_t i = 0; i < sizeof unwinders / sizeof unwinders[0] - 1; i++) {
        const struct site *site;
        const struct site_module *module;
        char options[64];

        snprintf(options, sizeof options, "sites=1,unwind=%s", unwinders[i]);
        watch_case("sites.run", "deep", options, &what);
        sites = &watch_last(&what)->sites;
        site = site_of_size(sites, 1234);
        pcs = sites_stack(sites, site->stack, &depth);
        assert_true(depth >= 6 && depth <= 24);
        for (unsigned frame = 0; frame < 4; frame++)
            assert_true(lies_in(pcs[frame], watch_number(&what, "recurse")));
        assert_true(lies_in(pcs[4], watch_number(&what, "deep")));
        if (sites->has_modules) {
            module = sites_module(sites, pcs[0], site->first_ns);
            assert_non_null(module);
            assert_non_null(strstr(module->path, "sites.run"));
            assert_int_equal(0, module->build_id_size);
            assert_int_equal(inode_of(watch_program("sites.run")), module->inode);
        }
        if (sites->has_modules && strcmp(unwinders[i], "fp") != 0) {
            module = sites_module(sites, pcs[depth - 2], site->first_ns); /* the caller
                                                                             of main */
            assert_non_null(strstr(module->path, "libc.so"));
            assert_true(module->build_id_size > 0);
        }
        sites_stack(sites, site_of_size(sites, 4321)->stack, &depth);
        assert_int_equal(24, depth);
        watch_free(&what);
    }
}

static void
test_depth(void **state)
{
    struct watched what;
    const struct sites_reading *sites;
    unsigned depth;

    (void)state;
    watch_case("sites.run", "deep", "sites=1,depth=64", &what);
    sites = &watch_last(&what)->sites;
    sites_stack(sites, site_of_size(sites, 4321)->stack, &depth);
    assert_int_equal(64, depth);
    watch_free(&what);
    watch_case("sites.run", "deep", "sites=1,depth=2", &what);
    sites = &watch_last(&what)->sites;
    sites_stack(sites, site_of_size(sites, 4321)->stack, &depth);
    assert_int_equal(2, depth);
    watch_free(&what);
    watch_case("sites.run", "deep", "sites=1,unwind=none", &what);
    sites = &watch_last(&what)->sites;
    assert_int_equal(0, site_of_size(sites, 4321)->stack);
    assert_int_equal(UNWIND_NONE, sites->unwinder);
    watch_free(&what);
}

/* Stacks are known from the first call on, which is libstdc++'s here, before main. */
static void
test_before_main(void **state)
{
    struct watched what;

    (void)state;
    if (dlsym(RTLD_DEFAULT, "_dl_find_object") == NULL)
        skip();
    watch_case("cxx.run", (char *)"usual", "sites=1", &what);
    assert_int_equal(0, watch_last(&what)->sites.lost.unknown);
    watch_free(&what);
}

/* C++ operators: those of libstdc++, and those of allocators that have their own. */
static void
test_allocators(void **state)
{
    static const char *const allocators[] = {NULL, "libjemalloc.so.2", "libtcmalloc.so.4",
                                             "libmimalloc.so.2"};
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof allocators / sizeof allocators[0]; i++) {
        if (allocators[i] != NULL && !watch_can_preload(allocators[i]))
            continue;
        watch_run(&(struct preload_watch){.argv = WATCH_ARGV((char *)"cxx.run",
                                                             (char *)"usual"),
                                          .options = "sites=1",
                                          .preload_after = allocators[i]},
                  &what);
        watch_assert_success(&what);
        assert_exact(watch_last(&what));
        watch_free(&what);
        run_killed(allocators[i], "sites=1", &what);
        assert_exact(watch_last(&what));
        watch_free(&what);
    }
}

/* Allocations at the end of a thread are sampled as rarely as all others: here never, in
   a million runs. */
static void
test_rare_at_ends(void **state)
{
    struct watched what;

    (void)state;
    watch_case("sites.run", "at_ends", "sites=1e-12", &what);
    assert_int_equal(0, watch_last(&what)->sites.sampled);
    watch_free(&what);
}

/* Signal handlers that interrupt a walk and do not return, or fork: later allocations are
   counted and sampled. */
static void
test_interrupted(void **state)
{
    static char *const cases[] = {(char *)"left_by_jump", (char *)"ended_within",
                                  (char *)"forked_in_handler"};

    (void)state;
    if (dlsym(RTLD_DEFAULT, "_dl_find_object") == NULL)
        skip(); /* a walk calls nothing then */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct watched what;

        watch_run(
            &(struct preload_watch){.argv = WATCH_ARGV((char *)"sites.run", cases[i]),
                                    .options = "sites=1",
                                    .preload_after = watch_program("interrupts.plugin")},
            &what);
        watch_assert_success(&what);
        for (size_t j = 0; j < what.count; j++) {
            const struct watched_segment *segment = &what.segments[j];
            assert_in_range(segment->snapshot.calls[FN_MALLOC], 1000, 1020);
            assert_in_range(SUM(&segment->sites, live).blocks, 1000, 1020);
        }
        watch_free(&what);
    }
}

/* Code without unwind tables, in an object or elsewhere: the frame pointer leads on. */
static void
test_no_tables(void **state)
{
    static char *const cases[] = {(char *)"no_tables", (char *)"no_object"};
    static const char *const ways[] = {"sites=1", "sites=1,unwind=fp",
                                       "sites=1,unwind=dwarf"};
    struct watched what;
    unsigned depth;

    (void)state;
#ifndef __x86_64__
    skip();
#endif
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
            const struct sites_reading *sites;
            const uint64_t *pcs;
            bool found = false;

            watch_case("sites.run", cases[i], ways[k], &what);
            sites = &watch_last(&what)->sites;
            pcs = sites_stack(sites, site_of_size(sites, 7531)->stack, &depth);
            for (unsigned frame = 2; frame < depth; frame++)
                found |= lies_in(pcs[frame], watch_number(&what, cases[i]));
            if (k < 2)
                assert_true(found && depth >= 4);
            else
                assert_int_equal(2, depth); /* they end there */
            watch_free(&what);
        }
    watch_case("sites.run", "no_frame", "sites=1", &what);
    assert_exact(watch_last(&what));
    watch_free(&what);
}

/* Tables that are not to be believed: the stack ends there. */
static void
test_odd_tables(void **state)
{
    const struct sites_reading *sites;
    struct watched what;
    unsigned count = 0, depth;

    (void)state;
#ifndef __x86_64__
    skip();
#endif
    watch_case("sites.run", "odd_tables", "sites=1", &what);
    sites = &watch_last(&what)->sites;
    for (size_t i = 0; i < sites->block_count; i++)
        if (sites->blocks[i].size == 7531) {
            sites_stack(sites, sites->sites[sites->blocks[i].site].stack, &depth);
            assert_int_equal(2, depth);
            count++;
        }
    assert_int_equal(11, count);
    watch_free(&what);
}

/* Is there a frame of the function in the stack of each block of that size?  Returns the
   number of blocks. */
static unsigned
blocks_of(const struct sites_reading *sites, uint64_t size, uint64_t function)
{
    unsigned count = 0, depth;

    for (size_t i = 0; i < sites->block_count; i++) {
        bool found = false;
        const uint64_t *pcs;

        if (sites->blocks[i].size != size)
            continue;
        pcs = sites_stack(sites, sites->sites[sites->blocks[i].site].stack, &depth);
        for (unsigned frame = 0; frame < depth; frame++)
            found |= pcs[frame] - function < 400;
        assert_true(found);
        count++;
    }
    return count;
}

/* Code that lies where other code was until dlclose(). */
static void
test_reloaded(void **state)
{
    char *argv[] = {(char *)"sites.run", (char *)"reloaded", NULL, NULL, NULL};
    struct watched what;

    (void)state;
#ifndef __x86_64__
    skip();
#endif
    argv[2] = (char *)watch_program("room-small.plugin");
    argv[3] = (char *)watch_program("room-large.plugin");
    watch_run(&(struct preload_watch){.argv = argv, .options = "sites=1"}, &what);
    watch_assert_success(&what);
    assert_int_equal(0, watch_number(&what, "moved"));
    assert_int_equal(2, blocks_of(&watch_last(&what)->sites, 7531,
                                  watch_number(&what, "reloaded")));
    watch_free(&what);
}

/* Without the option there is nothing to read. */
static void
test_off(void **state)
{
    struct watched what;

    (void)state;
    watch_case("sites.run", "nothing", "unwind=dwarf,depth=3", &what);
    assert_true(watch_last(&what)->sites.rate == 0);
    assert_int_equal(0, watch_last(&what)->sites.site_count);
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_peak),
        cmocka_unit_test(test_counters_the_same),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_dormant),
        cmocka_unit_test(test_sandbox),
        cmocka_unit_test(test_odd_places),
        cmocka_unit_test(test_waiting_callback),
        cmocka_unit_test(test_registered_frames),
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_before_main),
        cmocka_unit_test(test_allocators),
        cmocka_unit_test(test_rare_at_ends),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_forked_before_growth),
        cmocka_unit_test(test_no_tables),
        cmocka_unit_test(test_odd_tables),
        cmocka_unit_test(test_reloaded),
        cmocka_unit_test(test_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
