/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A live process is examined itself (not-loaded.h).  For one that has ended only its file
 * and the note the library left behind are available.
 */
#include "config.h"

#include "system/executed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "system/not-loaded.h"
#include "system/preflight.h"
#include "segment/layout.h"

/* A relative path's directory is unknown, and a long path has lost its beginning. */
static bool
is_whole(const char *path)
{
    return path[0] == '/' && strlen(path) < EXEC_PATH_LEN - 1;
}

/* A reason found in the file itself. */
static const char *
reason_of_file(const char *path)
{
    static struct preflight preflight; /* contains many paths: too large for the stack */

    preflight_check(path, getenv("PATH"), &preflight);
    switch (preflight.reason) {
    case PREFLIGHT_STATIC:
        return _("it is statically linked");
    case PREFLIGHT_SETUID:
    case PREFLIGHT_SETGID:
    case PREFLIGHT_CAPABILITIES:
        return _("it is set-user-ID or has privileges");
    case PREFLIGHT_CLASS:
        return _("it is a program of another word size");
    case PREFLIGHT_LIBC:
        return _("it uses another C library");
    case PREFLIGHT_MISSING:
        return is_whole(path) ? _("no such file here: another root directory?") : NULL;
    default:
        return NULL;
    }
}

const char *
executed_reason(const char *path, bool preload_removed, pid_t pid)
{
    const char *reason = pid > 0 ? not_loaded_reason(pid) : reason_of_file(path);

    if (reason == NULL && preload_removed)
        reason = _("LD_PRELOAD was removed");
    return reason;
}

void
executed_text(char *text, size_t size, const char *before, const char *path,
              const char *reason)
{
    if (reason != NULL)
        /* TRANSLATORS: two programs; a reason: "it is statically linked". */
        snprintf(text, size,
                 _("%.60s executed %.120s, which did not load libmemtop (%s)"), before,
                 path, reason);
    else
        snprintf(text, size, _("%.60s executed %.120s, which did not load libmemtop"),
                 before, path);
}
