/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which kind a file is of, its first bytes tell.  Nothing runs yet and no signal is
 * caught: ^C ends memtop while it reads.
 */
#include "config.h"

#include "programs/open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "programs/progress.h"
#include "programs/say.h"
#include "programs/tracefile.h"
#include "base/i18n.h"
#include "monitor/saved.h"
#include "files/archive.h"
#include "files/dat-session.h"
#include "files/trace-session.h"

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
    struct progress progress;
    const struct trace_progress shown = {progress_tell, &progress};
    struct saved *saved = NULL;
    int error;

    progress_begin(&progress, path);
    error = dat_session(path, &shown, &saved);
    progress_end(&progress);
    if (error == -EBADMSG)
        say(_("%s: not a memtop session: %s"), path, _("too short for a data file"));
    else if (error != 0)
        say(_("cannot read %s: %s"), path, strerror(-error));
    return saved;
}

static struct saved *
read_trace(const char *path)
{
    struct progress progress;
    const struct trace_progress shown = {progress_tell, &progress};
    struct saved *saved = NULL;
    int error;

    progress_begin(&progress, path);
    error = trace_session(path, &shown, &saved);
    progress_end(&progress);
    if (error != 0)
        tracefile_say_error(path, error);
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
    if (tracefile_is(path))
        return read_trace(path);
    if (got == 0)
        say(_("%s: not a memtop session: %s"), path, _("it is empty"));
    else
        say(_("%s: not a memtop session, nor a record of calls"), path);
    return NULL;
}

struct session *
open_session(const char *path)
{
    struct session *session = NULL;
    struct saved *saved;
    FILE *file;

    /* It is read more than once, and a pipe may keep one waiting. */
    if (strcmp(path, "-") != 0 && tracefile_is_stream(path)) {
        say(_("%s is a pipe or a device: copy it to a file first"), path);
        return NULL;
    }
    file = fopen(path, "re");
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
