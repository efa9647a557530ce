/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Session files: what is written is read again, and what is wrong is said. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "monitor/checkpoints.h"
#include "report/archive.h"
#include "report/pack.h"

#define SECOND INT64_C(1000000000)

static char directory[] = "/tmp/memtop-archive-XXXXXX";

static const char script_text[] =
    "program ./prog --size 'x y' \xd1\x82\n"
    "pid 24817\n"
    "0 heap=10M blocks=200 stack=4K rss=12M rss_anon=11M malloc=200 malloc.bytes=10M "
    "total=10M size.24=150 size.100000=3\n"
    "500 heap=100M blocks=24537 malloc=1204871 total=200M size.300=40 calloc.failed=2\n"
    "2000 say something happened\n"
    "2100 process 24900 24817 heap=3M peak=5M rss=7M allocations=12 start=500 "
    "before=sh>env state=running : worker --all\n"
    "2200 process 24901 24900 start=600 state=exited : static\n"
    "4000 heap=60M free=4537 threads=3 usable=61M generations=2\n"
    "9000 heap=61M\n";

/* A session that a script has led to its end or somewhere before. */
static struct session *
scripted(const char *rest, int64_t until_ns)
{
    struct session_options options = {.source_script = "script"};
    FILE *file = fopen("script", "w");
    struct session *session;

    assert_non_null(file);
    fprintf(file, "%s%s", script_text, rest);
    assert_int_equal(fclose(file), 0);
    session = session_new(&options);
    assert_non_null(session);
    assert_true(session_keep_checkpoints(session));
    for (int64_t now = 0; now <= until_ns; now += SECOND / 5)
        session_poll(session, now, true);
    return session;
}

/* Two files are the same but for the time they were saved at. */
static void
forget_time(char *text)
{
    char *place = strstr(text, "\"saved\":");

    assert_non_null(place);
    for (place += 8; *place >= '0' && *place <= '9'; place++)
        *place = '1';
}

static char *
written(const struct archive *archive)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_true(archive_write(out, archive));
    assert_int_equal(fclose(out), 0);
    forget_time(text);
    return text;
}

static struct saved *
read_back(const char *text, size_t size, char why[256])
{
    FILE *in = fmemopen((void *)(uintptr_t)text, size, "r");
    struct saved *saved;

    assert_non_null(in);
    why[0] = '\0';
    saved = archive_read(in, why, 256);
    assert_true((saved == NULL) == (why[0] != '\0'));
    fclose(in);
    return saved;
}

/* What was read is written as it was. */
static void
check_round_trip(const struct archive *archive)
{
    char *text = written(archive), *again, why[256];
    struct saved *saved = read_back(text, strlen(text), why);
    struct archive copy;

    if (saved == NULL)
        fail_msg("%s", why);
    copy = (struct archive){.session = session_new_saved(saved),
                            .capture = saved->capture,
                            .mark = saved->marked ? &saved->mark : NULL,
                            .interval_ns = saved->interval_ns};
    again = written(&copy);
    for (size_t i = 0; text[i] != '\0'; i++)
        if (text[i] != again[i])
            fail_msg("%.100s, not %.100s", again + i - (i < 50 ? i : 50),
                     text + i - (i < 50 ? i : 50));
    session_free(copy.session);
    free(text);
    free(again);
}

static void
test_round_trip(void **state)
{
    struct session *session = scripted("10000 exit=3\n", 20 * SECOND);
    struct archive archive = {.session = session, .interval_ns = SECOND / 2};
    static struct process mark;

    (void)state;
    assert_true(session_process(session)->ended);
    check_round_trip(&archive);
    mark = *session_process(session);
    checkpoints_restore(session_shown(session)->checkpoints, 3, &mark);
    archive.mark = &mark;
    archive.capture = capture_new_saved();
    check_round_trip(&archive);
    for (int i = 0; i < 250; i++)
        capture_feed((struct capture *)(uintptr_t)archive.capture, "\nline\ttext \x80", 12);
    check_round_trip(&archive);
    capture_free((struct capture *)(uintptr_t)archive.capture);
    session_free(session);

    session = scripted("", 5 * SECOND);
    archive = (struct archive){.session = session, .interval_ns = SECOND};
    assert_false(session_process(session)->ended);
    check_round_trip(&archive);
    session_free(session);

    session = scripted("10000 signal=11\n", 20 * SECOND);
    archive.session = session;
    check_round_trip(&archive);
    session_free(session);
}

