/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The whole session beside the other files of a moment. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "i18n.h"
#include "report/snapshot.h"

bool
snapshot_save_session(const struct archive *archive, char *text, size_t size)
{
    pid_t pid = session_shown(archive->session)->process.pid;
    char name[SNAPSHOT_NAME];
    int error = -EEXIST;

    for (int i = 1; i <= SNAPSHOT_TRIES && error == -EEXIST; i++) {
        snapshot_name(name, pid, "memtop", i);
        error = archive_save(archive, name);
    }
    if (error == 0)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, _("cannot write %s: %s"), name, strerror(-error));
    return error == 0;
}
