/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads files for display.  No program runs yet and no signal is caught, so ^C ends
   memtop. */
#include "config.h"

#include "programs/open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "programs/say.h"
#include "programs/tracefile.h"
#include "base/i18n.h"
#include "monitor/saved.h"
#include "files/open.h"

static struct saved *
read_saved(const char *path, enum file_kind kind, enum file_use use)
{
    struct progress progress;
    const struct trace_progress shown = {progress_tell, &progress};
    struct saved *saved = NULL;
    char why[256];
    int error;

    progress_begin(&progress, path);
    error = open_saved(path, kind, &shown, why, sizeof why, &saved);
    progress_end(&progress);
    if (why[0] != '\0')
        say(_("%s is not a memtop session: %s"), path, why);
    else if (error != 0)
        tracefile_say_error(path, error, kind, use);
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
    saved = read_saved(path, kind, use);
    if (saved != NULL) {
        session = session_new_saved(saved);
        if (session == NULL)
            say(_("cannot read %s: %s"), path, strerror(ENOMEM));
    }
    return session;
}
