/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A session played from a script: all steps from the file to history, states and
   messages, with a simulated clock. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "monitor/profile-table.h"
#include "monitor/session.h"
#include "monitor/tracked.h"
#include "support/script.h"

#define MS INT64_C(1000000)
#define START (INT64_C(5000) * 1000 * MS)

static char name[] = "/tmp/memtop-test-XXXXXX";

/* A session that plays text; NULL and errno as script_session(). */
static struct session *
session_of(const char *text)
{
    char source[64];
    FILE *file = fopen(name, "we");

    fputs(text, file);
    fclose(file);
    snprintf(source, sizeof source, "script:%s", name);
    return script_session(source);
}

static void
test_play(void **state)
{
    struct session *session = session_of(
        "# a comment\n\nprogram ./prog --size 100000\npid 24817\n"
        "0 heap=10M blocks=200 stack=4K malloc=200 malloc.bytes=10M total=10M rss=20M\n"
        "1000 heap=12M malloc=250 total=12M size.32=50 rss_anon=24M children=2\n"
        "2000 heap=1M calloc.failed=2 calloc.failed_bytes=1G calloc=2\n"
        "2500 say all is well\n"
        "3000 exit=3\n");
    const struct process *process;
    int64_t first, last, when;
    uint64_t peak;

    (void)state;
    assert_non_null(session);
    process = session_process(session);
    assert_string_equal(session_command(session), "./prog --size 100000");
    session_poll(session, START, true);
    assert_int_equal(process->pid, 24817);
    assert_int_equal(process->state, STATE_RUNNING);
    assert_true(process->measured);
    assert_int_equal(process->now.live_bytes, 10 << 20);
    assert_int_equal(process->now.peak_bytes, 10 << 20);
    session_poll(session, START + 500 * MS, true);
    assert_int_equal(process->now.live_bytes, 10 << 20);
    session_poll(session, START + 1000 * MS, true);
    assert_int_equal(process->now.live_bytes, 12 << 20);
    assert_true(process->rates.calls[FN_MALLOC] == 100);
    assert_int_equal(process->sizes.live[histogram_coarse(32)], 50);
    assert_int_equal(process->children, 2);
    assert_int_equal(50, process_coverage(process));
    session_poll(session, START + 2900 * MS, true);
    assert_int_equal(process->run_ns, 2900 * MS);
    assert_int_equal(process->now.live_bytes, 1 << 20);
    assert_int_equal(process->now.peak_bytes, 12 << 20);
    assert_int_equal(2, session_message_count(session));
    assert_string_equal(session_message(session, 0)->text,
                        "calloc failed 2 times (1.0 GiB requested together)");
    assert_int_equal(session_message(session, 0)->run_ns, 2000 * MS);
    assert_string_equal(session_message(session, 1)->text, "all is well");
    session_poll(session, START + 9000 * MS, true);
    assert_true(process->ended);
    assert_int_equal(process->state, STATE_EXITED);
    assert_int_equal(3, WEXITSTATUS(process->wait_status));
    assert_int_equal(process->run_ns, 3000 * MS);
    assert_true(process->rates.calls[FN_MALLOC] == 0);
    assert_true(history_span(session_history(session), &first, &last));
    assert_int_equal(first, 0);
    assert_int_equal(last, 3000 * MS);
    assert_true(
        history_peak(session_history(session), SERIES_HEAP, first, last, &peak, &when));
    assert_int_equal(peak, 12 << 20);
    assert_int_equal(when, 1000 * MS);
    session_free(session);
}

/* One late poll plays every line that was due. */
static void
test_one_poll(void **state)
{
    struct session *session =
        session_of("0 heap=1K malloc=1\n1000 heap=9K malloc=2\n2000 heap=2K signal=11\n");
    const struct process *process = session_process(session);
    uint64_t peak;
    int64_t when;

    (void)state;
    /* The first poll starts the clock. */
    session_poll(session, START, true);
    session_poll(session, START + 7000 * MS, true);
    assert_int_equal(process->state, STATE_KILLED);
    assert_int_equal(11, WTERMSIG(process->wait_status));
    assert_true(
        history_peak(session_history(session), SERIES_HEAP, 0, 9000 * MS, &peak, &when));
    assert_int_equal(peak, 9 << 10);
    assert_int_equal(when, 1000 * MS);
    session_free(session);
}

