/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Snapshots: the text, line by line, and the files. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <locale.h>
#include <regex.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "fake-process.h"
#include "report/snapshot.h"

#define SECOND INT64_C(1000000000)
#define MIB    (UINT64_C(1) << 20)

static struct history *history;
static int64_t saved_epoch_s;

/* The fake process with a history. */
static const struct tracked *
subject(void)
{
    static char command[] = "./prog \033[2J";
    static struct tracked tracked;

    tracked = (struct tracked){.process = fake, .history = history, .command = command};
    return &tracked;
}

static char directory[] = "/tmp/memtop-snapshot-XXXXXX";

/* Each test in an empty directory. */
static int
setup(void **state)
{
    setlocale(LC_ALL, "C");
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    history = history_new(64);
    fake_reset(state);
    return history == NULL || mkdtemp(directory) == NULL || chdir(directory) != 0;
}

static int
teardown(void **state)
{
    (void)state;
    history_free(history);
    return chdir("/") != 0 || rmdir(directory) != 0;
}

static void
push(int64_t time_ns, uint64_t heap)
{
    const struct sample sample = {
        .time_ns = time_ns,
        .max = {[SERIES_HEAP] = heap, [SERIES_RSS] = heap},
        .last = {[SERIES_HEAP] = heap, [SERIES_RSS] = heap},
    };

    history_push(history, &sample);
    fake.run_ns = time_ns;
}

static void
write_moment(FILE *out, const char *command)
{
    static struct tracked tracked;

    tracked = (struct tracked){.process = fake,
                               .history = history,
                               .command = (char *)(uintptr_t)command,
                               .saved_epoch_s = saved_epoch_s};
    snapshot_write(out, &tracked, UNIT_AUTO);
}

static void
check_names(const char *name, const char *pattern)
{
    regex_t regex;

    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    assert_int_equal(regexec(&regex, name, 0, NULL, 0), 0);
    regfree(&regex);
}

/* The text after its second line, which has the date. */
static const char *
after_date(const char *text)
{
    text = strchr(text, '\n') + 1;
    return strchr(text, '\n') + 1;
}

static void
fill_moment(void)
{
    push(10 * SECOND, 40 * MIB);
    push(60 * SECOND, 100 * MIB);
    push(144 * SECOND, 20 * MIB);
    fake.now.live_bytes = 20 * MIB;
    fake.now.peak_bytes = 100 * MIB;
    fake.now.total_bytes = 512 * MIB;
    fake.now.live_blocks = 24537;
    fake.now.stack_now = 512;
    fake.now.stack_peak = 4096;
    fake.now.threads = 2;
    fake.now.threads_started = 3;
    fake.rates.bytes_allocated = 46.1 * 1048576;
    fake.rates.calls[FN_MALLOC] = 28114.2;
    fake_calls(FN_MALLOC, 24, 1204871);
    fake_calls(FN_REALLOC, 200, 300000);
    fake_calls(FN_FREE, 24, 1180334);
    fake.now.realloc_inplace = 5;
    fake.now.free_null = 9;
    fake.sizes.live[histogram_coarse(24)] = 24537;
    fake.os_known = true;
    fake.os.rss = 30 * MIB;
    fake.os.rss_anon = fake.rss_anon_peak = 25 * MIB;
    fake.rss_peak = 120 * MIB;
    fake_coverage = 80;
}

static void
stack_of_none(void **state)
{
    char *text;

    (void)state;
    fill_moment();
    fake.missing |= PART_STACK;
    FAKE_OUTPUT(text, write_moment(out, "./prog"));
    assert_non_null(strstr(text, "\n  stack                   -\n"));
    assert_non_null(strstr(text, "\n  stack peak              -\n"));
    free(text);
}

