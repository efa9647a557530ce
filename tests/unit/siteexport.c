/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Allocation sites of a script in every format, also after saving them to a session
   file. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "monitor/saved.h"
#include "monitor/session.h"
#include "monitor/tracked.h"
#include "files/archive.h"
#include "report/site-filter.h"
#include "report/siteexport.h"
#include "support/script.h"

#define MS INT64_C(1000000)
#define START (INT64_C(5000) * 1000 * MS)

static char name[] = "/tmp/memtop-test-XXXXXX";

static const char script[] =
    "program ./shop --till 3\npid 4711\n"
    "0 heap=1M rss=2M\n"
    "0 sites every=8 unwinder=1 known=3 lost=2 lost_bytes=4K\n"
    "500 site size=4K made=50 live=40 peak=45 gone.3=10 born=100"
    " : row<int; char>@row.c:12 < main@prog.c:7\n"
    "500 site size=64 made=1000 live=1 peak=2 born=120 : main@prog.c:9\n"
    "500 heap=3M\n"
    "1500 site size=4K made=70 live=50 peak=45 gone.3=20 born=100"
    " : row<int; char>@row.c:12 < main@prog.c:7\n"
    "1500 site size=16K made=3 live=0 peak=0 born=1200 : hidden@a.c:1 < main@prog.c:7\n"
    "1500 heap=100K\n"
    "9000 exit=0\n";

/* A session with a mark at one second, read at two. */
static struct session *
session_of_script(void)
{
    char source[64];
    FILE *file = fopen(name, "we");
    struct session *session;
    struct tracked *shown;

    fputs(script, file);
    fclose(file);
    snprintf(source, sizeof source, "script:%s", name);
    session = script_session(source);
    assert_non_null(session);
    assert_true(session_keep_profile(session));
    for (int64_t ms = 0; ms <= 2000; ms += 250) {
        session_poll(session, START + ms * MS, true);
        shown = (struct tracked *)(uintptr_t)session_shown(session);
        if (ms == 1000)
            assert_true(profile_set_mark(shown->profile, 1000 * MS));
    }
    profile_resolve(shown->profile, session_namer(session));
    return session;
}

/* The export in that format; the caller frees it. */
static char *
export(const struct session *session, enum siteexport_format format,
       enum profile_mode mode, size_t *size)
{
    const struct tracked *tracked = session_shown(session);
    const struct siteexport export = {
        .profile = tracked->profile, .tracked = tracked, .mode = mode};
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    assert_null(siteexport_unknown(&export));
    assert_true(siteexport_write(out, format, &export));
    fclose(out);
    return text;
}

static void
check(const struct session *session, enum siteexport_format format,
      enum profile_mode mode, const char *expected)
{
    size_t size;
    char *text = export(session, format, mode, &size);

    assert_string_equal(expected, text);
    free(text);
}

/* The function at the fourth place is not known. */
static void
test_folded(void **state)
{
    struct session *session = session_of_script();

    (void)state;
    check(session, SITEEXPORT_FOLDED, PROFILE_LIVE,
          "main;row<int_ char> 204800\n"
          "main 64\n");
    check(session, SITEEXPORT_FOLDED, PROFILE_PEAK,
          "main;row<int_ char> 184320\n"
          "main 128\n");
    check(session, SITEEXPORT_FOLDED, PROFILE_MADE,
          "main;row<int_ char> 286720\n"
          "main 64000\n"
          "main;[prog+0x40] 49152\n");
    check(session, SITEEXPORT_FOLDED, PROFILE_SINCE, "main;row<int_ char> 40960\n");
    session_free(session);
}

/* Exports what passes a filter, without hidden functions. */
static char *
filtered(const struct session *session, enum siteexport_format format,
         enum profile_mode mode, const char *text, int64_t survivors_ns)
{
    const struct tracked *tracked = session_shown(session);
    struct profile_filter filter;
    const struct siteexport export = {.profile = tracked->profile,
                                      .tracked = tracked,
                                      .mode = mode,
                                      .filter = &filter,
                                      .survivors_ns = survivors_ns};
    const char *wrong;
    size_t length, size;
    char *written = NULL;
    FILE *out = open_memstream(&written, &size);

    assert_true(site_filter_parse(text, &filter, &wrong, &length));
    assert_null(siteexport_unknown(&export));
    assert_true(siteexport_write(out, format, &export));
    fclose(out);
    assert_true((size == 0) == siteexport_empty(&export) || format != SITEEXPORT_FOLDED);
    return written;
}

static void
check_filtered(const struct session *session, enum profile_mode mode, const char *text,
               int64_t survivors_ns, const char *expected)
{
    char *written = filtered(session, SITEEXPORT_FOLDED, mode, text, survivors_ns);

    assert_string_equal(expected, written);
    free(written);
}

