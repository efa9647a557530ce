/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line. options_parse() may end the process, so every parse runs in a child;
 * what it printed and how it ended are compared.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "programs/options.h"
#include "programs/status.h"

#define WORDS 20

/* The child's results: the options, and copies of the strings they point to. */
static struct parsed {
    struct options options;
    char program[256];    /* words joined by '|' */
    char words[128];
    char strings[256];    /* of progname, png, data, title: each with a '|' */
} *parsed;

static const char *called = "memtop";

static char printed[8192];

static void
run_parser(const char *line)
{
    char copy[512], name[64], *argv[WORDS + 2] = {name};
    int argc = 1;

    snprintf(name, sizeof name, "%s", called);
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word != NULL && argc <= WORDS;
         word = strtok(NULL, " "))
        argv[argc++] = word;
    options_parse(argc, argv, &parsed->options);
    parsed->program[0] = '\0';
    for (char **word = parsed->options.program; word != NULL && *word != NULL; word++) {
        strcat(parsed->program, *word);
        strcat(parsed->program, "|");
    }
    const struct options *options = &parsed->options;
    snprintf(parsed->strings, sizeof parsed->strings, "%s|%s|%s|%s|",
             options->progname != NULL ? options->progname : "",
             options->png != NULL ? options->png : "",
             options->data != NULL ? options->data : "",
             options->title != NULL ? options->title : "");
    options_words(&parsed->options, parsed->words, sizeof parsed->words);
}

/* Parses line; returns the exit status, 0 if the child went on. */
static int
parse(const char *line)
{
    FILE *out = tmpfile();
    int status;

    assert_non_null(out);
    memset(parsed, 0, sizeof *parsed);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(fileno(out), 1);
        dup2(fileno(out), 2);
        run_parser(line);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    rewind(out);
    printed[fread(printed, 1, sizeof printed - 1, out)] = '\0';
    fclose(out);
    return WEXITSTATUS(status);
}

static void
refuse(const char *line, const char *text)
{
    assert_int_equal(parse(line), 125);
    if (strstr(printed, text) == NULL)
        fail_msg("'%s' is not in: %s", text, printed);
    assert_non_null(strstr(printed, "--help"));
}

static void
test_program(void **state)
{
    (void)state;
    assert_int_equal(parse("ls -l --batch"), 0);
    assert_string_equal(parsed->program, "ls|-l|--batch|");
    assert_false(parsed->options.batch);
    assert_int_equal(parsed->options.interval_ns, INTERVAL_DEFAULT_NS);

    assert_int_equal(parse("-B -- -odd -q"), 0);
    assert_string_equal(parsed->program, "-odd|-q|");
    assert_true(parsed->options.batch);
    assert_false(parsed->options.quiet);

    assert_int_equal(parse("-Bqm ls -- x"), 0); /* bundled */
    assert_string_equal(parsed->program, "ls|--|x|");
    assert_true(parsed->options.quiet && parsed->options.mmap);

    refuse("", "no program given");
    refuse("-B --", "no program given");
}

static void
test_interval(void **state)
{
    (void)state;
    assert_int_equal(parse("-i 0.25 ls"), 0);
    assert_int_equal(parsed->options.interval_ns, 250000000);
    assert_true(parsed->options.lines);
    assert_int_equal(parse("--interval=1,5 ls"), 0);
    assert_int_equal(parsed->options.interval_ns, 1500000000);
    assert_int_equal(parse("-i60 ls"), 0);
    assert_int_equal(parse("-i.1 ls"), 0);
    assert_int_equal(parsed->options.interval_ns, 100000000);

    static const char *const wrong[] = {
        "0", "0.09", "60.1", "-1", "1e0", "1.2.3", ".", "1s", "nan", "inf",
        "99999999999999999999999",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[64];
        snprintf(line, sizeof line, "--interval=%s ls", wrong[i]);
        refuse(line, "takes seconds from 0.1 to 60");
    }
    refuse("-i", "requires an argument");
}