/* What can be asked of both sessions. */
static void
test_reads_as_it_was(void **state)
{
    struct session *session = scripted("10000 exit=3\n", 20 * SECOND), *again;
    struct archive archive = {.session = session, .interval_ns = SECOND / 2};
    char *text = written(&archive), why[256];
    struct saved *saved = read_back(text, strlen(text), why);
    const struct checkpoints *moments, *moments_again;
    static struct process then, then_again;
    int64_t first, last, first_again, last_again;

    (void)state;
    assert_non_null(saved);
    assert_true(saved->epoch_s == 1111111111);
    assert_false(saved->marked);
    assert_null(saved->capture);
    again = session_new_saved(saved);
    assert_ptr_equal(session_saved(again), saved);
    assert_null(session_saved(session));
    session_poll(again, 30 * SECOND, true);
    assert_string_equal(session_command(again), session_command(session));
    assert_memory_equal(&session_process(again)->now, &session_process(session)->now,
                        sizeof then.now);
    assert_memory_equal(&session_process(again)->sizes, &session_process(session)->sizes,
                        sizeof then.sizes);
    assert_int_equal(session_process(again)->wait_status,
                     session_process(session)->wait_status);
    assert_true(history_span(session_history(session), &first, &last));
    assert_true(history_span(session_history(again), &first_again, &last_again));
    assert_int_equal(first, first_again);
    assert_int_equal(last, last_again);
    moments = session_shown(session)->checkpoints;
    moments_again = session_shown(again)->checkpoints;
    assert_int_equal(checkpoints_count(moments), checkpoints_count(moments_again));
    for (size_t i = 0; i < checkpoints_count(moments); i++) {
        then = *session_process(session);
        then_again = *session_process(again);
        checkpoints_restore(moments, i, &then);
        checkpoints_restore(moments_again, i, &then_again);
        assert_memory_equal(&then.now, &then_again.now, sizeof then.now);
        assert_memory_equal(&then.sizes, &then_again.sizes, sizeof then.sizes);
        assert_int_equal(then.run_ns, then_again.run_ns);
        assert_int_equal(then.state, then_again.state);
    }
    assert_int_equal(session_message_count(session), session_message_count(again));
    for (size_t i = 0; i < session_message_count(session); i++) {
        const struct message *message = session_message(session, i);
        const struct message *same = session_message(again, i);

        assert_string_equal(message->text, same->text);
        assert_int_equal(message->severity, same->severity);
        assert_int_equal(message->run_ns, same->run_ns);
    }
    session_free(session);
    session_free(again);
    free(text);
}

#define HEAD "{\"v\":1,\"type\":\"session\"}\n"
#define PROCESS "{\"type\":\"process\",\"measured\":true,\"heap\":1,\"peak\":1,"    \
                "\"stack\":0,\"stack_peak\":0}\n"
#define END "{\"type\":\"end\"}\n"
#define HISTORY(rows) "{\"type\":\"history\",\"begin_ns\":5,\"series\":[\"heap\"],"  \
                      "\"samples\":[" rows "]}\n"

/* Lines and fields of a later memtop, and none of what could be missing. */
static void
test_accepts_what_it_can(void **state)
{
    static const char *const texts[] = {
        HEAD PROCESS END,
        HEAD PROCESS END "what follows does not matter",
        HEAD "{\"type\":\"news\",\"x\":[[]]}\n" PROCESS END,
        HEAD PROCESS HISTORY("[5,1,1],[5,2,2],[9,null,null]") END,
        HEAD PROCESS "{\"type\":\"history\",\"series\":[\"future\",\"heap\"],"
                     "\"samples\":[[1,9,9,4,4]]}\n" END,
        HEAD PROCESS "{\"type\":\"message\",\"text\":\"x\",\"severity\":\"new\"}\n" END,
        HEAD PROCESS "{\"type\":\"output\",\"lines\":[\"\",\"\\u001b[2J\"]}\n" END,
        HEAD PROCESS "{\"type\":\"threads\",\"list\":[{}]}\n" END,
        HEAD "{\"type\":\"process\"}\n" END,
    };
    char why[256];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct saved *saved = read_back(texts[i], strlen(texts[i]), why);

        if (saved == NULL)
            fail_msg("%s: %s", texts[i], why);
        session_free(session_new_saved(saved));
    }
}

