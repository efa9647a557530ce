/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Saves the whole session, and exports of its allocation sites, beside the other snapshot
   files. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/i18n.h"
#include "report/snapshot.h"

/* Tries names until one is free: save gets context and a name. */
static bool
save_fresh(pid_t pid, const char *suffix, int (*save)(void *context, const char *name),
           void *context, char *text, size_t size)
{
    char name[SNAPSHOT_NAME];
    int error = -EEXIST;

    for (int i = 1; i <= SNAPSHOT_TRIES && error == -EEXIST; i++) {
        snapshot_name(name, pid, suffix, i);
        error = save(context, name);
    }
    if (error == 0)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, _("cannot write %s: %s"), name, strerror(-error));
    return error == 0;
}

static int
save_archive(void *archive, const char *name)
{
    return archive_save(archive, name);
}

bool
snapshot_save_session(const struct archive *archive, char *text, size_t size)
{
    struct archive copy = *archive;

    return save_fresh(session_shown(archive->session)->process.pid, "memtop",
                      save_archive, &copy, text, size);
}

struct request {
    const struct siteexport *export;
    enum siteexport_format format;
};

static int
save_export(void *context, const char *name)
{
    const struct request *request = context;

    return siteexport_save(request->format, request->export, name);
}

bool
snapshot_save_sites(const struct siteexport *export, enum siteexport_format format,
                    char *text, size_t size)
{
    struct request request = {export, format};

    return save_fresh(export->tracked->process.pid, siteexport_suffix(format) + 1,
                      save_export, &request, text, size);
}
