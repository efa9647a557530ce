/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exports of allocation sites.  Reports what failed, and why an export is empty;
   report/siteexport.h writes them. */
#include "config.h"

#include "programs/exports.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "programs/open.h"
#include "programs/output.h"
#include "programs/say.h"
#include "programs/status.h"
#include "base/i18n.h"
#include "monitor/together.h"
#include "monitor/tracked.h"
#include "report/site-words.h"
#include "base/textwidth.h"

#define LISTED_MAX 1024 /* size of the text that lists processes */

static bool
is_stdout(const char *file)
{
    return file == NULL || strcmp(file, "-") == 0;
}

static bool
is_for_nobody(enum siteexport_format format, const char *file)
{
    return is_stdout(file) && format == SITEEXPORT_PPROF && isatty(STDOUT_FILENO);
}

static void
say_for_nobody(void)
{
    output_lost_as("%s", _("cannot write pprof's binary format to a terminal: name a "
                           "file for it"));
}

static bool
write_out(enum siteexport_format format, const struct siteexport *export)
{
    if (is_for_nobody(format, NULL)) {
        say_for_nobody();
        return false;
    }
    if (siteexport_write(stdout, format, export) && fflush(stdout) == 0)
        return true;
    output_lost(NULL, -errno);
    return false;
}

static struct siteexport
export_of(const struct tracked *tracked, const struct site_choice *choice)
{
    return (struct siteexport){
        .profile = tracked->profile,
        .tracked = tracked,
        .mode = site_choice_mode(choice, PROFILE_LIVE),
        .filter = choice->filter_text != NULL ? &choice->filter : NULL,
        .survivors_ns = choice->survivors_ns,
    };
}

/* Would the export be empty?  So it is by default if the program has freed everything.
   pprof and massif files also contain what was allocated before, so they are never
   empty. */
static bool
is_empty(enum siteexport_format format, const struct siteexport *export)
{
    return (format == SITEEXPORT_FOLDED || format == SITEEXPORT_JSON)
           && siteexport_empty(export);
}

static void
say_empty(const struct siteexport *export)
{
    static const struct profile_table nothing = {.answer = PROFILE_ANSWERED};

    if (export->filter != NULL || export->survivors_ns > 0)
        say("%s", site_answer_text(&nothing, SITES_READY));
    else if (export->mode == PROFILE_LIVE)
        say("%s", _("no sampled block is alive, so nothing is exported "
                    "(--sites-mode=peak or --sites-mode=allocated exports those that "
                    "were)"));
}

static bool
write_file(enum siteexport_format format, const struct siteexport *export,
           const char *file)
{
    if (is_stdout(file))
        return write_out(format, export);
    int error = siteexport_save(format, export, file);
    if (error != 0)
        output_lost(file, error);
    return error == 0;
}

/* Are the sites known?  If not, reports why. */
static bool
is_known(const struct siteexport *export)
{
    const char *why = siteexport_unknown(export);

    if (why != NULL)
        output_lost_as(_("nothing to export: %s"), why);
    return why == NULL;
}

/* An empty file is written, too, because it says that there is nothing. */
static bool
write_profile(const struct siteexport *export, const struct exports_request *request)
{
    if (!is_known(export))
        return false;
    if (is_empty(request->format, export))
        say_empty(export);
    return write_file(request->format, export, request->file);
}

static bool
write_shown(const struct session *session, const struct exports_request *request,
            const struct site_choice *choice)
{
    const struct siteexport export = export_of(session_shown(session), choice);

    return write_profile(&export, request);
}

/* Exports the sum of all processes; what has changed since the mark is known only of the
   one that is shown. */
static bool
write_together(const struct exports *exports, const struct exports_request *request)
{
    const struct together how = {exports->name, exports->context};
    struct siteexport export =
        export_of(session_shown(exports->session), exports->choice);
    struct profile *profile = NULL;
    unsigned count;
    bool good;

    if (export.mode != PROFILE_SINCE)
        profile = together_profile(exports->session, &how, &count);
    if (profile != NULL)
        export.profile = profile;
    good = write_profile(&export, request);
    profile_free(profile);
    return good;
}