static void
test_words(void **state)
{
    (void)state;
    assert_int_equal(parse("--color=never --graph=block --on-quit=leave ls"), 0);
    assert_int_equal(parsed->options.color, COLOR_NEVER);
    assert_int_equal(parsed->options.graph, TUI_GRAPH_BLOCK);
    assert_int_equal(parsed->options.on_quit, TUI_ON_QUIT_LEAVE);
    assert_int_equal(parse("--color -g ascii ls"), 0);
    assert_int_equal(parsed->options.color, COLOR_ALWAYS);
    assert_int_equal(parsed->options.graph, TUI_GRAPH_ASCII);
    assert_int_equal(parse("-C ls"), 0);
    assert_int_equal(parsed->options.color, COLOR_NEVER);
    assert_int_equal(parse("-B --format=json ls"), 0);
    assert_int_equal(parsed->options.format, FORMAT_JSON);
    assert_true(parsed->options.lines);

    refuse("--graph=pie ls", "'pie' is not a value of --graph");
    refuse("--color=maybe ls", "it takes auto, always, never");
    refuse("-B --format=xml ls", "--format");
    refuse("--accounting=guess ls", "--accounting");
}

static void
test_library_words(void **state)
{
    (void)state;
    assert_int_equal(parse("ls"), 0);
    assert_string_equal(parsed->words, "");
    assert_int_equal(parse("--accounting=auto ls"), 0);
    assert_string_equal(parsed->words, "");
    assert_int_equal(parse("-m --exact --root-only --accounting=usable ls"), 0);
    assert_string_equal(parsed->words, "mmap,exact,root-only,accounting=usable");
}

static void
test_sites(void **state)
{
    (void)state;
    assert_int_equal(parse("--sites ls"), 0);
    assert_string_equal(parsed->words, "sites");
    assert_int_equal(parse("--sites=1e-4 --unwind=dwarf -m ls"), 0);
    assert_string_equal(parsed->words, "mmap,sites=1e-4,unwind=dwarf");
    assert_int_equal(parse("--sites=64K ls"), 0);
    assert_string_equal(parsed->words, "sites=64K");
    assert_int_equal(parse("--export=folded:f ls"), 0); /* exports need samples */
    assert_string_equal(parsed->words, "sites");
    assert_int_equal(parse("--export=folded:f --unwind=fp --debuginfod ls"), 0);
    assert_string_equal(parsed->words, "sites,unwind=fp");
    assert_int_equal(parse("--sites=0 ls"), status_of(STATUS_USAGE));
    assert_int_equal(parse("--sites=much ls"), status_of(STATUS_USAGE));
    assert_int_equal(parse("--sites=1e-4,exact ls"), status_of(STATUS_USAGE));
    assert_int_equal(parse("--sites --unwind=auto ls"), 0);
    assert_string_equal(parsed->words, "sites,unwind=auto");
    assert_int_equal(parse("--sites --unwind=glibc ls"), 0); /* a former name */
    assert_string_equal(parsed->words, "sites,unwind=dwarf");
    assert_int_equal(parse("--unwind=magic ls"), status_of(STATUS_USAGE));
    refuse("--sites --unwind=libunwind ls", "--unwind=libunwind was removed");
}

/* Options without effect are refused, others are not. */
static void
test_sites_needed(void **state)
{
    static const char *const options[] = {
        "--sites-top=3",       "--sites-mode=peak",   "--sites-filter=x",
        "--sites-older=2m",    "--sites-sort=growth", "--sites-wrappers",
        "--debuginfod",        "--unwind=fp",         "--sites-memory=1M"};
    char line[100];

    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        snprintf(line, sizeof line, "%s ls", options[i]);
        assert_int_equal(parse(line), 0);
        snprintf(line, sizeof line, "--sites=off %s ls", options[i]);
        assert_int_equal(parse(line), status_of(STATUS_USAGE));
        snprintf(line, sizeof line, "-d f %s ls", options[i]);
        assert_int_equal(parse(line), status_of(STATUS_USAGE));
        snprintf(line, sizeof line, "-d f --sites %s ls", options[i]);
        assert_int_equal(parse(line), 0);
        snprintf(line, sizeof line, "--export=folded:f %s ls", options[i]);
        assert_int_equal(parse(line), 0);
        snprintf(line, sizeof line, "-a 7 %s", options[i]);
        assert_int_equal(parse(line), i < 7 ? 0 : status_of(STATUS_USAGE));
        snprintf(line, sizeof line, "-r f %s", options[i]);
        assert_int_equal(parse(line), i < 6 ? 0 : status_of(STATUS_USAGE));
        snprintf(line, sizeof line, "-l %s", options[i]);
        assert_int_equal(parse(line), status_of(STATUS_USAGE));
    }
}

