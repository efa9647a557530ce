/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses the reader by the kind of the file. */
#include "config.h"

#include "files/open.h"

#include <errno.h>
#include <stdio.h>

#include "base/i18n.h"
#include "files/archive.h"

struct opening {
    const char *path;
    const struct trace_progress *progress;
    char *why;
    size_t size;
};

static int
read_archive(const struct opening *opening, struct saved **out)
{
    FILE *file = fopen(opening->path, "re");

    if (file == NULL)
        return -errno;
    *out = archive_read(file, opening->why, opening->size);
    fclose(file);
    return *out != NULL ? 0 : -EBADMSG;
}

static int
read_data(const struct opening *opening, struct saved **out)
{
    int error = dat_session(opening->path, opening->progress, out);

    if (error == -EBADMSG)
        snprintf(opening->why, opening->size, "%s", _("too short for a data file"));
    return error;
}

static int
read_trace(const struct opening *opening, struct saved **out)
{
    return trace_session(opening->path, opening->progress, out);
}

static int (*const readers[KINDS])(const struct opening *opening, struct saved **out) = {
    [KIND_SESSION] = read_archive,
    [KIND_DAT] = read_data,
    [KIND_TRACE] = read_trace,
    [KIND_CSV] = read_trace,
    [KIND_LOG] = read_trace,
    [KIND_MUNGED] = read_trace,
};

int
open_saved(const char *path, enum file_kind kind, const struct trace_progress *progress,
           char *why, size_t size, struct saved **out)
{
    const struct opening opening = {path, progress, why, size};

    why[0] = '\0';
    return readers[kind](&opening, out);
}
