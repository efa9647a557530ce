/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop-replay: repeats the calls of a munged allocation log. */
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
#include "programs/status.h"
#include "programs/tracefile.h"
#include "programs/uses.h"
#include "base/i18n.h"
#include "base/quantity.h"

#define WORDS_MAX 8

static struct {
    struct replay_options replay;
    bool quiet, compare;
    const char *input;
    char **arguments; /* with NULL at the end */
    size_t arguments_count;
    const char *expect; /* options of the child processes of compare.h */
    int result;
    char *words[WORDS_MAX + 1]; /* options to pass on to child processes */
    size_t words_count;
} options = {.result = -1};

enum { OPTION_STATS_EVERY = 256, OPTION_COMPARE, OPTION_EXPECT, OPTION_RESULT };

static const struct argp_option table[] = {
    {"slop", 's', NULL, 0, N_("Also sum how much larger blocks are than requested"), 0},
    {"touch", 'c', NULL, 0, N_("Write to every byte of every new block"), 0},
    {"stats-every", OPTION_STATS_EVERY, N_("NUM"), 0,
     N_("Print a record after every NUM calls"), 0},
    {"pid", 'p', N_("NUM"), 0, N_("Replay process NUM, not that of the first line"), 0},
    {"quiet", 'q', NULL, 0, N_("Print no summary"), 0},
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
        argp_error(state, _("--%s: '%s' is not a number"), name, word);
}

/* Passes an option on to the child processes of a comparison. */
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

/* Returns false and sets errno on failure. */
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

/* Reports what was not replayed: first what the reader skipped, then refused lines. */
static void
say_refused(const struct replay_result *result)
{
    /* An empty log must load no further code. */
    if (result->read.kind != KIND_EMPTY)
        tracefile_say_oddities(use_name(options.input), &result->read);
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

/* Without calls there are no figures; reports that and returns false. */
static bool
has_calls(const struct replay_result *result)
{
    if (result->figures.calls > 0)
        return true;
    if (options.replay.pid != 0)
        say(_("%s has no calls of process %lu"), use_name(options.input),
            (unsigned long)options.replay.pid);
    else
        say(_("%s has no calls"), use_name(options.input));
    return false;
}

static int
status_after(const struct replay_result *result)
{
    return result->figures.calls == 0 ? status_of(STATUS_INPUT)
           : result->refused > 0 || result->read.refused > 0 ? status_of(STATUS_REFUSED)
                                                             : 0;
}

static int
replay_here(struct input *input, enum file_kind kind)
{
    static char text[REPLAY_TEXT_MAX];
    struct replay_setup setup = {
        .input = input, .options = options.replay, .record = print_record,
    };
    struct replay_trace reader;
    struct replay_result result;
    struct replay_record none;
    int error;

    allocator_find(&setup.allocator);
    if (options.expect != NULL && !allocator_is(&setup.allocator, options.expect))
        return COMPARE_ABSENT;
    setup.parsed = kind != KIND_MUNGED;
    error = setup.parsed ? replay_trace_begin(&reader, input) : 0;
    if (error != 0) {
        say(_("cannot read %s: %s"), use_name(options.input), strerror(-error));
        return status_of(STATUS_INPUT);
    }
    /* Use the output functions once, so that whatever they load is loaded before the
       replay. */
    replay_text_prepare();
    replay_run_record(&setup.allocator, &none);
    replay_text_record(text, sizeof text, &none, true);
    error = replay_run(&setup, &result);
    if (setup.parsed) {
        int read = replay_trace_end(&reader, &result.read);

        if (error == 0)
            error = read;
    }
    if (error == 0 && options.result >= 0)
        return write(options.result, &result, sizeof result) == sizeof result
                   ? 0
                   : status_of(STATUS_FAILED);
    if (!options.quiet && result.figures.calls > 0)
        print(STDERR_FILENO, replay_text_summary(text, sizeof text, &result,
                                                 options.replay.touch));
    say_refused(&result);
    if (error != 0) {
        tracefile_say_error(options.input, error, kind, USE_REPLAY);
        return status_of(STATUS_INPUT);
    }
    has_calls(&result);
    return status_after(&result);
}

/* ---- comparing allocators ---- */

static void
say_why(const char *allocator, enum compare_verdict verdict, int status)
{
    if (verdict == COMPARE_MISSING)
        say(_("cannot find allocator %s"), allocator);
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

/* Can the child processes read the log?  They report no errors, so this is checked
   before. */
static bool
can_be_read(struct input *input, enum file_kind kind)
{
    struct trace *trace = NULL;
    int error;

    if (kind == KIND_MUNGED)
        return true;
    /* Closing the trace closes its descriptor. */
    input->fd = fcntl(input->fd, F_DUPFD_CLOEXEC, 0);
    error = input->fd < 0 ? -errno : trace_open_input(input, &trace);
    trace_close(trace);
    if (error != 0)
        tracefile_say_error(options.input, error, kind, USE_REPLAY);
    return error == 0;
}

/* Without names, compares the known allocators that are installed. */
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
            status = status_of(STATUS_FAILED);
        }
    }
    if (count > 0 && !has_calls(&results[0])) {
        say_refused(&results[0]);
        return status_of(STATUS_INPUT);
    }
    if (!print(STDOUT_FILENO, replay_text_table(text, sizeof text, results, count,
                                                options.replay.touch))) {
        output_lost(NULL, -errno);
        status = status_of(STATUS_OUTPUT);
    }
    if (count > 0)
        say_refused(&results[0]);
    return status != 0 || count == 0 ? status : status_after(&results[0]);
}