static void
no_rates_without_a_clock(void **state)
{
    char *text;

    (void)state;
    fill_moment();
    fake.missing |= PART_CLOCK;
    FAKE_OUTPUT(text, write_moment(out, "./prog"));
    assert_non_null(strstr(text, "\n  allocated               -\n"));
    assert_non_null(strstr(text, "\n  freed                   -\n"));
    assert_non_null(strstr(text, "\n  malloc                  1204871           -  "));
    free(text);
}

static void
text_of_the_moment(void **state)
{
    char *text;

    (void)state;
    fill_moment();
    FAKE_OUTPUT(text, write_moment(out, "./prog \033[2J"));
    assert_memory_equal(text, PACKAGE_NAME " " PACKAGE_VERSION ": ./prog ?[2J\n",
                        strlen(PACKAGE_NAME " " PACKAGE_VERSION ": ./prog ?[2J\n"));
    assert_non_null(strstr(text, ", pid 24817, RUNNING, 00:02:24 after the start\n"));
    assert_string_equal(
        after_date(text),
        "\n"
        "Memory\n"
        "  heap                    20.00 MiB (20971520)\n"
        "  heap peak               100.0 MiB (104857600)\n"
        "  total allocated         512.0 MiB (536870912)\n"
        "  live blocks             24537\n"
        "  allocated               46.1 MiB/s\n"
        "  freed                   0 B/s\n"
        "  stack                   512 B (512)\n"
        "  stack peak              4.000 KiB (4096)\n"
        "  threads                 2\n"
        "  threads started         3\n"
        "  RSS                     30.00 MiB (31457280)\n"
        "  RSS peak                120.0 MiB (125829120)\n"
        "  anonymous RSS           25.00 MiB (26214400)\n"
        "  coverage                80%\n"
        "\n"
        "Calls\n"
        "                            calls     calls/s          total    failed\n"
        "  malloc                  1204871       28114      27.58 MiB         0\n"
        "  realloc                  300000           0      57.22 MiB         0"
        "  in place 5, shrunk 0, freed 0\n"
        "  calloc                        0           0            0 B         0\n"
        "  free                    1180334           0      27.02 MiB  free(NULL) 9\n"
        "\n"
        "Block sizes\n"
        "                  allocated           live\n"
        "        0-15              0              0\n"
        "       16-31        1204871          24537"
        "  ########################################\n"
        "       32-63              0              0\n"
        "      64-127              0              0\n"
        "     128-255         300000              0  #########\n"
        "     256-511              0              0\n"
        "    512-1023              0              0\n"
        "       1K-2K              0              0\n"
        "       2K-4K              0              0\n"
        "       4K-8K              0              0\n"
        "      8K-16K              0              0\n"
        "     16K-32K              0              0\n"
        "     32K-64K              0              0\n"
        "        64K+              0              0\n"
        "\n"
    /* further left, since the picture is as wide as a line may be */
    "Heap over the run\n"
    "    100 MiB +    ########################\n"
    "            |    ########################\n"
    "     80 MiB +    ########################\n"
    "            |    ########################\n"
    "     60 MiB +    ########################\n"
    "            |    ########################\n"
    "     40 MiB +############################\n"
    "            |############################\n"
    "     20 MiB +##################################################################\n"
    "            |##################################################################\n"
    "          0 +---------------------+---------------------+---------------------+\n"
    "                               48s                   96s                  144s\n"
    "\n");
    free(text);
}

static void
graph_in_blocks(void **state)
{
    char *text;

    (void)state;
    if (setlocale(LC_ALL, "C.UTF-8") == NULL)
        skip();
    push(2 * SECOND, 96 * MIB);
    push(20 * SECOND, 5 * MIB);
    push(30 * SECOND, 1);
    FAKE_OUTPUT(text, write_moment(out, "x"));
    assert_non_null(strstr(text, "    100 MiB +▄▄▄▄▄\n"));
    assert_non_null(strstr(text, "            |█████▄▄▄▄▄▄▄▄"));
    assert_non_null(strstr(text, "▄▁▁▁▁▁"));
    free(text);
}