static void
test_sites_choice(void **state)
{
    static const char *const wrong[] = {"filter=size=1", "filter=-", "older=0",
                                        "older=yes",     "sort=size",  "mode=dead"};
    char line[100];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line, "--sites --sites-%s ls", wrong[i]);
        assert_int_equal(parse(line), status_of(STATUS_USAGE));
    }
    assert_int_equal(parse("--sites --sites-filter=-x --sites-older=90 --sites-sort=age "
                           "--sites-mode=live --sites-wrappers ls"), 0);
    assert_true(parsed->options.sites.choice.wrappers);
}

static void
test_limits(void **state)
{
    const struct budget *budget = &parsed->options.budget;

    (void)state;
    assert_int_equal(parse("ls"), 0);
    assert_false(budget_given(budget));
    assert_int_equal(parse("--max-heap=64M --max-live-at-exit=0 ls"), 0);
    assert_true(budget->given[USAGE_HEAP] && budget->given[USAGE_LIVE_AT_EXIT]);
    assert_false(budget->given[USAGE_ALLOCS] || budget->given[USAGE_STACK]);
    assert_int_equal(budget->most[USAGE_HEAP], 64 << 20);
    assert_int_equal(budget->most[USAGE_LIVE_AT_EXIT], 0);
    assert_int_equal(parse("-B --max-allocs 2k --max-stack 1.5K ls"), 0);
    assert_int_equal(budget->most[USAGE_ALLOCS], 2000);
    assert_int_equal(budget->most[USAGE_STACK], 1536);

    assert_int_equal(budget->scope, SCOPE_EACH);
    assert_int_equal(parse("--max-heap=1 --limits=sum ls"), 0);
    assert_int_equal(budget->scope, SCOPE_SUM);
    assert_int_equal(parse("--max-heap=1 --limits=root ls"), 0);
    assert_int_equal(budget->scope, SCOPE_ROOT);
    assert_int_equal(parse("--max-heap=1 --root-only ls"), 0);
    assert_int_equal(budget->scope, SCOPE_ROOT);
    refuse("--limits=some ls", "'some' is not a value of --limits");
    refuse("--limits=each --root-only ls",
           "--limits=each cannot be checked with --root-only");

    refuse("--max-heap=-1 ls", "'-1' is not a value of --max-heap");
    refuse("--max-heap= ls", "a size such as 64M");
    refuse("--max-allocs=1KiB ls", "'1KiB' is not a value of --max-allocs");
}

static void
test_conditions(void **state)
{
    char line[512] = "";

    (void)state;
    assert_int_equal(parse("--snapshot-when=heap>2G --snapshot-when exit --exec=x ls"),
                     0);
    assert_int_equal(parsed->options.snapshots, 2);
    refuse("--snapshot-when=heap>much ls",
           "'heap>much' is not a value of --snapshot-when");
    refuse("--snapshot-when=moon ls", "it takes heap>SIZE");
    refuse("--exec=x ls", "only be used with --snapshot-when");
    for (int i = 0; i <= TRIGGER_CONDITIONS; i++)
        strcat(line, "--snapshot-when=peak ");
    refuse(line, "too many --snapshot-when");
}

static void
test_sessions(void **state)
{
    (void)state;
    assert_int_equal(parse("-r run.memtop"), 0);
    assert_non_null(parsed->options.read);
    assert_string_equal(parsed->program, "");
    assert_int_equal(parse("-B --read=run.dat --format=json"), 0);
    assert_non_null(parsed->options.read);
    assert_int_equal(parse("--save=run.memtop ls"), 0);
    assert_non_null(parsed->options.save);
    assert_null(parsed->options.read);
    refuse("-r run.memtop ls", "--read can only be used without PROGRAM");
    refuse("--read= ls", "--read takes the name of a file");
    refuse("--save= ls", "--save takes the name of a file");
}

static void
test_wrong(void **state)
{
    (void)state;
    refuse("-Z ls", "invalid option -- 'Z'");
    refuse("--nonsense ls", "unrecognized option '--nonsense'");
    refuse("-N 0 -B ls", "a number from 1");
    refuse("-N 5x -B ls", "a number from 1");
    refuse("-N 5 ls", "only be used with --batch");
    refuse("--format=text ls", "only be used with --batch");
    refuse("-n dir/ ls", "name of a program");
    refuse("--output= ls", "name of a file");
    refuse("-x 10001 ls", "from 0");
    refuse("--source=file:x", "script:FILE");
}

