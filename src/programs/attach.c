/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attaching to processes by name.  A process's name is that of its program, or of the
 * script that an interpreter runs: "python3" and "server.py" both name "python3
 * server.py".
 */
#include "config.h"

#include "programs/attach.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/output.h"
#include "programs/say.h"
#include "programs/status.h"
#include "base/i18n.h"
#include "monitor/system-list.h"
#include "system/procfs.h"
#include "report/listing.h"
#include "base/textwidth.h"
#include "base/clock.h"
#include "tui/picker.h"

static enum unit
unit_of(const struct options *options)
{
    return options->si ? UNIT_AUTO + UNIT_SI : UNIT_AUTO;
}

/* Lists the processes that have loaded the library now.  Reports an error and returns
   NULL if memory is short. */
static struct system_list *
observe(void)
{
    struct system_list *systemwide = system_list_new();

    if (systemwide == NULL)
        say("%s", strerror(ENOMEM));
    else
        system_list_poll(systemwide, clock_ns(CLOCK_MONOTONIC));
    return systemwide;
}

int
attach_list(const struct options *options)
{
    struct system_list *systemwide = observe();
    bool written = true;

    if (systemwide == NULL)
        return status_of(STATUS_FAILED);
    errno = 0;
    if (process_list_count(system_list_processes(systemwide)) == 0)
        say("%s", _("no process is running with libmemtop"));
    else if (options->format == FORMAT_JSON)
        written = listing_json(stdout, system_list_processes(systemwide));
    else
        written =
            listing_text(stdout, system_list_processes(systemwide), unit_of(options));
    if (!written)
        output_lost(NULL, errno != 0 ? -errno : -ENOMEM);
    system_list_free(systemwide);
    return written ? 0 : status_of(STATUS_OUTPUT);
}

pid_t
attach_pick(const struct options *options)
{
    const struct picker_options wanted = {
        .colour = options_display_colour(options),
        .ascii = options->ascii,
        .unit = unit_of(options),
    };
    struct system_list *systemwide = observe();
    pid_t pid;

    if (systemwide == NULL)
        return -1;
    pid = picker_run(systemwide, &wanted);
    if (pid < 0)
        say(_("the display could not start (%s)"), strerror(errno));
    system_list_free(systemwide);
    return pid;
}

/* ---- by name ---- */

enum match { MATCH_NONE, MATCH_WORD, MATCH_PROGRAM };

/* Is name the last path component of the command's first word (MATCH_PROGRAM), or of
   another word before the first option (MATCH_WORD)? */
static enum match
match_command(const char *command, const char *name)
{
    enum match match = MATCH_PROGRAM;

    while (*command != '\0' && *command != '-') {
        size_t length = strcspn(command, " ");
        const char *word = command;

        for (const char *slash; (slash = memchr(word, '/', length)) != NULL;) {
            length -= (size_t)(slash + 1 - word);
            word = slash + 1;
        }
        if (strlen(name) == length && strncmp(word, name, length) == 0)
            return match;
        match = MATCH_WORD;
        command = word + length;
        command += strspn(command, " ");
    }
    return MATCH_NONE;
}

#define NAMESAKES 32 /* more are not listed */

/* The processes that match best so far. */
struct namesakes {
    const char *name;
    int best;
    unsigned count;
    struct {
        pid_t pid;
        char command[160];
    } list[NAMESAKES];
};

static void
note_namesake(struct namesakes *namesakes, int match, pid_t pid, const char *command)
{
    if (match > namesakes->best) {
        namesakes->best = match;
        namesakes->count = 0;
    }
    if (match < namesakes->best)
        return;
    if (namesakes->count < NAMESAKES) {
        namesakes->list[namesakes->count].pid = pid;
        snprintf(namesakes->list[namesakes->count].command,
                 sizeof namesakes->list->command, "%s", command);
    }
    namesakes->count++;
}

/* Notes matching processes with the library.  Reports an error and returns false if
   memory is short. */
static bool
find_observed(struct namesakes *namesakes)
{
    struct system_list *systemwide = observe();
    const struct process_list *process_list;

    if (systemwide == NULL)
        return false;
    process_list = system_list_processes(systemwide);
    for (size_t i = 0; i < process_list_count(process_list); i++) {
        const struct process_entry *entry = process_list_at(process_list, i);

        if (match_command(entry->command, namesakes->name) != MATCH_NONE)
            note_namesake(namesakes, MATCH_WORD, entry->pid, entry->command);
    }
    system_list_free(systemwide);
    return true;
}

/* Notes any process that matches, by its command or by the kernel's name for it (some
   programs overwrite their arguments).  Programs are better matches than scripts, and
   the user's own processes better than those of other users. */
static void
consider(void *context, pid_t pid)
{
    struct namesakes *namesakes = context;
    const char *name = namesakes->name;
    char command[sizeof namesakes->list->command], kernel_name[16], state;
    enum match match;
    uid_t real, effective;

    if (pid == getpid() || procfs_command(pid, command, sizeof command) < 0
        || command[0] == '[' /* a kernel thread, or a zombie */
        || procfs_uids(pid, &real, &effective) < 0)
        return;
    match = match_command(command, name);
    if (match != MATCH_PROGRAM && procfs_thread(pid, pid, kernel_name, &state) == 0
        && strncmp(kernel_name, name, sizeof kernel_name - 1) == 0)
        match = MATCH_PROGRAM;
    if (match != MATCH_NONE)
        note_namesake(namesakes,
                      real == getuid() || effective == geteuid() ? match + 2 : match, pid,
                      command);
}

static void
say_several(const struct namesakes *namesakes)
{
    say(_("several processes are called %s:"), namesakes->name);
    for (unsigned i = 0; i < namesakes->count && i < NAMESAKES; i++) {
        const char *command = namesakes->list[i].command;
        char clean[2 * sizeof namesakes->list->command];

        fprintf(stderr, "%8d  %s\n", (int)namesakes->list[i].pid,
                text_sanitise(clean, sizeof clean, command, strlen(command)));
    }
    if (namesakes->count > NAMESAKES)
        fprintf(stderr, "%8s\n", "...");
}

/* Prefers processes with the library to all others. */
static pid_t
find_by_name(const char *name)
{
    struct namesakes namesakes = {.name = name};

    if (!find_observed(&namesakes))
        return -1;
    if (namesakes.count == 0)
        procfs_each(consider, &namesakes);
    if (namesakes.count == 1)
        return namesakes.list[0].pid;
    if (namesakes.count == 0)
        say(_("no process with libmemtop is called %s; -l lists all of them"), name);
    else
        say_several(&namesakes);
    return -1;
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
        say(_("cannot look at process %d: it belongs to another user, or is protected"),
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
    return status_of(STATUS_FAILED);
}