/* A saved session keeps its date. */
static void
date_of_a_saved_session(void **state)
{
    char *text;

    (void)state;
    fill_moment();
    setenv("TZ", "UTC", 1);
    tzset();
    saved_epoch_s = 1111111111;
    FAKE_OUTPUT(text, write_moment(out, "x"));
    assert_non_null(strstr(text, "\n2005-03-18 01:58:31, pid 24817, "));
    free(text);
    saved_epoch_s = SAVED_SOMETIME;
    FAKE_OUTPUT(text, write_moment(out, "x"));
    assert_non_null(strstr(text, "\n-, pid 24817, "));
    free(text);
    saved_epoch_s = 0;
}

/* Unknown parts are not zero, and empty parts are left out. */
static void
bands_of_the_moment(void **state)
{
    char *text;

    (void)state;
    fill_moment();
    fake.breakdown.known = true;
    fake.breakdown.run_ns = 3 * SECOND;
    fake.breakdown.rss = 30 * MIB;
    for (int i = 0; i < BAND_COUNT; i++)
        fake.breakdown.bytes[i] = 0;
    fake.breakdown.bytes[BAND_REQUESTED] = 20 * MIB - 512;
    fake.breakdown.bytes[BAND_HELD] = BAND_UNKNOWN;
    fake.breakdown.bytes[BAND_MMAP] = 10 * MIB;
    fake.breakdown.bytes[BAND_OTHER] = 512;
    fake.breakdown.absent = 7 * MIB;
    FAKE_OUTPUT(text, write_moment(out, "x"));
    assert_non_null(strstr(text, "  coverage                80%\n"
                                 "\n"
                                 "Where the RSS went, read at 00:00:03\n"
                                 "  requested         20.00 MiB   67%  live blocks, as"
                                 " asked for\n"
                                 "  slack                   0 B    0%  live blocks,"
                                 " overhead\n"
                                 "  held                      -        freed, kept by"
                                 " malloc\n"
                                 "  mmap              10.00 MiB   33%  anonymous, not"
                                 " malloc's\n"));
    assert_non_null(strstr(text, "  other                 512 B   <1%  the kernel's"
                                 " pages\n"
                                 "  RSS               30.00 MiB        all of these\n"
                                 "  absent            7.000 MiB        live blocks, not"
                                 " resident\n"
                                 "\n"));
    free(text);
}

static void
unmeasured(void **state)
{
    char *text;

    (void)state;
    push(2 * SECOND, 4 * MIB);
    fake.measured = false;
    strcpy(fake.why_not, "statically linked");
    fake.os_known = true;
    fake.os.rss = 4 * MIB;
    FAKE_OUTPUT(text, write_moment(out, "x"));
    assert_non_null(strstr(text, "not measured: statically linked\n"));
    assert_non_null(strstr(text, "RSS over the run\n    4.0 MiB +####"));
    assert_null(strstr(text, "heap"));
    assert_null(strstr(text, "malloc"));
    free(text);
}

static void
files_never_overwrite(void **state)
{
    char first[256], second[256];
    struct stat status;

    (void)state;
    fill_moment();
    assert_true(snapshot_save_text(subject(), UNIT_AUTO, first, sizeof first));
    assert_true(snapshot_save_text(subject(), UNIT_AUTO, second, sizeof second));
    check_names(first, "^memtop-24817-[0-2][0-9][0-5][0-9][0-6][0-9]\\.txt$");
    check_names(second, "^memtop-24817-[0-9]{6}(-2)?\\.txt$");
    assert_string_not_equal(first, second);
    assert_int_equal(stat(first, &status), 0);
    assert_true(status.st_size > 1000);
    assert_int_equal(unlink(first), 0);
    assert_int_equal(unlink(second), 0);
}

