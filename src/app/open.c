/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which kind a file is of, its first bytes tell.  Nothing runs yet and no signal is
 * caught: ^C ends memtop while it reads.
 */
#include "config.h"

#include "app/open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/say.h"
#include "i18n.h"
#include "monitor/saved.h"
#include "report/archive.h"
#include "report/textwidth.h"
#include "segment/clock.h"
#include "trace/dat-session.h"

#define QUIET_NS INT64_C(300000000) /* less needs no progress */

/* The line of progress. */
struct progress {
    const char *path;
    int64_t since_ns;
    int shown; /* percent, < 0 not yet */
};

static void
show_progress(void *context, uint64_t done, uint64_t all)
{
    struct progress *progress = context;
    int percent = all > 0 ? (int)(done * 100 / all) : 0;
    char name[256];

    if (percent == progress->shown
        || clock_ns(CLOCK_MONOTONIC) - progress->since_ns < QUIET_NS)
        return;
    progress->shown = percent;
    fputc('\r', stderr);
    /* TRANSLATORS: a file, and how much of it is read. */
    fprintf(stderr, _("Loading %s %d %%"),
            text_sanitise(name, sizeof name, progress->path, strlen(progress->path)),
            percent);
    fflush(stderr);
}

static void
end_progress(const struct progress *progress)
{
    if (progress->shown >= 0)
        fputs("\r\033[K", stderr);
}

static struct saved *
read_session(const char *path, FILE *file)
{
    char why[256];
    struct saved *saved = archive_read(file, why, sizeof why);

    if (saved == NULL)
        say(_("%s: not a memtop session: %s"), path, why);
    return saved;
}

static struct saved *
read_data(const char *path)
{
    struct progress progress = {path, clock_ns(CLOCK_MONOTONIC), -1};
    const struct dat_progress shown = {show_progress, &progress};
    struct saved *saved = NULL;
    int error = dat_session(path, isatty(STDERR_FILENO) ? &shown : NULL, &saved);

    end_progress(&progress);
    if (error == -EBADMSG)
        say(_("%s: not a memtop session: %s"), path, _("too short for a data file"));
    else if (error != 0)
        say(_("cannot read %s: %s"), path, strerror(-error));
    return saved;
}

static struct saved *
read_file(const char *path, FILE *file)
{
    char start[8];
    size_t got = fread(start, 1, sizeof start, file);

    if (ferror(file)) {
        say(_("cannot read %s: %s"), path, strerror(errno));
        return NULL;
    }
    rewind(file);
    if (archive_recognise(start, got))
        return read_session(path, file);
    if (dat_recognise(start, got))
        return read_data(path);
    if (got == 0)
        say(_("%s: not a memtop session: %s"), path, _("it is empty"));
    else
        say(_("%s: not a memtop session, nor a record of calls"), path);
    return NULL;
}

struct session *
open_session(const char *path)
{
    FILE *file = fopen(path, "re");
    struct session *session = NULL;
    struct saved *saved;

    if (file == NULL) {
        say(_("cannot read %s: %s"), path, strerror(errno));
        return NULL;
    }
    saved = read_file(path, file);
    fclose(file);
    if (saved != NULL) {
        session = session_new_saved(saved);
        if (session == NULL)
            say(_("cannot read %s: %s"), path, strerror(ENOMEM));
    }
    return session;
}
