/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop-munge: a filter that makes a recorded allocation log replayable. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/help.h"
#include "programs/language.h"
#include "programs/output.h"
#include "programs/say.h"
#include "programs/status.h"
#include "programs/uses.h"
#include "base/i18n.h"
#include "base/textwidth.h"
#include "files/input.h"
#include "replay/munge.h"

/* Shown bytes of a refused line. */
#define SHOWN 200

static bool original;
static const char *file;

static const struct argp_option table[] = {
    {"compat", 'c', NULL, 0, N_("Treat every call as Mozilla's logalloc_munge.py does"),
     0},
    {0},
};

static error_t
parse_option(int key, char *word, struct argp_state *state)
{
    switch (key) {
    case 'c':
        original = true;
        status_as(AS_MUNGE_COMPAT);
        return 0;
    case ARGP_KEY_ARG:
        if (file != NULL)
            argp_error(state, "%s", _("more than one file"));
        file = word;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char *
reason(enum munge_verdict verdict)
{
    switch (verdict) {
    case MUNGE_UNKNOWN:
        return _("unknown function");
    case MUNGE_UNSEEN:
        return _("no allocation of this block was seen");
    case MUNGE_FAILED:
        return _("the allocation failed");
    case MUNGE_NO_RESULT:
        return _("an allocation without a result");
    default:
        return _("not a line of an allocation log");
    }
}

static const char *
original_reason(enum munge_verdict verdict)
{
    return verdict == MUNGE_UNKNOWN  ? "Unknown function"
           : verdict == MUNGE_UNSEEN ? "Did not see an alloc for pointer"
           : verdict == MUNGE_FAILED ? "Result is NULL"
                                     : "Malformed input";
}

static void
refuse(enum munge_verdict verdict, unsigned long number, const char *text, size_t length)
{
    static char shown[INPUT_LINE_MAX + 1];

    if (original) {
        text_sanitise(shown, sizeof shown, text, length);
        fprintf(stderr, "Ignored \"%s\": %s\n", shown, original_reason(verdict));
        return;
    }
    text_sanitise(shown, sizeof shown, text, length < SHOWN ? length : SHOWN);
    /* TRANSLATORS: number of the line, why it is refused, the line. */
    say(_("line %lu: %s: %s"), number, reason(verdict), shown);
}

static void
tell_unseen(uint64_t pid, uint64_t lines)
{
    /* TRANSLATORS: a process number, then how many calls: they free or change blocks. */
    say(ngettext("process %lu: the block of %lu refused call may be its parent's, "
                 "allocated before the fork",
                 "process %lu: the blocks of %lu refused calls may be its parent's, "
                 "allocated before the fork",
                 plural(lines)),
        (unsigned long)pid, (unsigned long)lines);
}

static void
put(void *context, const struct logalloc_line *line)
{
    char text[LOGALLOC_LINE_MAX];

    (void)context;
    fwrite_unlocked(text, 1, logalloc_format(text, LOGALLOC_MUNGED, line), stdout);
}

static bool
is_blank(const char *text, size_t length)
{
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\r'))
        length--;
    return length == 0;
}

/* Compatible mode accepts any text as a log, but not memtop's binary files. */
static bool
serves(enum file_kind kind)
{
    return use_fits(USE_MUNGE, kind)
           || (original && (kind < KIND_STREAM || kind == KIND_MUNGED));
}

static int
munge_all(struct input *input, struct munge *munge)
{
    const char *text;
    size_t length;
    int status = 0, got = munge != NULL ? 1 : -ENOMEM;

    for (unsigned long number = 1; got > 0 && !ferror_unlocked(stdout); number++) {
        enum munge_verdict verdict;

        got = input_line(input, &text, &length);
        if (got <= 0 || (!original && is_blank(text, length)))
            continue;
        verdict = munge_line(munge, text, length);
        if (verdict == MUNGE_NO_MEMORY) {
            got = -ENOMEM;
        } else if (verdict != MUNGE_GOOD) {
            refuse(verdict, number, text, length);
            status = status_of(STATUS_REFUSED);
        }
    }
    if (ferror_unlocked(stdout) || fflush(stdout) != 0) {
        output_lost(NULL, -errno);
        return status_of(STATUS_OUTPUT);
    }
    if (got == 0) {
        munge_tell_unseen(munge, tell_unseen);
        return status;
    }
    say(_("cannot read %s: %s"), use_name(file), strerror(-got));
    return status_of(STATUS_INPUT);
}

/* Can the input be read, and is it a log?  If not, reports why. */
static bool
look(struct input *input)
{
    enum file_kind kind;
    int error = kind_of_input(input, &kind);

    if (error != 0)
        say(_("cannot read %s: %s"), use_name(file), strerror(-error));
    else if (!serves(kind))
        use_refuse(file, kind, USE_MUNGE);
    return error == 0 && serves(kind);
}

int
main(int argc, char **argv)
{
    const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .children = help_by_columns,
        .args_doc = N_("[FILE]"),
        /* TRANSLATORS: \v separates the text before the options from the text after
           them. */
        .doc = N_("Make an allocation log replayable: number its processes, threads and "
                  "blocks.\v"
                  "The log is read from FILE or the standard input, the result is "
                  "written to the standard output, and lines that are refused to the "
                  "standard error."),
    };
    struct munge_options options = {.put = put};
    static struct input input;
    struct munge *munge;
    int fd = STDIN_FILENO, status;

    status_as(AS_MUNGE);
    output_begin(status_of(STATUS_OUTPUT));
    language_start();
    argp_program_version = PACKAGE_STRING;
    if (argc > 0)
        argv[0] = basename(argv[0]);
    help_parse(&argp, argc, argv, 0, NULL);
    if (file != NULL && strcmp(file, "-") != 0
        && (fd = open(file, O_RDONLY | O_CLOEXEC)) < 0) {
        say(_("cannot read %s: %s"), file, strerror(errno));
        return status_of(STATUS_INPUT);
    }
    input_init(&input, fd);
    if (!look(&input))
        return status_of(STATUS_INPUT);
    options.original = original;
    munge = munge_new(&options);
    status = munge_all(&input, munge);
    munge_free(munge);
    return status;
}