/* ---- memusage's options ---- */

/* All that options can change, as text, in one fixed order. */
static const char *
effect(void)
{
    static char text[512];
    const struct options *o = &parsed->options;

    snprintf(text, sizeof text, "%s u%zu m%d t%d T%d x%d y%d", parsed->strings,
             o->buffered, o->mmap, o->time_based, o->draw_total, o->png_width,
             o->png_height);
    return text;
}

#define NOTHING "|||| u32768 m0 t0 T0 x0 y0"

/* Every spelling that memusage's script accepts. */
static const struct {
    const char *letter;
    const char *name;
    size_t least;      /* shortest abbreviation */
    const char *value; /* NULL: takes no value */
    const char *effect;
} memusage_options[] = {
    {"n", "progname", 2, "prog", "prog|||| u32768 m0 t0 T0 x0 y0"},
    {"p", "png", 2, "pic", "|pic||| u32768 m0 t0 T0 x0 y0"},
    {"d", "data", 1, "file", "||file|| u32768 m0 t0 T0 x0 y0"},
    {"u", "unbuffered", 2, NULL, "|||| u1 m0 t0 T0 x0 y0"},
    {"b", "buffer", 1, "17", "|||| u17 m0 t0 T0 x0 y0"},
    {NULL, "no-timer", 1, NULL, NOTHING},
    {"m", "mmap", 1, NULL, "|||| u32768 m1 t0 T0 x0 y0"},
    {"t", "time-based", 3, NULL, "|||| u32768 m0 t1 T0 x0 y0"},
    {"T", "total", 2, NULL, "|||| u32768 m0 t0 T1 x0 y0"},
    {NULL, "title", 3, "=a=", "|||=a=| u32768 m0 t0 T0 x0 y0"},
    {"x", "x-size", 1, "321", "|||| u32768 m0 t0 T0 x321 y0"},
    {"y", "y-size", 1, "231", "|||| u32768 m0 t0 T0 x0 y231"},
};
#define MEMUSAGE_OPTIONS (sizeof memusage_options / sizeof *memusage_options)

static void
accept_spelling(const char *format, const char *option, size_t length, const char *value,
                const char *expected)
{
    char line[128], word[32];

    snprintf(word, sizeof word, "%.*s", (int)length, option);
    snprintf(line, sizeof line, format, word, value != NULL ? value : "");
    if (parse(line) != 0)
        fail_msg("%s: %s", line, printed);
    if (strcmp(effect(), expected) != 0)
        fail_msg("%s: %s, not %s", line, effect(), expected);
    assert_string_equal(parsed->program, "./p|-d|x|");
}

static void
accept_option(size_t i)
{
    const char *name = memusage_options[i].name, *value = memusage_options[i].value;
    const char *expected = memusage_options[i].effect;

#ifndef HAVE_GD
    if (strcmp(name, "png") == 0) {
        assert_int_not_equal(parse("--png=pic ./p"), 0);
        assert_non_null(strstr(printed, "was built without PNG pictures"));
        return;
    }
#endif
    for (size_t length = memusage_options[i].least; length <= strlen(name); length++) {
        accept_spelling("--%s %s ./p -d x", name, length, value, expected);
        if (value != NULL)
            accept_spelling("--%s=%s ./p -d x", name, length, value, expected);
    }
    if (memusage_options[i].letter == NULL)
        return;
    accept_spelling("-%s %s ./p -d x", memusage_options[i].letter, 1, value, expected);
    accept_spelling("-%s %s -- ./p -d x", memusage_options[i].letter, 1, value, expected);
    accept_spelling("-%s%s ./p -d x", memusage_options[i].letter, 1, value, expected);
}

static void
test_memusage_spellings(void **state)
{
    (void)state;
    for (size_t i = 0; i < MEMUSAGE_OPTIONS; i++)
        accept_option(i);
    called = "memusage";
    for (size_t i = 0; i < MEMUSAGE_OPTIONS; i++)
        accept_option(i);
    called = "memtop";
    static const char *const alone[] = {"--v", "--version", "-V", "--h", "--help", "-?",
                                        "--us", "--usage"};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        assert_int_equal(parse(alone[i]), 0);
        assert_true(strlen(printed) > 10);
    }
}

