/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event rings, drained as memtop drains them: while the program runs, or, to see what
 * happens then, only after its end.  A ledger of live addresses shows whether an event
 * is missing, doubled or out of order.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "segment/drain.h"
#include "segment/names.h"
#include "watch.h"

#define ADDRESSES (1u << 16) /* places of the ledger, a power of two */
#define GONE 1
#define FIRST 32

struct ring_ledger {
    pid_t pid;
    uint64_t calls[FN_COUNT]; /* calls that made a block; FN_FREE: events of free */
    uint64_t from, to, freed, kept; /* events of reallocs */
    uint64_t bytes;           /* live */
    uint64_t twice, unknown, backwards, orphans;
    uint64_t last_ns;
    uint64_t lost, marked;
    uint64_t threads;         /* threads that identified themselves */
    uint64_t tid;             /* tid of the latest of them */
    uint64_t addresses[ADDRESSES];
    bool pending[SHARD_COUNT]; /* its FROM has come, its TO has not */
    struct drained first[FIRST];
    size_t count;
};

static struct ring_ledger ledgers[4];
static size_t ledger_count;
static bool drain_meanwhile;

/* ---- the ledger ---- */

static uint64_t *
place_of(struct ring_ledger *ledger, uint64_t address)
{
    uint64_t at = (address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48;
    uint64_t *vacant = NULL;

    while (ledger->addresses[at] != 0 && ledger->addresses[at] != address) {
        if (vacant == NULL && ledger->addresses[at] == GONE)
            vacant = &ledger->addresses[at];
        at = (at + 1) % ADDRESSES;
    }
    return ledger->addresses[at] == 0 && vacant != NULL ? vacant : &ledger->addresses[at];
}

static void
enter(struct ring_ledger *ledger, const struct drained *event)
{
    uint64_t *place = place_of(ledger, event->address);

    ledger->twice += *place == event->address;
    ledger->bytes += event->size;
    *place = event->address;
}

static void
strike(struct ring_ledger *ledger, const struct drained *event)
{
    uint64_t *place = place_of(ledger, event->address);

    ledger->unknown += *place != event->address;
    ledger->bytes -= event->size;
    *place = GONE;
}

static void
take_event(struct ring_ledger *ledger, const struct drained *event)
{
    ledger->backwards += event->time_ns < ledger->last_ns;
    ledger->last_ns = event->time_ns;
    if (event->kind < EVENT_THREAD) {
        if (ledger->count < FIRST)
            ledger->first[ledger->count] = *event;
        ledger->count++;
    }
    switch ((enum event_kind)event->kind) {
    case EVENT_REALLOC_FROM:
        ledger->from++;
        ledger->pending[event->ring] = true;
        strike(ledger, event);
        return;
    case EVENT_REALLOC_TO:
        ledger->to++;
        enter(ledger, event);
        break;
    case EVENT_REALLOC_KEPT:
        ledger->kept++;
        enter(ledger, event);
        break;
    case EVENT_REALLOC_FREED:
        ledger->freed++;
        break;
    case EVENT_THREAD:
        ledger->threads++;
        ledger->tid = event->size;
        return;
    default:
        if (event->kind == DRAINED_LOST) {
            ledger->marked += event->size;
            return;
        }
        assert_in_range(event->kind, 0, FN_COUNT - 1);
        ledger->calls[event->kind]++;
        if (event->kind == FN_FREE)
            strike(ledger, event);
        else
            enter(ledger, event);
        return;
    }
    ledger->orphans += !ledger->pending[event->ring];
    ledger->pending[event->ring] = false;
}

static void
take(void *context, const struct drained *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        take_event(context, &events[i]);
}

/* ---- draining ---- */

static bool
has_ended(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0
           && info.si_pid == pid;
}

static struct ring_ledger *
new_ledger(pid_t pid)
{
    struct ring_ledger *ledger = &ledgers[ledger_count++];

    assert_true(ledger_count <= sizeof ledgers / sizeof *ledgers);
    memset(ledger, 0, sizeof *ledger);
    ledger->pid = pid;
    return ledger;
}

static void
finish(struct drain *drain, struct ring_ledger *ledger)
{
    assert_true(drain_round(drain, true, take, ledger) >= 0);
    assert_int_equal(0, drain_round(drain, true, take, ledger)); /* each event is handed
                                                                    over once */
    ledger->lost = drain_lost(drain);
    assert_int_equal(ledger->lost, ledger->marked);
    drain_close(drain);
}

/* Drains the children's rings, which hold everything they have written. */
static void
drain_others(pid_t root, const char *directory)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    struct drain *drain;
    char path[PATH_MAX];
    uint32_t generation;
    pid_t pid;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (!segment_name_parse(entry->d_name, &pid, &generation) || pid == root)
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        assert_int_equal(0, drain_open(path, getuid(), geteuid(), &drain));
        finish(drain, new_ledger(pid));
    }
    closedir(dir);
}

