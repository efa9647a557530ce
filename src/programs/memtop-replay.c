/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop-replay: makes the calls of a munged allocation log again. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/compare.h"
#include "programs/help.h"
#include "programs/language.h"
#include "programs/output.h"
#include "programs/replay-run.h"
#include "programs/replay-text.h"
#include "programs/replay-trace.h"
#include "programs/say.h"
#include "base/i18n.h"
#include "base/quantity.h"

/* As of grep: some lines were refused, and it could not be done at all. */
enum { REFUSED = 1, TROUBLE = 2 };

#define WORDS_MAX 8

static struct {
    struct replay_options replay;
    bool quiet, compare;
    const char *input;
    char **arguments; /* up to a NULL */
    size_t arguments_count;
    const char *expect; /* of compare.h's children */
    int result;
    char *words[WORDS_MAX + 1]; /* for them: options that they are to have too */
    size_t words_count;
} options = {.result = -1};

enum { OPTION_STATS_EVERY = 256, OPTION_COMPARE, OPTION_EXPECT, OPTION_RESULT };

static const struct argp_option table[] = {
    {"slop", 's', NULL, 0, N_("Also sum what blocks have beyond what was asked for"), 0},
    {"touch", 'c', NULL, 0, N_("Write to every byte of every new block"), 0},
    {"stats-every", OPTION_STATS_EVERY, N_("NUM"), 0,
     N_("Print a record after every NUM calls"), 0},
    {"pid", 'p', N_("NUM"), 0, N_("Replay process NUM, not that of the first line"), 0},
    {"quiet", 'q', NULL, 0, N_("No summary"), 0},
    {"compare", OPTION_COMPARE, NULL, 0,
     N_("Replay with each ALLOCATOR, and print a table"), 0},
    {"input", 'i', N_("FILE"), 0, N_("Read the log from FILE"), 0},
    {"expect", OPTION_EXPECT, "NAME", OPTION_HIDDEN, NULL, 0},
    {"result", OPTION_RESULT, "FD", OPTION_HIDDEN, NULL, 0},
    {0},
};

static void
number(struct argp_state *state, const char *name, const char *word, uint64_t *value)
{
    if (!quantity_count(word, value) || *value == 0)
        argp_error(state, _("--%s: '%s' is no number"), name, word);
}

/* The children of a comparison get it too. */
static void
pass(const char *format, const char *word)
{
    if (options.words_count < WORDS_MAX &&
        asprintf(&options.words[options.words_count], format, word) >= 0)
        options.words_count++;
}