static void
no_file_in_no_directory(void **state)
{
    char text[256];

    (void)state;
    assert_int_equal(rmdir(directory), 0);
    assert_false(snapshot_save_text(subject(), UNIT_AUTO, text, sizeof text));
    check_names(text, "^cannot create memtop-24817-[0-9]{6}\\.txt: ");
    assert_non_null(strstr(text, strerror(ENOENT)));
    assert_int_equal(mkdir(directory, 0700), 0);
}

static void
json_of_the_moment(void **state)
{
    char first[256], second[256], line[65536];
    FILE *file;

    (void)state;
    fill_moment();
    assert_true(snapshot_save_json(subject(), first, sizeof first));
    assert_true(snapshot_save_json(subject(), second, sizeof second));
    check_names(first, "^memtop-24817-[0-9]{6}\\.json$");
    check_names(second, "^memtop-24817-[0-9]{6}(-2)?\\.json$");
    assert_string_not_equal(first, second);
    file = fopen(first, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    assert_memory_equal(line, "{\"v\":1,\"type\":\"snapshot\"", 23);
    assert_non_null(strstr(line, "\"heap\":20971520,\"peak\":104857600"));
    assert_non_null(
        strstr(line, "\"live_sizes\":[{\"from\":16,\"to\":31,\"live\":24537}]"));
    assert_null(strstr(line, "\"status\""));
    assert_int_equal(unlink(first), 0);
    assert_int_equal(unlink(second), 0);
}

/* A disk that is full after some bytes. */
static void
no_half_file(void **state)
{
    const struct rlimit small = {100, RLIM_INFINITY};
    struct rlimit before;
    char text[256];
    bool saved;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    saved = snapshot_save_text(subject(), UNIT_AUTO, text, sizeof text);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(saved);
    check_names(text, "^cannot write memtop-24817-[0-9]{6}\\.txt: ");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    saved = snapshot_save_json(subject(), text, sizeof text);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(saved);
    check_names(text, "^cannot write memtop-24817-[0-9]{6}\\.json: ");
    /* rmdir in the teardown checks that nothing was left */
}

#ifdef HAVE_GD
static void
pictures(void **state)
{
    char first[256], second[256];

    (void)state;
    fill_moment();
    assert_true(snapshot_save_png(subject(), UNIT_AUTO, PNG_MODULE, first, sizeof first));
    assert_true(
        snapshot_save_png(subject(), UNIT_AUTO, PNG_MODULE, second, sizeof second));
    check_names(first, "^memtop-24817-[0-9]{6}\\.png$");
    assert_string_not_equal(first, second);
    assert_int_equal(unlink(first), 0);
    assert_int_equal(unlink(second), 0);
}

static void
no_half_picture(void **state)
{
    const struct rlimit small = {100, RLIM_INFINITY};
    struct rlimit before;
    char text[256];
    bool saved;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    saved = snapshot_save_png(subject(), UNIT_AUTO, PNG_MODULE, text, sizeof text);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(saved);
    check_names(text, "^cannot write memtop-24817-[0-9]{6}\\.png: ");
}
#endif

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_of_the_moment, setup, teardown),
        cmocka_unit_test_setup_teardown(stack_of_none, setup, teardown),
        cmocka_unit_test_setup_teardown(no_rates_without_a_clock, setup, teardown),
        cmocka_unit_test_setup_teardown(graph_in_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(date_of_a_saved_session, setup, teardown),
        cmocka_unit_test_setup_teardown(bands_of_the_moment, setup, teardown),
        cmocka_unit_test_setup_teardown(unmeasured, setup, teardown),
        cmocka_unit_test_setup_teardown(files_never_overwrite, setup, teardown),
        cmocka_unit_test_setup_teardown(json_of_the_moment, setup, teardown),
        cmocka_unit_test_setup_teardown(no_file_in_no_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(no_half_file, setup, teardown),
#ifdef HAVE_GD
        cmocka_unit_test_setup_teardown(pictures, setup, teardown),
        cmocka_unit_test_setup_teardown(no_half_picture, setup, teardown),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
