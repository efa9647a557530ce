/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads files for display.  No program runs yet and no signal is caught, so ^C ends
   memtop. */
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
read_session(const char *path)
{
    char why[256];
    struct saved *saved;
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        say(_("cannot read %s: %s"), path, strerror(errno));
        return NULL;
    }
    saved = archive_read(file, why, sizeof why);
    fclose(file);
    if (saved == NULL)
        say(_("%s is not a memtop session: %s"), path, why);
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
        say(_("%s is not a memtop session: %s"), path, _("too short for a data file"));
    else if (error != 0)
        say(_("cannot read %s: %s"), path, strerror(-error));
    return saved;
}

static struct saved *
read_trace(const char *path, enum file_kind kind)
{
    struct progress progress;
    const struct trace_progress shown = {progress_tell, &progress};
    struct saved *saved = NULL;
    int error;

    progress_begin(&progress, path);
    error = trace_session(path, &shown, &saved);
    progress_end(&progress);
    if (error != 0)
        tracefile_say_error(path, error, kind, USE_SHOW);
    return saved;
}

struct session *
open_session(const char *path, enum file_use use)
{
    struct session *session = NULL;
    struct saved *saved;
    enum file_kind kind;

    if (!use_file(path, use, &kind))
        return NULL;
    /* The file is read more than once, and reading a pipe could block. */
    if (kind == KIND_STREAM) {
        say(_("%s is a pipe or a device: copy it to a file first"),
            use_name(path));
        return NULL;
    }
    saved = kind == KIND_SESSION ? read_session(path)
            : kind == KIND_DAT   ? read_data(path)
                                 : read_trace(path, kind);
    if (saved != NULL) {
        session = session_new_saved(saved);
        if (session == NULL)
            say(_("cannot read %s: %s"), path, strerror(ENOMEM));
    }
    return session;
}