static void
drain_all(pid_t pid, const char *directory)
{
    const struct timespec pause = {0, 200000};
    struct ring_ledger *ledger = new_ledger(pid);
    struct drain *drain = NULL;
    char path[PATH_MAX];
    bool ended = false;

    snprintf(path, sizeof path, "%s/%d.0", directory, (int)pid);
    while (!ended) {
        ended = has_ended(pid);
        if (drain == NULL && (drain_meanwhile || ended)
            && drain_open(path, getuid(), geteuid(), &drain) < 0)
            drain = NULL;
        if (drain != NULL && !ended)
            assert_true(drain_round(drain, false, take, ledger) >= 0);
        if (!ended)
            nanosleep(&pause, NULL);
    }
    assert_non_null(drain);
    finish(drain, ledger);
    drain_others(pid, directory);
}

static void
run(char *program, char *name, const char *options, const char *preload_after,
    bool meanwhile, struct watched *what)
{
    struct preload_watch how = {.argv = WATCH_ARGV(program, name),
                                .options = options,
                                .preload_after = preload_after,
                                .meanwhile = drain_all};

    ledger_count = 0;
    drain_meanwhile = meanwhile;
    watch_run(&how, what);
}

/* Checks that nothing is lost, doubled or out of order, and that events and counters
   agree. */
static void
check_against(const struct ring_ledger *ledger, const struct snapshot *seen)
{
    assert_int_equal(0, ledger->lost);
    assert_int_equal(0, ledger->twice);
    assert_int_equal(0, ledger->backwards);
    assert_int_equal(0, ledger->orphans);
    assert_int_equal(ledger->from, ledger->to + ledger->freed + ledger->kept);
    assert_int_equal(seen->realloc_freed, ledger->freed);
    for (int i = 0; i < FN_COUNT; i++)
        if (i == FN_REALLOC)
            assert_int_equal(seen->calls[i] - ledger->kept,
                             ledger->calls[i] + ledger->to + ledger->freed);
        else if (i == FN_FREE)
            assert_int_equal(seen->calls[i] - seen->free_null, ledger->calls[i]);
        else
            assert_int_equal(seen->calls[i] - seen->failed[i], ledger->calls[i]);
}

static void
check_root(const struct watched *what)
{
    const struct snapshot *seen = &watch_last(what)->snapshot;

    check_against(&ledgers[0], seen);
    assert_int_equal(0, ledgers[0].unknown);
    assert_int_equal(seen->live_bytes, ledgers[0].bytes);
}

/* ---- the tests ---- */

static void
test_sequence(void **state)
{
    static const struct { uint8_t kind; uint64_t size; } expected[] = {
        {FN_MALLOC, 10},           {FN_CALLOC, 60},           {EVENT_REALLOC_FROM, 10},
        {EVENT_REALLOC_TO, 20},    {EVENT_REALLOC_FROM, 20},  {EVENT_REALLOC_TO, 5},
        {FN_REALLOC, 7},           {EVENT_REALLOC_FROM, 7},   {EVENT_REALLOC_FREED, 7},
        {EVENT_REALLOC_FROM, 60},  {EVENT_REALLOC_KEPT, 60},  {FN_FREE, 60},
        {FN_POSIX_MEMALIGN, 100},  {FN_FREE, 100},            {FN_ALIGNED_ALLOC, 128},
        {EVENT_REALLOC_FROM, 128}, {EVENT_REALLOC_TO, 150},   {FN_FREE, 150},
    };
    const size_t count = sizeof expected / sizeof *expected;
    struct watched what;

    (void)state;
    run("rings.run", "sequence", "rings=128", NULL, true, &what);
    watch_assert_success(&what);
    assert_int_equal(count, ledgers[0].count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(expected[i].kind, ledgers[0].first[i].kind);
        assert_int_equal(expected[i].size, ledgers[0].first[i].size);
        assert_int_equal(expected[i].kind >= FN_POSIX_MEMALIGN
                             && expected[i].kind < FN_COUNT ? 6 : 0, /* log2 of 64 */
                         ledgers[0].first[i].alignment);
        assert_in_range(ledgers[0].first[i].depth, 1, 100000);
    }
    assert_int_equal(5, ledgers[0].bytes);
    assert_int_equal(1, ledgers[0].threads);
    assert_int_equal(what.pid, ledgers[0].tid);
    watch_free(&what);
}