static void
test_says_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{}\n", "line 1 begins no session"},
        {"{\n", "line 1 is no JSON object"},
        {"{\"type\":\"session\"}\n", "line 1 begins no session"},
        {"{\"type\":\"session\",\"v\":2}\n", "it is of version 2, this memtop reads 1"},
        {"{\"type\":\"session\",\"v\":\"1\"}\n", "line 1 begins no session"},
        {HEAD, "damaged or cut short"},
        {HEAD END, "there is no process in it"},
        {HEAD HEAD PROCESS END, "line 2 begins no session"},
        {HEAD PROCESS PROCESS END, "line 3 is one too many"},
        {HEAD PROCESS "{\"type\":\"en", "damaged or cut short"},
        {HEAD PROCESS "[]\n", "line 3 is no JSON object"},
        {HEAD PROCESS "\xff\n", "line 3 is no JSON object"},
        {HEAD "{\"type\":\"process\",\"heap\":-1}\n", "'heap' in line 2 is no number"},
        {HEAD PROCESS HISTORY("[4,1,1]"), "line 3 is no history"},
        {HEAD PROCESS HISTORY("[6,1]"), "line 3 is no history"},
        {HEAD PROCESS HISTORY("[6,1,-1]"), "line 3 is no history"},
        {HEAD PROCESS HISTORY("[6,1,\"\"]"), "line 3 is no history"},
        {HEAD PROCESS HISTORY("[9,1,1],[8,1,1]"), "line 3 is no history"},
        {HEAD PROCESS HISTORY("[9223372036854775807,1,1]"), "line 3 is no history"},
        {HEAD PROCESS HISTORY("7"), "line 3 is no history"},
        {HEAD PROCESS "{\"type\":\"history\"}\n", "line 3 is no history"},
        {HEAD PROCESS "{\"type\":\"moment\",\"t_ns\":-1}\n", "'t_ns' in line 3"},
        {HEAD PROCESS "{\"type\":\"moment\",\"t_ns\":5}\n{\"type\":\"moment\",\"t_ns\":5}\n",
         "line 4 is older than the one before"},
        {HEAD PROCESS "{\"type\":\"threads\"}\n", "line 3 is no list of threads"},
        {HEAD PROCESS "{\"type\":\"threads\",\"list\":[{\"calls\":\"x\"}]}\n",
         "'calls' in line 3"},
        {HEAD PROCESS "{\"type\":\"output\",\"lines\":[1]}\n", "line 3 is no output"},
        {HEAD PROCESS "{\"type\":\"output\",\"lines\":[\"\\u0000\"]}\n",
         "line 3 is no JSON object"},
        {"", "damaged or cut short"},
        {"x", "damaged or cut short"},
        {"\x28\xb5\x2f\xfd", "damaged or cut short"},
    };
    char why[256];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* fmemopen() refuses 0 bytes. */
        size_t size = strlen(cases[i].text);
        FILE *in = size > 0 ? fmemopen((void *)(uintptr_t)cases[i].text, size, "r")
                            : fopen("/dev/null", "r");

        why[0] = '\0';
        assert_null(archive_read(in, why, sizeof why));
        if (strstr(why, cases[i].why) == NULL)
            fail_msg("%s: %s", cases[i].text, why);
        fclose(in);
    }
}

/* Gives the text so many times after the head. */
static void
check_refused(const char *text, size_t times, const char *expected)
{
    size_t size = strlen(text);
    char *all = malloc(size * times + 200), why[256], *end;

    end = stpcpy(all, HEAD PROCESS);
    for (size_t i = 0; i < times; i++)
        end = stpcpy(end, text);
    assert_null(read_back(all, (size_t)(end - all), why));
    if (strstr(why, expected) == NULL)
        fail_msg("%s", why);
    free(all);
}

static void
test_limits(void **state)
{
    char moments[100];
    FILE *out;
    char *text;
    size_t size;

    (void)state;
    check_refused("[", 2000000, "line 3 is longer than any can be");
    check_refused("[", 100000, "damaged or cut short");
    check_refused("[]\n", 1, "line 3 is no JSON object");
    check_refused(HISTORY("[5,1,1],[5,1,1],[5,1,1],[5,1,1]"), 20000, "one too many");
    check_refused("{\"type\":\"threads\",\"list\":[{},{},{},{}]}\n", 2, "cut short");
    out = open_memstream(&text, &size);
    fprintf(out, HEAD PROCESS);
    for (int i = 0; i < 5000; i++) {
        snprintf(moments, sizeof moments, "{\"type\":\"moment\",\"t_ns\":%d}\n", i);
        fputs(moments, out);
    }
    fclose(out);
    char why[256];
    assert_null(read_back(text, size, why));
    assert_non_null(strstr(why, "one too many"));
    free(text);
}