/* Returns the descriptor of the log, or reports an error and returns -1. */
static int
open_log(void)
{
    struct stat about;
    int fd = STDIN_FILENO;

    if (options.input != NULL && strcmp(options.input, "-") != 0)
        fd = open(options.input, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) < 0) {
        say(_("cannot read %s: %s"), use_name(options.input), strerror(errno));
        return -1;
    }
    if (!options.compare || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))
        return fd;
    say(_("%s can be read only once: give the log as a file"), use_name(options.input));
    return -1;
}

/* Can the input be replayed?  If not, reports why. */
static bool
look(struct input *input, enum file_kind *kind)
{
    int error = kind_of_input(input, kind);

    if (error != 0)
        say(_("cannot read %s: %s"), use_name(options.input), strerror(-error));
    else if (!use_fits(USE_REPLAY, *kind))
        use_refuse(options.input, *kind, USE_REPLAY);
    return error == 0 && use_fits(USE_REPLAY, *kind);
}

int
main(int argc, char **argv)
{
    const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .children = help_by_columns,
        .args_doc = N_("[FILE]\n--compare [ALLOCATOR]..."),
        .doc = N_("Replay the calls of a munged allocation log or of a trace, and "
                  "measure them.\v"
                  "The log, memtop-munge's or memtop --record's, is read from FILE or "
                  "the standard input. ALLOCATOR is glibc, jemalloc, tcmalloc, mimalloc "
                  "or a library to preload; the default is those of the four that are "
                  "installed."),
    };
    static struct input input;
    enum file_kind kind;
    int fd;

    status_as(AS_REPLAY);
    output_begin(status_of(STATUS_OUTPUT));
    language_start();
    argp_program_version = PACKAGE_STRING;
    if (argc > 0)
        argv[0] = basename(argv[0]);
    help_parse(&argp, argc, argv, 0, NULL);
    fd = open_log();
    if (fd < 0)
        return status_of(STATUS_INPUT);
    /* Makes the buffer resident before memory is measured. */
    memset(&input, 1, sizeof input);
    input_init(&input, fd);
    if (!look(&input, &kind))
        return status_of(STATUS_INPUT);
    if (!options.compare)
        return replay_here(&input, kind);
    return can_be_read(&input, kind) ? compare(fd) : status_of(STATUS_INPUT);
}
