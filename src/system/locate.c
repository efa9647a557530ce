/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library maps its segment shared and writable, from a file named PID.GENERATION.
 * The path belongs to the process's mount namespace: if ours has another file there, or
 * none, the segment is reached through /proc/PID/root.
 */
#include "config.h"

#include "system/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "system/procfs.h"
#include "base/i18n.h"
#include "segment/names.h"

static const char deleted[] = " (deleted)";

/* Removes the ending from the text; false if it has another one. */
static bool
cut_ending(char *text, const char *ending)
{
    size_t length = strlen(text), size = strlen(ending);

    if (length < size || strcmp(text + length - size, ending) != 0)
        return false;
    text[length - size] = '\0';
    return true;
}

int
locate_parse_maps(FILE *maps, char path[SEGMENT_PATH_MAX], uint64_t *inode)
{
    char line[PATH_MAX + 128], rights[8];
    int result = -ENODATA;

    while (fgets(line, sizeof line, maps) != NULL) {
        uint64_t offset, number;
        uint32_t generation;
        const char *name, *slash;
        pid_t pid;
        bool gone;
        int at = 0;

        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%*x-%*x %7s %" SCNx64 " %*x:%*x %" SCNu64 " %n", rights,
                   &offset, &number, &at)
                < 3
            || at == 0 || strcmp(rights, "rw-s") != 0 || offset != 0)
            continue;
        name = line + at;
        gone = cut_ending(line + at, deleted);
        slash = strrchr(name, '/');
        if (*name != '/' || strlen(name) >= SEGMENT_PATH_MAX
            || !segment_name_parse(slash + 1, &pid, &generation))
            continue;
        if (gone) {
            result = -ENOENT;
            continue;
        }
        strcpy(path, name);
        *inode = number;
        return 0;
    }
    return result;
}

static int
find_in_maps(pid_t pid, char path[SEGMENT_PATH_MAX], uint64_t *inode)
{
    char name[64];
    FILE *maps;
    int result;

    snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
    maps = fopen(name, "re");
    if (maps == NULL)
        return errno == ENOENT ? -ESRCH : errno == EPERM ? -EACCES : -errno;
    result = locate_parse_maps(maps, path, inode);
    fclose(maps);
    return result;
}

bool
locate_has_mapped(pid_t pid, uint64_t inode)
{
    char path[SEGMENT_PATH_MAX];
    uint64_t mapped;

    return find_in_maps(pid, path, &mapped) == 0 && mapped == inode;
}

/* Finds the directory of the path, as memtop can reach it. */
static int
reach(pid_t pid, const char *path, uint64_t inode, struct located *out)
{
    const char *slash = strrchr(path, '/');
    struct stat st;
    const char *root = "";
    char through[64];
    int length;

    if (stat(path, &st) < 0 || st.st_ino != inode) {
        snprintf(through, sizeof through, "/proc/%ld/root", (long)pid);
        root = through;
    } else if (st.st_uid == getuid() || st.st_uid == geteuid()) {
        /* The file is ours, whatever user the process has become. */
        out->real = getuid();
        out->effective = geteuid();
    }
    length = snprintf(out->directory, sizeof out->directory, "%s%.*s", root,
                      (int)(slash - path), path);
    if (length < (int)sizeof out->directory && access(out->directory, R_OK | X_OK) == 0)
        return 0;
    out->directory[0] = '\0';
    return errno == ENOENT ? -ENOENT : -EACCES;
}

int
locate_segment(pid_t pid, struct located *out)
{
    char path[SEGMENT_PATH_MAX];
    struct procfs_stat stat;
    uint64_t inode;
    int result = procfs_stat(pid, &stat);

    if (result || stat.state == 'Z' || stat.state == 'X')
        return -ESRCH;
    *out = (struct located){.start_boottime_ns = procfs_boottime_ns(stat.start_ticks)};
    if (procfs_uids(pid, &out->real, &out->effective))
        return -ESRCH;
    result = find_in_maps(pid, path, &inode);
    if (result == 0)
        result = reach(pid, path, inode, out);
    return result == -ENODATA ? 0 : result;
}

/* ---- why there is no place for segments ---- */

/* Any user can make the first directory for another user's segments; memtop must then say
   so. */

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