/* Four threads, rings that are always full, blocks freed by other threads. */
static void
test_threads(void **state)
{
    struct watched what;

    (void)state;
    run("rings.run", "exchanges", "rings=128", NULL, true, &what);
    watch_assert_success(&what);
    check_root(&what);
    assert_true(ledgers[0].count > 500000);
    watch_free(&what);
}

/* More threads than shards: the others share ring 0. */
static void
test_shared_ring(void **state)
{
    struct watched what;

    (void)state;
    run("threads.run", "crowd", "rings=128", NULL, true, &what);
    watch_assert_success(&what);
    assert_true(watch_last(&what)->snapshot.threads_merged > 0);
    check_root(&what);
    watch_free(&what);
}

static void
test_handlers(void **state)
{
    struct watched what;

    (void)state;
    run("signals.run", "storm", "rings=1024", watch_program("bump.plugin"), true, &what);
    watch_assert_success(&what);
    check_root(&what);
    watch_free(&what);
}

static void
test_fork(void **state)
{
    struct watched what;
    const struct ring_ledger *child = &ledgers[1];

    (void)state;
    run("forks.run", "simple", "rings=128", NULL, true, &what);
    watch_assert_success(&what);
    assert_int_equal(2, ledger_count);
    check_root(&what);
    assert_int_equal(0, child->lost);
    assert_int_equal(5, child->calls[FN_MALLOC]);
    assert_int_equal(3, child->calls[FN_FREE]);
    assert_int_equal(1, child->threads);
    assert_int_equal(child->pid, child->tid);
    assert_int_equal(3, child->unknown); /* blocks of its parent */
    assert_int_equal(8, child->count);
    watch_free(&what);
}

static void
test_drop(void **state)
{
    struct watched what;

    (void)state;
    run("rings.run", "many", "rings=128,drop", NULL, false, &what);
    watch_assert_success(&what);
    assert_int_equal(127, ledgers[0].count); /* and the event that identifies the
                                                thread */
    assert_int_equal(2000 - 127, ledgers[0].lost);
    assert_in_range(watch_number(&what, "sleeps"), 0, 100);
    watch_free(&what);
}

/* Nobody drains: the library waits ten thousand steps (a second) for the whole run, not
   for every event.  A step that ends before the kernel has switched does not count as a
   sleep. */
static void
test_abandoned(void **state)
{
    struct watched what;

    (void)state;
    run("rings.run", "many", "rings=128", NULL, false, &what);
    watch_assert_success(&what);
    assert_int_equal(127, ledgers[0].count); /* and the event that identifies the
                                                thread */
    assert_int_equal(2000 - 127, ledgers[0].lost);
    assert_in_range(watch_number(&what, "sleeps"), 9000, 10100);
    watch_free(&what);
}

static void
test_killed(void **state)
{
    struct watched what;

    (void)state;
    run("rings.run", "killed", "rings=1024", NULL, false, &what);
    assert_int_equal(SIGKILL, what.status);
    assert_int_equal(100, ledgers[0].count);
    assert_int_equal(99 * 100 / 2, ledgers[0].bytes);
    check_root(&what);
    watch_free(&what);
}

/* Nobody asked for events. */
static void
test_no_rings(void **state)
{
    struct watched what;
    struct preload_watch how = {.argv = WATCH_ARGV("rings.run", "sequence")};
    char path[PATH_MAX], directory[] = "/dev/shm/memtop-rings-XXXXXX";
    struct drain *drain;

    (void)state;
    assert_non_null(mkdtemp(directory));
    how.directory = directory;
    watch_run(&how, &what);
    watch_assert_success(&what);
    snprintf(path, sizeof path, "%s/%d.0", directory, (int)what.pid);
    assert_int_equal(-ENODATA, drain_open(path, getuid(), geteuid(), &drain));
    unlink(path);
    assert_int_equal(0, rmdir(directory));
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequence),  cmocka_unit_test(test_threads),
        cmocka_unit_test(test_shared_ring), cmocka_unit_test(test_handlers),
        cmocka_unit_test(test_fork),      cmocka_unit_test(test_drop),
        cmocka_unit_test(test_abandoned), cmocka_unit_test(test_killed),
        cmocka_unit_test(test_no_rings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
