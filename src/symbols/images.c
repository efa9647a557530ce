/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A path differs between mount namespaces, and a file may have been replaced since the
 * program mapped it.  So several places are tried, and the file found must have the build
 * id of the mapped one, or if there is none its inode.  If neither is known no file is
 * accepted.
 *
 * The root of a process is kept open, because its files are needed after it has ended,
 * too.
 */
#include "config.h"

#include "symbols/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/elffile.h"
#include "system/pidspace.h"
#include "system/procfs.h"

#define ROOTS 64

static struct root {
    pid_t pid;
    int descriptor;
} roots[ROOTS];
static unsigned newest;

/* The root directory of a process that is alive, or was when last seen; otherwise -1. */
static int
root_of(pid_t pid)
{
    char path[64];

    if (pid <= 0)
        return -1;
    for (unsigned i = 0; i < ROOTS; i++)
        if (roots[i].pid == pid)
            return roots[i].descriptor;
    snprintf(path, sizeof path, "/proc/%ld/root", (long)pid);
    int descriptor = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    struct root *place = &roots[newest++ % ROOTS];
    if (place->pid != 0)
        close(place->descriptor);
    *place = (struct root){pid, descriptor};
    return descriptor;
}

/* Never waits for the other end of a pipe, and never reads a device. */
#define HARMLESS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static int
open_in_root(int root, const char *path, int flags)
{
    const struct open_how how = {.flags = (unsigned)(HARMLESS | flags),
                                 .resolve = RESOLVE_IN_ROOT};

    if (root < 0 || path[0] != '/')
        return -ENOENT;
    long descriptor = syscall(SYS_openat2, root, path, &how, sizeof how);
    if (descriptor < 0 && errno == ENOSYS)
        descriptor = openat(root, path + 1, HARMLESS | flags);
    return descriptor >= 0 ? (int)descriptor : -errno;
}

/* Descriptors are closed by whoever has forked. */
void
images_forget(void)
{
    for (unsigned i = 0; i < ROOTS; i++)
        roots[i].pid = 0;
}

static int
open_beside(pid_t pid, const char *directory, const char *path)
{
    char full[PATH_MAX + 64];

    if (pid <= 0)
        return -ENOENT;
    snprintf(full, sizeof full, "/proc/%ld/%s%s", (long)pid, directory, path);
    int descriptor = open(full, HARMLESS);
    return descriptor >= 0 ? descriptor : -errno;
}

static int
open_here(const char *path)
{
    int descriptor = path[0] == '/' ? open(path, HARMLESS) : -1;

    return descriptor >= 0 ? descriptor : path[0] == '/' ? -errno : -ENOENT;
}

static bool
is_wanted(int descriptor, const struct question_file *file)
{
    uint8_t id[SYMBOLS_BUILD_ID_MAX];
    struct stat st;

    if (fstat(descriptor, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    if (file->build_id_size > 0)
        return elffile_build_id(descriptor, id, sizeof id) == (int)file->build_id_size
               && memcmp(id, file->build_id, file->build_id_size) == 0;
    return file->inode == st.st_ino;
}

/* Returns whether descriptor is the wanted file; otherwise closes it and sets *error.
   "Another file" says more than "no file". */
static bool
judge(int descriptor, const struct question_file *file, int *error)
{
    if (descriptor >= 0 && is_wanted(descriptor, file))
        return true;
    if (descriptor >= 0) {
        close(descriptor);
        *error = -ESTALE;
    } else if (*error == -ENOENT) {
        *error = descriptor;
    }
    return false;
}

/* Opens what the process has mapped at the address, whatever has become of its path.
   Needs privileges; without them the kernel refuses. */
static int
open_mapped(const struct question_file *file)
{
    char path[96], range[64] = "", *line = NULL;
    size_t room = 0;
    FILE *maps;

    if (file->pid <= 0 || file->mapped == 0)
        return -ENOENT;
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)file->pid);
    maps = fopen(path, "re");
    while (maps != NULL && range[0] == '\0' && getline(&line, &room, maps) > 0) {
        uint64_t start, end;

        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2
            && start == file->mapped)
            snprintf(range, sizeof range, "%" PRIx64 "-%" PRIx64, start, end);
    }
    free(line);
    if (maps != NULL)
        fclose(maps);
    return range[0] != '\0' ? open_beside(file->pid, "map_files/", range) : -ENOENT;
}

int
images_open(const struct question_file *file)
{
    int error = -ENOENT;
    int found;

    if (file->build_id_size == 0 && file->inode == 0)
        return -ENOENT;
    found = open_in_root(root_of(file->pid), file->path, 0);
    if (judge(found, file, &error))
        return found;
    if (file->path[0] == '/')
        found = open_here(file->path);
    else
        found = open_beside(file->pid, "cwd/", file->path);
    if (judge(found, file, &error))
        return found;
    /* What the process executes and has mapped can be read even if its file was deleted
       or replaced; only a build id tells whether this is the right file. */
    int unsaid = 0;
    found = file->build_id_size > 0 ? open_beside(file->pid, "exe", "") : -ENOENT;
    if (judge(found, file, &unsaid))
        return found;
    found = open_mapped(file);
    return judge(found, file, &unsaid) ? found : error;
}

/* ---- generated code ---- */

void
images_find_owner(struct question_file *file)
{
    uid_t real, effective;
    char path[64];
    FILE *status;

    snprintf(path, sizeof path, "/proc/%ld/status", (long)file->pid);
    status = fopen(path, "re");
    if (status == NULL)
        return;
    pid_t own = pidspace_parse_own(status);
    fclose(status);
    if (own > 0)
        file->own_pid = own;
    if (procfs_uids(file->pid, &real, &effective) == 0)
        file->owner = effective;
}

static bool
is_map(int descriptor, const struct question_file *file)
{
    struct stat st;

    return fstat(descriptor, &st) == 0 && S_ISREG(st.st_mode)
           && (st.st_uid == file->owner || st.st_uid == 0);
}

int
images_open_map(const struct question_file *file)
{
    char path[64];
    int root = root_of(file->pid);

    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)file->own_pid);
    int descriptor = open_in_root(root, path, O_NOFOLLOW);
    if (descriptor < 0 && (root < 0 || file->own_pid != file->pid)) {
        snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)file->pid);
        descriptor = open(path, HARMLESS | O_NOFOLLOW);
        descriptor = descriptor < 0 ? -errno : descriptor;
    }
    if (descriptor < 0 || is_map(descriptor, file))
        return descriptor;
    close(descriptor);
    return -EACCES;
}
