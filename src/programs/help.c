/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * argp lays out its help by bytes, so languages with multibyte characters get uneven
 * columns and short lines.  Here argp is told to write very long lines with columns far
 * apart; the stream that receives them lays them out again.
 */
#include "config.h"

#include "programs/help.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/textwidth.h"

#define ARGP_FORMAT "opt-doc-col=2000,rmargin=30000"
#define DOC_COL     29   /* argp's own default */
#define USAGE_COL   12
#define LINE_COLS   79

static bool asked;   /* ARGP_HELP_FMT is set by memtop, not by the user */

/* Prints text at column `at`, its further lines from column `col`. */
static void
print_wrapped(const char *text, int at, int col)
{
    do {
        size_t length = text_line(NULL, 0, text, (size_t)(LINE_COLS - at)),
               shown = length;

        while (shown > 0 && text[shown - 1] == ' ')
            shown--;
        printf("%.*s\n", (int)shown, text);
        text += length;
        at = col;
        if (*text != '\0')
            printf("%*s", col, "");
    } while (*text != '\0');
}

/* Prints a line "-x, --long=ARG What it does" with at least two blanks in between. */
static void
print_option(char *line)
{
    char *doc = strstr(line + strspn(line, " "), "   ");
    int cols;

    /* An option without a short name has blanks before its long name; skip them. */
    if (doc == NULL) {
        puts(line);
        return;
    }
    *doc = '\0';
    doc += 1 + strspn(doc + 1, " ");
    cols = (int)text_columns(line);
    printf("%s", line);
    if (cols + 2 >= DOC_COL) {
        putchar('\n');
        cols = 0;
    }
    printf("%*s", DOC_COL - cols - 2, "");
    printf("  ");
    print_wrapped(doc, DOC_COL, DOC_COL);
}

/* Text in brackets stays on one line. */
static void
print_usage(char *line)
{
    int at = 0;

    for (char *item = line, *end; *item != '\0'; item = end) {
        int cols, open = 0;

        for (end = item; *end != '\0' && (open > 0 || *end != ' ' || end == item); end++)
            open += (*end == '[') - (*end == ']');
        char kept = *end;
        *end = '\0';
        cols = (int)text_columns(item);
        if (at + cols > LINE_COLS) {
            printf("\n%*s", USAGE_COL - 1, "");
            at = USAGE_COL - 1;
        }
        printf("%s", item);
        at += cols;
        *end = kept;
    }
    putchar('\n');
}

static void
print_line(char *line)
{
    size_t indent = strspn(line, " ");

    if (indent > 0 && line[indent] == '-')
        print_option(line);
    else if (strchr(line, '[') != NULL)
        print_usage(line);
    else
        print_wrapped(line, 0, 0);
}

/* Receives what argp writes, and prints it line by line. */
static ssize_t
take(void *cookie, const char *bytes, size_t size)
{
    static char line[1 << 16];
    static size_t used;

    (void)cookie;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != '\n' && used + 1 < sizeof line) {
            line[used++] = bytes[i];
            continue;
        }
        line[used] = '\0';
        used = 0;
        print_line(line);
    }
    return (ssize_t)size;
}

static void
ask(struct argp_state *state)
{
    static const cookie_io_functions_t functions = { .write = take };
    FILE *stream;

    if (getenv("ARGP_HELP_FMT") != NULL)
        return;
    stream = fopencookie(NULL, "w", functions);
    if (stream == NULL)
        return;
    asked = setenv("ARGP_HELP_FMT", ARGP_FORMAT, 1) == 0;
    /* The exit handlers of stdio flush too late for the output to be laid out. */
    setvbuf(stream, NULL, _IOLBF, BUFSIZ);
    state->out_stream = stream;
}

static error_t
arrange(int key, char *word, struct argp_state *state)
{
    (void)word;
    if (key == ARGP_KEY_INIT)
        ask(state);
    else if (key == ARGP_KEY_FINI && asked)
        /* The variable must not reach programs that memtop runs. */
        unsetenv("ARGP_HELP_FMT");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* ---- messages about a wrong command line ---- */

/* argp and getopt write one message at a time; it may quote any text. */
static ssize_t
take_message(void *stream, const char *bytes, size_t size)
{
    static char clean[1 << 14];
    bool whole = size > 0 && bytes[size - 1] == '\n';

    fprintf(stream, "%s%s", text_sanitise(clean, sizeof clean, bytes, size - whole),
            whole ? "\n" : "");
    return (ssize_t)size;
}

/* argp shows the program's name in messages and in the help. */
static void
clean_name(int argc, char **argv)
{
    static char name[256];

    if (argc > 0)
        argv[0] = text_sanitise(name, sizeof name, argv[0], strlen(argv[0]));
}

void
help_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    static const cookie_io_functions_t functions = { .write = take_message };
    FILE *before = stderr, *clean = fopencookie(before, "w", functions);

    clean_name(argc, argv);
    if (clean != NULL) {
        setvbuf(clean, NULL, _IONBF, 0); /* each write is one message */
        stderr = clean;                  /* getopt writes to stderr itself */
    }
    argp_parse(argp, argc, argv, flags, NULL, input);
    stderr = before;
    if (clean != NULL)
        fclose(clean);
}

static const struct argp arranging = { .parser = arrange };

const struct argp_child help_by_columns[] = { { .argp = &arranging }, { 0 } };
