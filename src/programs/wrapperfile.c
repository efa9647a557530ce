/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the user's file of wrappers. */
#include "config.h"

#include "programs/wrapperfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/i18n.h"
#include "monitor/wrappers.h"
#include "programs/say.h"

#define BYTES_MAX ((size_t)1 << 20)

/* Returns false if the user has no place for such files. */
static bool
find_path(char *path, size_t size)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length;

    if (config != NULL && config[0] == '/')
        length = snprintf(path, size, "%s/memtop/wrappers", config);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, size, "%s/.config/memtop/wrappers", home);
    else
        return false;
    return length > 0 && (size_t)length < size;
}

/* Opens the file and finds its size; returns the descriptor or -errno. */
static int
open_list(const char *path, size_t *length)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    int error = 0;

    if (descriptor < 0)
        return -errno;
    if (fstat(descriptor, &st) != 0)
        error = -errno;
    else if (!S_ISREG(st.st_mode))
        error = -EINVAL;
    else if ((uint64_t)st.st_size > BYTES_MAX)
        error = -EFBIG;
    if (error == 0) {
        *length = (size_t)st.st_size;
        return descriptor;
    }
    close(descriptor);
    return error;
}

static void
tell(void *context, unsigned line, const char *text)
{
    const char *path = context;

    say(_("%s, line %u: '%s' is not a pattern"), path, line, text);
}

/* Returns 0 or -errno. */
static int
add_list(int descriptor, size_t length, char *path)
{
    const struct wrappers_fault fault = {path, tell};
    char *text = malloc(length + 1);
    size_t have = 0;
    ssize_t got = 1;

    if (text == NULL)
        return -ENOMEM;
    while (have < length && got > 0) {
        got = read(descriptor, text + have, length - have);
        have += got > 0 ? (size_t)got : 0;
    }
    int error = got < 0 ? -errno : wrappers_add(text, have, &fault) ? 0 : -ENOMEM;
    free(text);
    return error;
}

void
wrapperfile_read(void)
{
    char path[PATH_MAX];
    size_t length = 0;

    if (!find_path(path, sizeof path))
        return;
    int descriptor = open_list(path, &length);
    int error = descriptor < 0 ? descriptor : add_list(descriptor, length, path);
    if (descriptor >= 0)
        close(descriptor);
    if (error != 0 && error != -ENOENT && error != -ENOTDIR)
        say(_("cannot read %s: %s"), path, strerror(-error));
}