/* What memusage refuses, and what it takes as the program's name. */
static void
test_memusage_refusals(void **state)
{
    static const char *const ambiguous[] = {"--p", "--t", "--ti", "--u"};

    (void)state;
    for (size_t i = 0; i < sizeof ambiguous / sizeof *ambiguous; i++)
        refuse(ambiguous[i], "is ambiguous");
    refuse("-d", "requires an argument");
    refuse("--dat", "requires an argument");
    refuse("--bogus=1 p", "unrecognized option '--bogus=1'");
    refuse("-h p", "invalid option -- 'h'");
    refuse("-z p", "invalid option -- 'z'");
    refuse("-b five p", "a number from 0");
    called = "memusage";
    assert_int_equal(parse("--bogus p"), 1);
    assert_non_null(strstr(printed, "memusage: unrecognized option '--bogus'"));
    assert_non_null(strstr(printed, "Try `memusage --help' or `memusage --usage'"));
    assert_int_equal(parse("-d"), 1);
    assert_int_equal(parse(""), 1);
    assert_non_null(strstr(printed, "memusage: no program given"));
    called = "memtop";
}

static void
test_memusage_values(void **state)
{
    (void)state;
    parse("-mut -dFILE -n./a/b p");
    assert_string_equal(effect(), "b||FILE|| u1 m1 t1 T0 x0 y0");
    parse("--data=a=b.dat --title=x=y p");
    assert_string_equal(effect(), "||a=b.dat|x=y| u32768 m0 t0 T0 x0 y0");
    parse("-u -b 7 p");
    assert_string_equal(effect(), "|||| u7 m0 t0 T0 x0 y0"); /* the last one counts */
    parse("-b 32769 -x 7 -y 7 p");
    assert_string_equal(effect(), "|||| u32768 m0 t0 T0 x100 y80");
    parse("-b 0 -x 0 -y 0 p");
    assert_string_equal(effect(), NOTHING);
    assert_false(parsed->options.batch || parsed->options.as_memusage);
    called = "/usr/bin/memusage";
    parse("-b five -x many -y -5 p");
    assert_string_equal(effect(), NOTHING);
    assert_true(parsed->options.batch && parsed->options.as_memusage);
    called = "memtop";
}

static void
test_recording(void **state)
{
    (void)state;
    parse("-d f p");
    assert_string_equal(parsed->words, "rings=16384");
    parse("--drop -md f p");
    assert_string_equal(parsed->words, "mmap,rings=16384,drop");
    parse("--drop -u p");
    assert_string_equal(parsed->words, "");
    assert_null(parsed->options.log);
    parse("--log=f -B p");
    assert_string_equal(parsed->words, "");
    assert_non_null(parsed->options.log);
    assert_int_equal(125, parse("--log= p"));
    assert_int_equal(125, parse("--log=f -r g"));
    assert_null(parsed->options.record);
    parse("-B --record=f p");
    assert_non_null(parsed->options.record);
    assert_string_equal(parsed->words, "rings=16384");
    assert_int_equal(125, parse("--record= p"));
    assert_int_equal(125, parse("--record=f -r g"));
}

static void
test_help(void **state)
{
    (void)state;
    assert_int_equal(parse("--help"), 0);
    assert_non_null(strstr(printed, "Usage: memtop [OPTION...] PROGRAM [ARG]..."));
    assert_null(strstr(printed, "--source")); /* hidden */
    assert_null(strstr(printed, "--library"));
    assert_int_equal(parse("--usage"), 0);
    assert_non_null(strstr(printed, "--interval=SECS"));
    assert_int_equal(parse("--version"), 0);
    assert_non_null(strstr(printed, PACKAGE_STRING));
}

static void
test_png_name(void **state)
{
    char name[64];

    (void)state;
    options_png_name("a", name, sizeof name);
    assert_string_equal(name, "a.png");
    options_png_name("a.png", name, sizeof name);
    assert_string_equal(name, "a.png");
    options_png_name("a.PNG", name, sizeof name); /* as memusage does */
    assert_string_equal(name, "a.PNG.png");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_library_words),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_sites_needed),
        cmocka_unit_test(test_sites_choice),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_memusage_spellings),
        cmocka_unit_test(test_memusage_refusals),
        cmocka_unit_test(test_memusage_values),
        cmocka_unit_test(test_recording),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_png_name),
    };

    parsed = mmap(NULL, sizeof *parsed, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (parsed == MAP_FAILED)
        return 99;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
