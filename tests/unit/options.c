/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line.  options_parse() may end the process, so every parse runs
 * in a child, and what it printed and how it ended is what is compared.
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

#include "app/options.h"

#define WORDS 16

/* What the child left: the options, with the strings' places known only to it
   copied beside. */
static struct parsed {
    struct options options;
    char program[256];    /* words joined by '|' */
    char words[128];
} *parsed;

static char printed[8192];

static void
run_parser(const char *line)
{
    char copy[512], *argv[WORDS + 2] = {"memtop"};
    int argc = 1;

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
test_wrong(void **state)
{
    (void)state;
    refuse("-Z ls", "invalid option -- 'Z'");
    refuse("--nonsense ls", "unrecognized option '--nonsense'");
    refuse("-N 0 -B ls", "a number from 1");
    refuse("-N 5x -B ls", "a number from 1");
    refuse("-N 5 ls", "with --batch only");
    refuse("--format=text ls", "with --batch only");
    refuse("-n dir/ ls", "name of a program");
    refuse("--output= ls", "name of a file");
    refuse("-x 7 ls", "from 100");
    refuse("--source=file:x", "script:FILE");
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
    options_png_name("a.PNG", name, sizeof name); /* as memusage */
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
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_png_name),
    };

    parsed = mmap(NULL, sizeof *parsed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                  -1, 0);
    if (parsed == MAP_FAILED)
        return 99;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