static void
test_filters(void **state)
{
    struct session *session = session_of_script();
    const struct profile_filter life = {.life_from_ns = 1};
    const struct siteexport no_answer = {.profile = session_shown(session)->profile,
                                         .mode = PROFILE_PEAK,
                                         .filter = &life};
    char *text;

    (void)state;
    check_filtered(session, PROFILE_LIVE, "", 0, "main;row<int_ char> 204800\nmain 64\n");
    check_filtered(session, PROFILE_LIVE, "row", 0, "main;row<int_ char> 204800\n");
    check_filtered(session, PROFILE_LIVE, "-row", 0, "main 64\n");
    check_filtered(session, PROFILE_LIVE, "~main", 0,
                   "row<int_ char> 204800\n(hidden) 64\n");
    check_filtered(session, PROFILE_LIVE, "size=1K..", 0, "main;row<int_ char> 204800\n");
    check_filtered(session, PROFILE_LIVE, "samples=2", 0, "main;row<int_ char> 204800\n");
    check_filtered(session, PROFILE_LIVE, "nobody", 0, "");
    check_filtered(session, PROFILE_LIVE, "", 3600 * 1000 * MS, "");
    check_filtered(session, PROFILE_PEAK, "row", 0, "main;row<int_ char> 184320\n");
    check_filtered(session, PROFILE_MADE, "-row size=..100", 0, "main 64000\n");
    check_filtered(session, PROFILE_SINCE, "main", 0, "main;row<int_ char> 40960\n");
    assert_non_null(siteexport_unknown(&no_answer));
    text = filtered(session, SITEEXPORT_JSON, PROFILE_LIVE, "~=main -nobody row", 0);
    assert_non_null(strstr(text, "row<int; char>"));
    assert_null(strstr(text, "\"main\""));
    free(text);
    text = filtered(session, SITEEXPORT_MASSIF, PROFILE_LIVE, "-row", 0);
    assert_non_null(strstr(text, "n1: 128 (heap allocation functions)"));
    assert_null(strstr(text, "row<"));
    free(text);
    session_free(session);
}

/* The heap over time, and trees at the peak and at the end.  At the end the estimate is
   larger than the heap, but ms_print fails if a part is larger than the whole. */
static void
test_massif(void **state)
{
    struct session *session = session_of_script();
    size_t size;
    char *text = export(session, SITEEXPORT_MASSIF, PROFILE_LIVE, &size);

    (void)state;
    assert_non_null(strstr(text, "\ncmd: ./shop --till 3\ntime_unit: ms\n"));
    assert_non_null(strstr(text, "mem_heap_B=3145728\n"));
    assert_non_null(strstr(
        text,
        "heap_tree=peak\n"
        "n2: 184448 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
        " n1: 184320 0x10: row<int; char> (row.c:12)\n"
        "  n0: 184320 0x20: main (prog.c:7)\n"
        " n0: 128 in 1 place, below massif's threshold (1.00%)\n"));
    assert_non_null(strstr(text, "mem_heap_B=204864\nmem_heap_extra_B=0\nmem_stacks_B=0\n"
                                 "heap_tree=detailed\nn2: 204864 "));
    free(text);
    session_free(session);
}

static void
test_json(void **state)
{
    struct session *session = session_of_script();
    size_t size;
    char *text = export(session, SITEEXPORT_JSON, PROFILE_SINCE, &size);

    (void)state;
    assert_non_null(strstr(text, "\"type\":\"profile\",\"command\":\"./shop --till 3\","
                                 "\"pid\":4711,\"t_ns\":2000000000,\"rate\":1.0,"
                                 "\"unwinder\":\"libunwind\""));
    assert_non_null(strstr(text, "\"mark_ns\":1000000000,\"mode\":\"since-mark\""));
    assert_non_null(strstr(text, "\"lost\":{\"stacks\":0,\"unknown\":0,\"sites\":0,"
                                 "\"blocks\":2,\"bytes\":4096}"));
    assert_non_null(strstr(text, "\"allocated\":{\"bytes\":286720,\"objects\":70,"
                                 "\"blocks\":70,\"error\":0}"));
    assert_non_null(strstr(text, "\"since_mark\":{\"bytes\":40960,\"objects\":10,"
                                 "\"allocated_bytes\":81920,\"allocated_objects\":20}"));
    assert_non_null(strstr(text, "\"stack\":[{\"function\":\"row<int; char>\","
                                 "\"file\":\"row.c\",\"line\":12,"
                                 "\"module\":\"/usr/bin/prog\",\"offset\":16}"));
    free(text);
    session_free(session);
}

/* Compressed, with its strings. exports.sh lets pprof itself read it. */
static void
test_pprof(void **state)
{
    struct session *session = session_of_script();
    static const char *const strings[] = {"inuse_space", "row<int; char>", "[prog+0x40]",
                                          "row.c"};
    unsigned char plain[65536];
    size_t size;
    char *packed = export(session, SITEEXPORT_PPROF, PROFILE_LIVE, &size);
    z_stream stream = {.next_in = (unsigned char *)packed,
                       .avail_in = (unsigned)size,
                       .next_out = plain,
                       .avail_out = sizeof plain};

    (void)state;
    assert_int_equal(Z_OK, inflateInit2(&stream, 15 + 16));
    assert_int_equal(Z_STREAM_END, inflate(&stream, Z_FINISH));
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        assert_non_null(memmem(plain, stream.total_out, strings[i], strlen(strings[i])));
    inflateEnd(&stream);
    free(packed);
    session_free(session);
}

