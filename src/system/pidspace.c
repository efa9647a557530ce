/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line NSpid of /proc/PID/status has a process's pid in each namespace down to its
 * own.  If memtop may not look at a process it does not learn its namespace: then the
 * process is not found, and never mistaken for another.
 */
#include "config.h"

#include "system/pidspace.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "system/procfs.h"
#include "base/array.h"
#include "segment/names.h"

struct pidspace_member {
    uint64_t pid_namespace;
    pid_t own, here;
};

struct pidspace {
    uint64_t ours;
    struct pidspace_member *members;
    size_t count, room;
};

uint64_t
pidspace_of(pid_t pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%ld/ns/pid", (long)pid);
    return stat(path, &st) == 0 ? st.st_ino : 0;
}

pid_t
pidspace_parse_own(FILE *status)
{
    static const char key[] = "NSpid:";
    char line[512];
    long own = 0;

    while (fgets(line, sizeof line, status) != NULL) {
        char *next = line + strlen(key), *end;

        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        for (long number; (number = strtol(next, &end, 10)) > 0 && end != next;
             next = end)
            own = number <= INT32_MAX ? number : 0;
        break;
    }
    return (pid_t)own;
}

static pid_t
own_number(const char *path)
{
    FILE *status = fopen(path, "re");
    pid_t own = 0;

    if (status != NULL) {
        own = pidspace_parse_own(status);
        fclose(status);
    }
    return own;
}

/* The pid that a directory entry is named after; 0 if it is not a pid. */
static pid_t
entry_number(const struct dirent *entry)
{
    char *end;
    long number = strtol(entry->d_name, &end, 10);

    return *end == '\0' && number > 0 && number <= INT32_MAX ? (pid_t)number : 0;
}

static void
add(struct pidspace *pidspace, const struct pidspace_member *member)
{
    if (ARRAY_GROW(pidspace->members, pidspace->room, pidspace->count + 1))
        pidspace->members[pidspace->count++] = *member;
}

static void
look_at(void *context, pid_t pid)
{
    struct pidspace *pidspace = context;
    struct pidspace_member member = {.pid_namespace = pidspace_of(pid), .here = pid};
    char path[64];

    if (member.pid_namespace == 0 || member.pid_namespace == pidspace->ours)
        return;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    member.own = own_number(path);
    if (member.own > 0)
        add(pidspace, &member);
}

struct pidspace *
pidspace_read(void)
{
    struct pidspace *pidspace = calloc(1, sizeof *pidspace);

    if (pidspace == NULL)
        return NULL;
    pidspace->ours = segment_pid_namespace();
    procfs_each(look_at, pidspace);
    return pidspace;
}

void
pidspace_free(struct pidspace *pidspace)
{
    if (pidspace == NULL)
        return;
    free(pidspace->members);
    free(pidspace);
}

pid_t
pidspace_find(const struct pidspace *pidspace, uint64_t pid_namespace, pid_t own)
{
    for (size_t i = 0; i < pidspace->count; i++)
        if (pidspace->members[i].pid_namespace == pid_namespace
            && pidspace->members[i].own == own)
            return pidspace->members[i].here;
    return 0;
}

pid_t
pidspace_search(const struct pidspace *pidspace, pid_t own,
                bool (*is_it)(void *context, pid_t pid), void *context)
{
    for (size_t i = 0; i < pidspace->count; i++)
        if (pidspace->members[i].own == own && is_it(context, pidspace->members[i].here))
            return pidspace->members[i].here;
    return 0;
}

size_t
pidspace_threads(pid_t pid, struct pidspace_thread *out, size_t capacity)
{
    char path[96];
    const struct dirent *entry;
    size_t count = 0;
    DIR *tasks;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    tasks = opendir(path);
    if (tasks == NULL)
        return 0;
    while (count < capacity && (entry = readdir(tasks)) != NULL) {
        pid_t here = entry_number(entry);

        if (here == 0)
            continue;
        snprintf(path, sizeof path, "/proc/%ld/task/%ld/status", (long)pid, (long)here);
        out[count] = (struct pidspace_thread){own_number(path), here};
        count += out[count].own > 0;
    }
    closedir(tasks);
    return count;
}