static error_t
parse_option(int key, char *word, struct argp_state *state)
{
    switch (key) {
    case 's':
        options.replay.slop = true;
        return 0;
    case 'c':
        options.replay.touch = true;
        pass("-c", NULL);
        return 0;
    case 'p':
        number(state, "pid", word, &options.replay.pid);
        pass("--pid=%s", word);
        return 0;
    case OPTION_STATS_EVERY:
        number(state, "stats-every", word, &options.replay.stats_every);
        return 0;
    case 'q':
        options.quiet = true;
        return 0;
    case 'i':
        options.input = word;
        return 0;
    case OPTION_COMPARE:
        options.compare = true;
        return 0;
    case OPTION_EXPECT:
        options.expect = word;
        return 0;
    case OPTION_RESULT:
        options.result = atoi(word);
        return 0;
    case ARGP_KEY_ARGS:
        options.arguments = state->argv + state->next;
        options.arguments_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (options.compare)
            return 0;
        if (options.arguments_count + (options.input != NULL) > 1)
            argp_error(state, "%s", _("more than one file"));
        if (options.arguments_count > 0)
            options.input = options.arguments[0];
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char *
input_name(void)
{
    return options.input != NULL ? options.input : _("the standard input");
}

static void
say_once(void)
{
    say(_("%s can be read only once: give the log as a file"), input_name());
}

/* False: errno says why. */
static bool
print(int fd, const char *text)
{
    size_t length = strlen(text);

    while (length > 0) {
        ssize_t count = write(fd, text, length);
        if (count < 0 && errno != EINTR)
            return false;
        text += count > 0 ? count : 0;
        length -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

static void
say_refused(const struct replay_result *result)
{
    for (uint64_t i = 0; i < result->refused && i < REPLAY_REFUSED_KEPT; i++)
        say(_("line %lu: %s"), (unsigned long)result->kept[i].number,
            replay_text_reason(result->kept[i].why));
    if (result->refused > REPLAY_REFUSED_KEPT)
        say(ngettext("%lu line in all was refused", "%lu lines in all were refused",
                     result->refused),
            (unsigned long)result->refused);
}

static void
print_record(const struct replay_record *record)
{
    static char text[REPLAY_TEXT_MAX];

    print(STDERR_FILENO,
          replay_text_record(text, sizeof text, record, options.replay.slop));
}

/* ---- one replay ---- */

static int
replay_here(int fd)
{
    static char text[REPLAY_TEXT_MAX];
    struct replay_setup setup = {
        .fd = fd, .options = options.replay, .record = print_record,
    };
    struct replay_result result;
    struct replay_record none;
    pid_t reader = 0;
    int error;

    allocator_find(&setup.allocator);
    if (options.expect != NULL && !allocator_is(&setup.allocator, options.expect))
        return COMPARE_ABSENT;
    if (replay_trace_is(fd)) {
        setup.fd = replay_trace_open(fd, &reader);
        setup.parsed = true;
        if (setup.fd < 0) {
            say(_("cannot read %s: %s"), input_name(), strerror(-setup.fd));
            return TROUBLE;
        }
    }
    /* What is loaded the first time must not be loaded in the midst of the replay. */
    replay_text_prepare();
    replay_run_record(&setup.allocator, &none);
    replay_text_record(text, sizeof text, &none, true);
    error = replay_run(&setup, &result);
    if (reader != 0 && !replay_trace_wait(reader))
        return TROUBLE;
    if (error == -ESPIPE) {
        say_once();
        return TROUBLE;
    }
    if (error == 0 && options.result >= 0)
        return write(options.result, &result, sizeof result) == sizeof result ? 0 : TROUBLE;
    if (!options.quiet)
        print(STDERR_FILENO, replay_text_summary(text, sizeof text, &result,
                                                 options.replay.touch));
    say_refused(&result);
    if (error != 0)
        say(_("cannot read %s: %s"), input_name(), strerror(-error));
    return error != 0 ? TROUBLE : result.refused > 0 ? REFUSED : 0;
}

/* ---- several ---- */

static void
say_why(const char *allocator, enum compare_verdict verdict, int status)
{
    if (verdict == COMPARE_MISSING)
        say(_("%s: no such allocator here"), allocator);
    else if (verdict == COMPARE_NAME)
        say(_("'%s' cannot be preloaded"), allocator);
    else if (verdict == COMPARE_ERROR)
        say("%s: %s", allocator, strerror(errno));
    else if (WIFSIGNALED(status))
        say(_("%s: the replay was killed by signal %d (%s)"), allocator, WTERMSIG(status),
            strsignal(WTERMSIG(status)));
    else
        say(_("%s: the replay failed"), allocator);
}

/* Without names, those that are there. */
static int
compare(int fd)
{
    static char text[REPLAY_TEXT_MAX];
    static struct replay_result results[REPLAY_TABLE_MAX];
    bool all = options.arguments_count == 0;
    const char *const *names =
        all ? compare_known : (const char *const *)options.arguments;
    size_t count = 0;
    int status = 0;

    for (; *names != NULL && count < REPLAY_TABLE_MAX; names++) {
        int ended = 0;
        enum compare_verdict verdict =
            compare_run(*names, fd, options.words, &results[count], &ended);

        if (verdict == COMPARE_DONE) {
            count++;
        } else if (!all || verdict != COMPARE_MISSING) {
            say_why(*names, verdict, ended);
            status = TROUBLE;
        }
    }
    if (!print(STDOUT_FILENO, replay_text_table(text, sizeof text, results, count,
                                                options.replay.touch))) {
        output_lost(NULL, -errno);
        status = TROUBLE;
    }
    if (count > 0)
        say_refused(&results[0]);
    return status != 0 ? status : count > 0 && results[0].refused > 0 ? REFUSED : 0;
}

static int
open_log(void)
{
    struct stat about;
    int fd = STDIN_FILENO;

    if (options.input != NULL)
        fd = open(options.input, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) < 0) {
        say(_("cannot read %s: %s"), input_name(), strerror(errno));
        return -1;
    }
    if (!options.compare || S_ISREG(about.st_mode))
        return fd;
    say_once();
    return -1;
}

int
main(int argc, char **argv)
{
    const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .children = help_by_columns,
        .args_doc = N_("[FILE]\n--compare [ALLOCATOR]..."),
        .doc = N_("Make the calls of a munged allocation log or of a trace again, and "
                  "measure."
                  "\vThe log, memtop-munge's or memtop --record's, is read from FILE or the standard input."
                  " ALLOCATOR is glibc, jemalloc, tcmalloc, mimalloc or a library to"
                  " preload; without any, those that are there."),
    };
    int fd;

    output_begin(TROUBLE);
    language_start();
    argp_program_version = PACKAGE_STRING;
    if (argc > 0)
        argv[0] = basename(argv[0]);
    help_parse(&argp, argc, argv, 0, NULL);
    fd = open_log();
    if (fd < 0)
        return TROUBLE;
    return options.compare ? compare(fd) : replay_here(fd);
}
