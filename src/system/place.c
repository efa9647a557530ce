/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any user can make the first directory for another user's segments; memtop must then say
   so. */
#include "config.h"

#include "system/place.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/i18n.h"
#include "segment/names.h"

#ifndef RAMFS_MAGIC
#define RAMFS_MAGIC 0x858458f6
#endif

static void
name_user(uid_t uid, char *name, size_t size)
{
    const struct passwd *user = getpwuid(uid);

    if (user != NULL)
        snprintf(name, size, "%s", user->pw_name);
    else
        snprintf(name, size, "%lu", (unsigned long)uid);
}

/* Looks at what is at the path, without following a link; false if there is nothing, or
   it is on a disk. */
static bool
look_at(const char *path, struct stat *st)
{
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct statfs fs;
    bool there;

    if (fd < 0)
        return false;
    there = fstat(fd, st) == 0 && fstatfs(fd, &fs) == 0
            && ((unsigned long)fs.f_type == TMPFS_MAGIC
                || (unsigned long)fs.f_type == RAMFS_MAGIC);
    close(fd);
    return there;
}

/* Says what is wrong with what is at the path; false if there is nothing the user could
   mend. */
static bool
judge(const char *path, char *text, size_t size)
{
    struct stat st;
    char user[64];

    if (!look_at(path, &st))
        return false;
    if (st.st_uid != geteuid()) {
        name_user(st.st_uid, user, sizeof user);
        snprintf(
            text, size,
            _("%.120s belongs to the user %.32s: have it removed, or set MEMTOP_DIR to "
              "a directory of your own in /dev/shm"),
            path, user);
    } else if (!S_ISDIR(st.st_mode)) {
        snprintf(text, size, _("%.150s is not a directory: remove it"), path);
    } else if (st.st_mode & 077) {
        snprintf(text, size, _("%.150s is open to other users: chmod 700 it"), path);
    } else {
        return false;
    }
    return true;
}

bool
place_fault(const char *memtop_dir, const char *runtime_dir, char *text, size_t size)
{
    char path[SEGMENT_PATH_MAX];

    text[0] = '\0';
    for (unsigned which = 0; which < DIRECTORIES; which++)
        if (segment_directory_path(which, memtop_dir, runtime_dir, path) == 0
            && judge(path, text, size))
            return true;
    return false;
}
