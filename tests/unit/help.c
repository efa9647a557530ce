/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The columns of the help in a language with two-byte letters. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/help.h"
#include "base/textwidth.h"

static const struct argp_option options[] = {
    { "output", 'o', "ФАЙЛ", 0, "Записать рисунок в ФАЙЛ", 0 },
    { "plain", 'p', NULL, 0, "WHAT plain does", 0 },
    { "condition-of-some-length", 'c', "УСЛОВИЕ", 0, "Записать при УСЛОВИИ", 0 },
    { "long", 'l', "A", 0,
      "Записать рисунок при условии, которое не поместится в одной строке справки", 0 },
    { 0 },
};

static error_t
take_all(int key, char *word, struct argp_state *state)
{
    (void)word;
    (void)state;
    return key == 'p' ? 0 : ARGP_ERR_UNKNOWN;
}

/* Returns what the help prints; checks how the program ends. */
static FILE *
printed(const char *argument)
{
    const struct argp argp = { .options = options,
                               .parser = take_all,
                               .children = help_by_columns };
    char *argv[] = { "program", (char *)argument, NULL };
    FILE *file = tmpfile();
    int status;
    pid_t pid;

    assert_non_null(file);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        dup2(fileno(file), STDOUT_FILENO);
        if (argp_parse(&argp, 2, argv, 0, NULL, NULL) != 0)
            exit(5);
        exit(getenv("ARGP_HELP_FMT") == NULL ? 3 : 4);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, strcmp(argument, "-p") == 0 ? 3 << 8 : 0);
    rewind(file);
    return file;
}

/* The column in which text begins in a line of the help. */
static int
column_of(FILE *file, const char *text)
{
    char line[4096], *at;

    rewind(file);
    while (fgets(line, sizeof line, file) != NULL)
        if ((at = strstr(line, text)) != NULL) {
            *at = '\0';
            return (int)text_columns(line);
        }
    return -1;
}

static void
columns_are_even(void **state)
{
    FILE *file = printed("--help");
    char line[4096];
    int widest = 0;

    (void)state;
    assert_int_equal(column_of(file, "Записать рисунок в"), 29);
    assert_int_equal(column_of(file, "WHAT plain"), 29);
    assert_int_equal(column_of(file, "Записать при"), 29);
    assert_int_equal(column_of(file, "Записать рисунок при"), 29);
    assert_int_equal(column_of(file, "поместится"), 29);
    assert_int_equal(column_of(file, "--condition"), 6);
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if ((int)text_columns(line) > widest)
            widest = (int)text_columns(line);
    }
    assert_in_range(widest, 70, 79);
    fclose(file);
}

static void
usage_keeps_brackets_whole(void **state)
{
    FILE *file = printed("--usage");
    char line[4096];

    (void)state;
    while (fgets(line, sizeof line, file) != NULL) {
        int open = 0;

        for (const char *c = line; *c != '\0'; c++)
            open += (*c == '[') - (*c == ']');
        assert_int_equal(open, 0);
    }
    assert_true(column_of(file, "[-c УСЛОВИЕ]") > 0);
    fclose(file);
}

static void
programs_do_not_inherit_the_format(void **state)
{
    (void)state;
    fclose(printed("-p"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_even),
        cmocka_unit_test(usage_keeps_brackets_whole),
        cmocka_unit_test(programs_do_not_inherit_the_format),
    };

    unsetenv("ARGP_HELP_FMT");
    if (setlocale(LC_ALL, "C.UTF-8") == NULL)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
