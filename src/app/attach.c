/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A name is that of the program, with or without the arguments of its interpreter:
 * "python3" and "server.py" both name "python3 server.py".
 */
#include "config.h"

#include "app/attach.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/say.h"
#include "i18n.h"
#include "monitor/observed.h"
#include "report/listing.h"
#include "report/textwidth.h"
#include "segment/clock.h"
#include "tui/picker.h"

static enum unit
unit_of(const struct options *options)
{
    return options->si ? UNIT_AUTO + UNIT_SI : UNIT_AUTO;
}

/* As they are now; NULL, having said so, if memory is short. */
static struct observed *
observe(void)
{
    struct observed *observed = observed_new();

    if (observed == NULL)
        say("%s", strerror(ENOMEM));
    else
        observed_poll(observed, clock_ns(CLOCK_MONOTONIC));
    return observed;
}

int
attach_list(const struct options *options)
{
    struct observed *observed = observe();
    bool written = true;

    if (observed == NULL)
        return EXIT_MEMTOP;
    errno = 0;
    if (roster_count(observed_roster(observed)) == 0)
        say("%s", _("no observed processes"));
    else if (options->format == FORMAT_JSON)
        written = listing_json(stdout, observed_roster(observed));
    else
        written = listing_text(stdout, observed_roster(observed), unit_of(options));
    if (!written)
        say(_("cannot write %s: %s"), "-", strerror(errno != 0 ? errno : ENOMEM));
    observed_free(observed);
    return written ? 0 : EXIT_MEMTOP;
}

pid_t
attach_pick(const struct options *options)
{
    const struct picker_options wanted = {
        .colour = options_display_colour(options),
        .ascii = options->ascii,
        .unit = unit_of(options),
    };
    struct observed *observed = observe();
    pid_t pid;

    if (observed == NULL)
        return -1;
    pid = picker_run(observed, &wanted);
    if (pid < 0)
        say(_("the display could not start (%s)"), strerror(errno));
    observed_free(observed);
    return pid;
}

/* Is name the last part of one of the command's words before the first option? */
static bool
is_called(const char *command, const char *name)
{
    while (*command != '\0' && *command != '-') {
        size_t length = strcspn(command, " ");
        const char *word = command;

        for (const char *slash; (slash = memchr(word, '/', length)) != NULL;) {
            length -= (size_t)(slash + 1 - word);
            word = slash + 1;
        }
        if (strlen(name) == length && strncmp(word, name, length) == 0)
            return true;
        command = word + length;
        command += strspn(command, " ");
    }
    return false;
}

static void
say_several(const struct roster *roster, const char *name)
{
    say(_("several processes are called %s:"), name);
    for (size_t i = 0; i < roster_count(roster); i++) {
        const struct roster_entry *entry = roster_at(roster, i);
        char command[2 * sizeof entry->command];

        if (is_called(entry->command, name))
            fprintf(stderr, "%8d  %s\n", (int)entry->pid,
                    text_sanitise(command, sizeof command, entry->command,
                                  strlen(entry->command)));
    }
}

static pid_t
find_by_name(const char *name)
{
    struct observed *observed = observe();
    const struct roster *roster;
    unsigned found = 0;
    pid_t pid = -1;

    if (observed == NULL)
        return -1;
    roster = observed_roster(observed);
    for (size_t i = 0; i < roster_count(roster); i++)
        if (is_called(roster_at(roster, i)->command, name)) {
            pid = roster_at(roster, i)->pid;
            found++;
        }
    if (found == 0)
        say(_("no observed process is called %s; -l lists them"), name);
    else if (found > 1)
        say_several(roster, name);
    observed_free(observed);
    return found == 1 ? pid : -1;
}

pid_t
attach_find(const char *word)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(word, &end, 10);
    if (!isdigit((unsigned char)word[0]) || *end != '\0')
        return find_by_name(word);
    if (errno == 0 && number > 0 && number <= INT_MAX)
        return (pid_t)number;
    say(_("there is no process %s"), word);
    return -1;
}

int
attach_session(struct session *session, pid_t pid)
{
    int error = session_attach(session, pid);

    switch (error) {
    case 0:
        return 0;
    case -ESRCH:
        say(_("there is no process %d"), (int)pid);
        break;
    case -EACCES:
        say(_("process %d may not be looked at: it belongs to another user, or is "
              "protected"),
            (int)pid);
        break;
    case -EPROTONOSUPPORT:
        say(_("process %d runs with another version of libmemtop; restart it"),
            (int)pid);
        break;
    case -ENOENT:
        say(_("the segment of process %d has been removed; restart it"), (int)pid);
        break;
    default:
        say(_("cannot attach to process %d: %s"), (int)pid, strerror(-error));
    }
    return EXIT_MEMTOP;
}