/* Blocks that a child inherited have a size, too: 4096 in field 3. */
static void
test_pprof_inherited(void **state)
{
    struct session *session = session_of_script();
    struct sites_reading *reading = profile_reading(session_shown(session)->profile);
    static unsigned char plain[65536];
    size_t size;

    (void)state;
    for (size_t i = 0; i < reading->site_count; i++)
        reading->sites[i].made = (struct site_figures){.bytes = 0};
    char *packed = export(session, SITEEXPORT_PPROF, PROFILE_LIVE, &size);
    z_stream stream = {.next_in = (unsigned char *)packed,
                       .avail_in = (unsigned)size,
                       .next_out = plain,
                       .avail_out = sizeof plain};
    assert_int_equal(Z_OK, inflateInit2(&stream, 15 + 16));
    assert_int_equal(Z_STREAM_END, inflate(&stream, Z_FINISH));
    assert_non_null(memmem(plain, stream.total_out, "\x18\x80\x20", 3));
    inflateEnd(&stream);
    free(packed);
    session_free(session);
}

/* An export from a session equals that from its file. */
static void
test_file(void **state)
{
    struct session *session = session_of_script(), *again;
    const struct archive archive = {.session = session, .interval_ns = 250 * MS};
    char why[500] = "";
    FILE *file = tmpfile();

    (void)state;
    assert_true(archive_write(file, &archive));
    rewind(file);
    struct saved *saved = archive_read(file, why, sizeof why);
    if (saved == NULL)
        fail_msg("%s", why);
    again = session_new_saved(saved);
    fclose(file);
    for (int format = SITEEXPORT_FOLDED; format <= SITEEXPORT_JSON; format++)
        for (int mode = 0; mode < PROFILE_MODES; mode++) {
            size_t one, other;
            char *before = export(session, (enum siteexport_format)format,
                                  (enum profile_mode)mode, &one);
            char *after = export(again, (enum siteexport_format)format,
                                 (enum profile_mode)mode, &other);
            assert_int_equal(one, other);
            assert_memory_equal(before, after, one);
            free(before);
            free(after);
        }
    session_free(session);
    session_free(again);
}

static void
test_nothing(void **state)
{
    const struct siteexport without = {.profile = NULL};
    struct session *session = session_of_script();
    const struct tracked *tracked = session_shown(session);
    const struct siteexport unmarked = {
        .profile = tracked->profile, .tracked = tracked, .mode = PROFILE_SINCE};
    enum siteexport_format format;
    enum profile_mode mode;

    (void)state;
    assert_non_null(siteexport_unknown(&without));
    profile_clear_mark(tracked->profile);
    assert_non_null(siteexport_unknown(&unmarked));
    assert_false(siteexport_format_parse("yaml", &format));
    assert_false(siteexport_format_parse("", &format));
    assert_true(siteexport_format_parse("pprof", &format));
    assert_string_equal(".pb.gz", siteexport_suffix(format));
    assert_false(siteexport_mode_parse("dead", &mode));
    assert_true(siteexport_mode_parse("allocated", &mode));
    assert_int_equal(PROFILE_MADE, mode);
    session_free(session);
}

/* A file appears complete, and nothing is overwritten. */
static void
test_save(void **state)
{
    struct session *session = session_of_script();
    const struct tracked *tracked = session_shown(session);
    const struct siteexport export = {
        .profile = tracked->profile, .tracked = tracked, .mode = PROFILE_LIVE};
    char path[sizeof name + 8], line[100];
    FILE *file;

    (void)state;
    snprintf(path, sizeof path, "%s.out", name);
    assert_int_equal(0, siteexport_save(SITEEXPORT_FOLDED, &export, path));
    assert_int_equal(-EEXIST, siteexport_save(SITEEXPORT_FOLDED, &export, path));
    file = fopen(path, "r");
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal("main;row<int_ char> 204800\n", line);
    fclose(file);
    unlink(path);
    assert_int_equal(-ENOENT,
                     siteexport_save(SITEEXPORT_FOLDED, &export, "/no/such/file"));
    session_free(session);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folded), cmocka_unit_test(test_filters),
        cmocka_unit_test(test_massif), cmocka_unit_test(test_json),
        cmocka_unit_test(test_pprof),  cmocka_unit_test(test_pprof_inherited),
        cmocka_unit_test(test_file),   cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_save),
    };
    int failed;

    close(mkstemp(name));
    failed = cmocka_run_group_tests_name("export", tests, NULL, NULL);
    unlink(name);
    return failed;
}
