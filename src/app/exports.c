/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Says what failed, and why there is nothing in what was asked for; what is written is
   in report/siteexport.h. */
#include "config.h"

#include "app/exports.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/open.h"
#include "app/say.h"
#include "i18n.h"
#include "monitor/subject.h"
#include "report/site-words.h"
#include "report/textwidth.h"

#define LISTED_MAX 1024 /* bytes of the list of processes */

static bool
write_out(enum siteexport_format format, const struct siteexport *export)
{
    if (format == SITEEXPORT_PPROF && isatty(STDOUT_FILENO)) {
        say("%s", _("pprof's format is not for terminals: name a file for it"));
        return false;
    }
    if (siteexport_write(stdout, format, export) && fflush(stdout) == 0)
        return true;
    say(_("cannot write %s: %s"), _("the standard output"), strerror(errno));
    return false;
}

/* A program that has freed everything leaves nothing in the mode that is default;
   pprof's and massif's have what was there before, too. */
static void
say_if_empty(enum siteexport_format format, const struct siteexport *export)
{
    static const struct profile_table nothing = {.answer = PROFILE_ANSWERED};

    if ((format != SITEEXPORT_FOLDED && format != SITEEXPORT_JSON)
        || !siteexport_empty(export))
        return;
    if (export->filter != NULL || export->survivors_ns > 0)
        say("%s", site_answer_text(&nothing));
    else if (export->mode == PROFILE_LIVE)
        say("%s", _("no sampled block is alive: nothing of any is exported "
                    "(--sites-mode=peak or --sites-mode=allocated has those that were)"));
}

bool
exports_write(struct session *session, enum siteexport_format format,
              const struct site_choice *choice, const char *file)
{
    const struct subject *subject = session_shown(session);
    const struct siteexport export = {
        .profile = subject->profile,
        .subject = subject,
        .mode = site_choice_mode(choice, PROFILE_LIVE),
        .filter = choice->filter_text != NULL ? &choice->filter : NULL,
        .survivors_ns = choice->survivors_ns,
    };
    const char *why = siteexport_unknown(&export);

    if (why != NULL) {
        say(_("nothing to export: %s"), why);
        return false;
    }
    say_if_empty(format, &export);
    if (file == NULL || strcmp(file, "-") == 0)
        return write_out(format, &export);
    int error = siteexport_save(format, &export, file);
    if (error != 0)
        say(_("cannot write %s: %s"), file, strerror(-error));
    return error == 0;
}

/* "4711 (sh), 4712 (./prog)" */
static bool
list_process(void *context, const struct subject *subject)
{
    char *text = context;
    size_t used = strlen(text);

    snprintf(text + used, LISTED_MAX - used, "%s%ld (%.40s)", used > 0 ? ", " : "",
             (long)subject->process.pid, subject_command(subject));
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
        say(_("%s: no allocation sites of process %ld"), path, (long)pid);
    else
        say(_("%s: no allocation sites of process %ld, but of %s"), path, (long)pid,
            text_sanitise(clean, sizeof clean, listed, strlen(listed)));
    return false;
}

int
exports_file(const char *path, enum siteexport_format format,
             const struct site_choice *choice, pid_t pid, const char *file)
{
    struct session *session = open_session(path);
    bool good = session != NULL && choose(session, path, pid)
                && exports_write(session, format, choice, file);

    if (session != NULL)
        session_free(session);
    return good ? 0 : 1;
}