static void
test_states(void **state)
{
    struct session *session =
        session_of("0 heap=1K malloc=1\n8000 state=stopped\n9000 state=running malloc=2\n"
                   "10000 why no data here\n10500 state=not-measured\n");
    const struct process *process = session_process(session);

    (void)state;
    session_poll(session, START, false);
    session_poll(session, START + 4900 * MS, false);
    assert_int_equal(process->state, STATE_RUNNING);
    session_poll(session, START + 5000 * MS, false);
    assert_int_equal(process->state, STATE_IDLE);
    session_poll(session, START + 8000 * MS, false);
    assert_int_equal(process->state, STATE_STOPPED);
    session_poll(session, START + 9000 * MS, false);
    assert_int_equal(process->state, STATE_RUNNING);
    session_poll(session, START + 10600 * MS, false);
    assert_int_equal(process->state, STATE_NOT_LOADED);
    assert_false(process->measured);
    assert_string_equal(process->why_not, "no data here");
    assert_int_equal(-1, process_coverage(process));
    session_free(session);
}

static void
test_mistakes(void **state)
{
    static const char *const wrong[] = {
        "x heap=1\n",
        "0 heap\n",
        "0 heap=\n",
        "0 heap=1X\n",
        "0 heap=-1\n",
        "0 nonsense=1\n",
        "0 state=asleep\n",
        "5 heap=1\n4 heap=2\n",
        "0 size.x=1\n",
        "-1 heap=1\n",
        "0heap=1\n",
        "0 malloc.x=1\n",
        "0 state=exited\n",
        "0 heap=1 a-word-of-more-than-sixty-four-bytes-which-is-too-long-for-one=1\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        errno = 0;
        assert_null(session_of(wrong[i]));
        assert_int_equal(errno, EINVAL);
    }
    unlink(name);
    assert_null(script_session("/no/such"));
    assert_int_equal(errno, ENOENT);
}

/* The ring keeps the latest messages. */
static void
test_messages(void **state)
{
    struct session *session = session_of("0 heap=1\n");

    (void)state;
    for (int i = 0; i < 1234; i++)
        session_say(session, SEVERITY_ACK, "message %d", i);
    assert_int_equal(1234, session_message_total(session));
    assert_int_equal(500, session_message_count(session));
    assert_string_equal("message 734", session_message(session, 0)->text);
    assert_string_equal("message 1233", session_message(session, 499)->text);
    session_free(session);
}

static void
test_bands(void **state)
{
    struct session *session = session_of("0 heap=1 band.requested=3M band.stacks=1M\n"
                                         "1000 band.swap=4K band.reserve=1\n"
                                         "2000 band.requested=5M\n");
    const struct rss_breakdown *breakdown = &session_process(session)->breakdown;

    (void)state;
    session_poll(session, START, false);
    assert_true(breakdown->known && !breakdown->with_reserve);
    assert_int_equal(breakdown->rss, 4 << 20);
    assert_int_equal(breakdown->bytes[BAND_STACKS], 1 << 20);
    assert_int_equal(breakdown->bytes[BAND_HELD], BAND_UNKNOWN);
    session_poll(session, START + 2500 * MS, false);
    assert_int_equal(breakdown->rss, 6 << 20);
    assert_int_equal(breakdown->swap, 4096);
    assert_true(breakdown->with_reserve);
    assert_int_equal(breakdown->run_ns, 2000 * MS);
    session_free(session);
    assert_null(session_of("0 band.nothing=1\n"));
}

static void
test_sites(void **state)
{
    struct session *session =
        session_of("0 heap=10M\n"
                   "0 sites every=1000 unwinder=2 known=2\n"
                   "500 site size=4K made=50 live=40 peak=45 gone.3=10 born=100"
                   " : row<int> make(char)@row.c:12 < main@prog.c:7 < _start\n"
                   "5000 exit=0\n");
    static const struct profile_filter filter;
    const struct profile_query query = {.filter = &filter, .past_ns = -1};
    struct profile_table table = {0};
    struct profile_place places[4];
    const struct profile *profile;

    (void)state;
    assert_non_null(session);
    assert_true(session_keep_profile(session));
    assert_null(session_namer(session));
    session_poll(session, START, true);
    session_poll(session, START + 1000 * MS, true);
    profile = session_shown(session)->profile;
    assert_true(profile_resolve(session_shown(session)->profile, session_namer(session)));
    profile_table_fill(&table, profile, &query);
    assert_int_equal(table.count, 1);
    assert_true(table.sum.bytes > 40 * 4096 && table.sum.bytes < 41 * 4200);
    assert_int_equal(profile_places(profile, table.rows[0].stack, places, 4), 3);
    assert_string_equal(profile_function(profile, places[0].function),
                        "row<int> make(char)");
    assert_string_equal(places[1].file, "prog.c");
    assert_int_equal(places[1].line, 7);
    assert_string_equal(profile_function(profile, places[2].function), "[prog+0x30]");
    profile_table_free(&table);
    session_free(session);
    assert_null(session_of("0 sites every=0\n"));
    assert_null(session_of("0 site size=1\n"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_play),
        cmocka_unit_test(test_bands),    cmocka_unit_test(test_one_poll),
        cmocka_unit_test(test_states),   cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_messages),
    };
    int failed;

    close(mkstemp(name));
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(name);
    return failed;
}