/* Numbers that are there twice, parents that are their own grandparents. */
static void
test_processes_of_any_kind(void **state)
{
    static const char text[] =
        HEAD PROCESS "{\"type\":\"processes\",\"list\":[{\"pid\":1},{\"pid\":2,"
        "\"parent\":3,\"ended\":true},{\"pid\":3,\"parent\":2,\"ended\":true},"
        "{\"pid\":3,\"command\":\"twice\"},{\"pid\":4,\"parent\":4},{}]}\n" END;
    struct saved *saved;
    char why[256];
    size_t count;

    (void)state;
    saved = read_back(text, sizeof text - 1, why);
    assert_non_null(saved);
    count = roster_count(saved->roster);
    assert_in_range(count, 4, 5); /* 0, 1, 2 or 3 with the other below it, 4 */
    for (size_t i = 0; i < count; i++)
        assert_string_equal(roster_at(saved->roster, i)->command, "");
    saved_free(saved);
}

/* Many, all of them children of the one before, or all of the first. */
static void
test_many_processes(void **state)
{
    char *text, why[256];
    size_t size;

    (void)state;
    for (int deep = 0; deep <= 1; deep++) {
        FILE *out = open_memstream(&text, &size);
        struct saved *saved;

        fputs(HEAD PROCESS "{\"type\":\"processes\",\"list\":[{\"pid\":1}", out);
        for (int i = 2; i < 3000; i++)
            fprintf(out, ",{\"pid\":%d,\"parent\":%d,\"ended\":true}", i, deep ? i - 1 : 1);
        fputs("]}\n" END, out);
        fclose(out);
        saved = read_back(text, size, why);
        assert_non_null(saved);
        assert_true(roster_sum(saved->roster)->ended < SAVED_PROCESSES);
        saved_free(saved);
        free(text);
    }
}

/* Ten thousand times what came in. */
static void
test_bomb(void **state)
{
    char *packed, why[256], block[65536];
    size_t size;
    FILE *out = open_memstream(&packed, &size);
    FILE *stream = pack_writer(out);

    (void)state;
    fputs(HEAD PROCESS, stream);
    memset(block, '\n', sizeof block);
    memcpy(block, "{\"type\":\"x\"}", 12);
    memset(block + 12, ' ', sizeof block - 13);
    for (int i = 0; i < 8000; i++)
        assert_int_equal(fwrite(block, 1, sizeof block, stream), sizeof block);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(fclose(out), 0);
    assert_true(size < 1000000);
    assert_null(read_back(packed, size, why));
    assert_non_null(strstr(why, "is longer than any can be"));
    free(packed);
}

static void
test_files(void **state)
{
    struct session *session = scripted("", SECOND);
    struct archive archive = {.session = session, .interval_ns = SECOND};
    char first[8] = "", why[256];
    struct saved *saved;
    struct stat status;
    FILE *file;

    (void)state;
    assert_int_equal(archive_save(&archive, "run.memtop"), 0);
    assert_int_equal(archive_save(&archive, "run.memtop"), -EEXIST);
    assert_int_equal(archive_save(&archive, "no/run.memtop"), -ENOENT);
    assert_int_equal(stat("run.memtop", &status), 0);
    assert_int_equal(status.st_nlink, 1);
    file = fopen("run.memtop", "r");
    assert_int_equal(fread(first, 1, sizeof first, file), sizeof first);
    assert_true(archive_recognise(first, sizeof first));
    assert_true(archive_recognise("{\"v\":1", 6));
    assert_false(archive_recognise("\0\0\0\0\0\0\0\0", 8));
    assert_false(archive_recognise("{", 1));
    rewind(file);
    saved = archive_read(file, why, sizeof why);
    assert_non_null(saved);
    assert_true(saved->epoch_s > 1700000000);
    saved_free(saved);
    fclose(file);
    assert_int_equal(unlink("run.memtop"), 0);
    file = fopen("/dev/full", "w");
    setvbuf(file, NULL, _IONBF, 0);
    errno = 0;
    assert_false(archive_write(file, &archive));
    assert_int_equal(errno, ENOSPC);
    fclose(file);
    session_free(session);
}

static int
enter(void **state)
{
    (void)state;
    return mkdtemp(directory) == NULL || chdir(directory) != 0;
}

/* Nothing but the script is left behind. */
static int
leave(void **state)
{
    (void)state;
    unlink("script");
    return chdir("/") != 0 || rmdir(directory) != 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_reads_as_it_was),
        cmocka_unit_test(test_accepts_what_it_can),
        cmocka_unit_test(test_says_what_is_wrong),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_processes_of_any_kind),
        cmocka_unit_test(test_many_processes),
        cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
