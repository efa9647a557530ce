/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file is written under a temporary name in its directory, synced, and given its name
   at the end unless that has been taken meanwhile. */
#include "config.h"

#include "base/fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

/* Writes and closes; returns 0 or -errno. */
static int
fill(int descriptor, bool (*write)(FILE *out, void *context), void *context)
{
    FILE *file = fdopen(descriptor, "w");
    int error = 0;

    if (file == NULL) {
        close(descriptor);
        return -ENOMEM;
    }
    if (!write(file, context))
        error = -errno;
    if (error == 0 && (fflush(file) != 0 || fsync(descriptor) != 0) && errno != EINVAL)
        error = -errno;
    if (fclose(file) != 0 && error == 0)
        error = -errno;
    return error;
}

/* Gives the file its name unless that is taken.  Not every file system has hard links. */
static int
publish(const char *temporary, const char *path)
{
    if (link(temporary, path) == 0) {
        unlink(temporary);
        return 0;
    }
    if (errno == EEXIST
        || renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) != 0)
        return -errno;
    return 0;
}

int
fresh_write(const char *path, bool (*write)(FILE *out, void *context), void *context)
{
    char temporary[PATH_MAX];
    int descriptor, error;

    if (access(path, F_OK) == 0)
        return -EEXIST;
    if (snprintf(temporary, sizeof temporary, "%s.%d.tmp", path, (int)getpid())
        >= (int)sizeof temporary)
        return -ENAMETOOLONG;
    descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return -errno;
    error = fill(descriptor, write, context);
    if (error == 0)
        error = publish(temporary, path);
    if (error != 0)
        unlink(temporary);
    return error;
}