/* ---- one file per process ---- */

/* In a file's name, stands for the pid. */
#define NUMBER "%p"

static bool
is_of_each(const char *file)
{
    return file != NULL && strstr(file, NUMBER) != NULL;
}

struct each {
    const struct exports *exports;
    const struct exports_request *request;
    size_t written;
    bool good;
};

static bool
has_samples(const struct tracked *tracked)
{
    const struct sites_reading *reading = profile_digested(tracked->profile, NULL);

    return reading->sampled > 0 || reading->block_count > 0;
}

/* A failed write ends the export, because the next ones would fail as well. */
static bool
write_each(void *context, const struct tracked *tracked)
{
    struct each *each = context;
    const struct exports *exports = each->exports;
    const struct siteexport export = export_of(tracked, exports->choice);
    const char *file = each->request->file, *number = strstr(file, NUMBER);
    char path[PATH_MAX];

    if (siteexport_unknown(&export) != NULL || !has_samples(tracked)
        || is_empty(each->request->format, &export))
        return true;
    if (exports->name != NULL)
        exports->name(exports->context, exports->session, tracked);
    each->written++;
    snprintf(path, sizeof path, "%.*s%ld%s", (int)(number - file), file,
             (long)tracked->process.pid, number + strlen(NUMBER));
    each->good = write_file(each->request->format, &export, path);
    return each->good;
}

/* Returns false if a file could not be written, which is reported. */
static bool
write_all(const struct exports *exports, const struct exports_request *request)
{
    const struct tracked *shown = session_shown(exports->session);
    const struct siteexport export = export_of(shown, exports->choice);
    struct each each = {.exports = exports, .request = request};

    if (write_each(&each, shown))
        session_each_sampled(exports->session, write_each, &each);
    if (each.written == 0 && is_known(&export))
        say_empty(&export);
    return each.good;
}

bool
exports_check(const struct exports_request *requests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *file = requests[i].file;
        int error = is_stdout(file) ? 0 : output_check_new(file);

        if (is_for_nobody(requests[i].format, file))
            say_for_nobody();
        else if (error != 0)
            output_lost(file, error);
        else
            continue;
        return false;
    }
    return true;
}

void
exports_write(const struct exports *exports, const struct exports_request *requests,
              size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_of_each(requests[i].file))
            write_all(exports, &requests[i]);
        else
            write_together(exports, &requests[i]);
}

/* ---- of a session file ---- */

/* "4711 (sh), 4712 (./prog)" */
static bool
list_process(void *context, const struct tracked *tracked)
{
    char *text = context;
    size_t used = strlen(text);

    snprintf(text + used, LISTED_MAX - used, "%s%ld (%.40s)", used > 0 ? ", " : "",
             (long)tracked->process.pid, tracked_command(tracked));
    return used < LISTED_MAX - 100;
}

static bool
choose(struct session *session, const char *path, pid_t pid)
{
    char listed[LISTED_MAX] = "", clean[LISTED_MAX];

    if (pid == 0 || session_show(session, pid) == 0)
        return true;
    if (session_root(session)->profile != NULL)
        list_process(listed, session_root(session));
    session_each_sampled(session, list_process, listed);
    if (listed[0] == '\0')
        say(_("%s has no allocation sites of process %ld"), path, (long)pid);
    else
        say(_("%s has no allocation sites of process %ld, only of %s"), path, (long)pid,
            text_sanitise(clean, sizeof clean, listed, strlen(listed)));
    return false;
}

int
exports_file(const char *path, enum siteexport_format format,
             const struct site_choice *choice, pid_t pid, const char *file)
{
    const struct exports exports = {.session = open_session(path, USE_SITES),
                                    .choice = choice};
    const struct exports_request request = {format, file};
    bool good = false;

    if (exports.session == NULL)
        return status_of(STATUS_INPUT);
    if (choose(exports.session, path, pid))
        good = pid != 0           ? write_shown(exports.session, &request, choice)
               : is_of_each(file) ? write_all(&exports, &request)
                                  : write_together(&exports, &request);
    session_free(exports.session);
    return good ? 0 : status_of(STATUS_FAILED);
}
