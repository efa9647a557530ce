/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connects the profile, which knows addresses, with symbols.h, which knows names.  Each
 * process image has a space of its own.  If the C library does not say which objects are
 * loaded, /proc does as long as the process lives.
 */
#include "config.h"

#include "monitor/naming.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/path.h"
#include "monitor/messages.h"
#include "monitor/tracked.h"

#define TOLD_MAX 16

struct naming {
    struct symbols *symbols;
    struct symbols_space *space; /* of this image */
    pid_t pid;
    unsigned generation;
    size_t mapped;               /* modules the reading had when they were passed on */
    size_t looked;               /* stacks known when /proc was last read */
    struct session *session;     /* the one being updated */
    const char *told[TOLD_MAX];  /* files already reported as changed */
    size_t told_count;
};

struct naming *
naming_new(const struct symbols_options *options)
{
    struct naming *naming = calloc(1, sizeof *naming);

    if (naming == NULL)
        return NULL;
    naming->symbols = symbols_new(options);
    if (naming->symbols != NULL)
        return naming;
    free(naming);
    return NULL;
}

void
naming_free(struct naming *naming)
{
    if (naming == NULL)
        return;
    symbols_free(naming->symbols);
    free(naming);
}

/* Makes a space for the process's current image, and frees that of an earlier one. */
static bool
follow_image(struct naming *naming, const struct process *process)
{
    const bool saved = session_saved(naming->session) != NULL;

    if (naming->space != NULL && naming->pid == process->pid
        && naming->generation == process->generations)
        return true;
    symbols_space_free(naming->space);
    naming->space = symbols_space(naming->symbols, saved ? 0 : process->pid);
    naming->pid = process->pid;
    naming->generation = process->generations;
    naming->mapped = naming->looked = 0;
    return naming->space != NULL;
}

static struct symbols_module
module_of(const struct site_module *from)
{
    struct symbols_module module = {.start = from->start,
                                    .end = from->end,
                                    .bias = from->bias,
                                    .path = from->path,
                                    .device = from->device,
                                    .inode = from->inode};

    module.build_id_size = (unsigned)from->build_id_size;
    memcpy(module.build_id, from->build_id, from->build_id_size);
    return module;
}

/* Finds the file of an object that was loaded later and has no build-id: only the mapping
   says which it is, as long as the process lives. */
static void
find_file(const struct naming *naming, struct symbols_module *module)
{
    char path[64], *line = NULL;
    size_t room = 0;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)naming->pid);
    maps = fopen(path, "re");
    while (maps != NULL && module->inode == 0 && getline(&line, &room, maps) > 0) {
        uint64_t start, inode;
        unsigned major, minor;

        if (sscanf(line, "%" SCNx64 "-%*x %*s %*x %x:%x %" SCNu64, &start, &major, &minor,
                   &inode) == 4
            && start == module->start) {
            module->device = makedev(major, minor);
            module->inode = inode;
        }
    }
    free(line);
    if (maps != NULL)
        fclose(maps);
}

/* ---- files that may vanish ---- */

/* Is path in a directory of files that do not stay? */
static bool
is_temporary(const char *path)
{
    static const char *const places[] = {"/tmp/", "/var/tmp/", "/dev/shm/", "/run/",
                                         "/memfd:"};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(path, places[i], strlen(places[i])) == 0)
            return true;
    return false;
}

/* Has the process another one of these, below /proc/PID, than memtop? */
static bool
differs(pid_t pid, const char *name)
{
    char path[64], own_path[64];
    struct stat own, other;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    snprintf(own_path, sizeof own_path, "/proc/self/%s", name);
    return stat(own_path, &own) == 0 && stat(path, &other) == 0
           && (own.st_dev != other.st_dev || own.st_ino != other.st_ino);
}

/* Does the process see other files than memtop? */
static bool
has_other_files(pid_t pid)
{
    return differs(pid, "ns/mnt") || differs(pid, "root/");
}

/* Finds the path of what is mapped at the module's start, while the process lives. */
static bool
find_mapped(const struct naming *naming, const struct symbols_module *module, char *out,
            size_t size)
{
    char path[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)naming->pid);
    maps = fopen(path, "re");
    while (maps != NULL && !found && getline(&line, &room, maps) > 0) {
        const char *slash = strchr(line, '/');
        uint64_t start;

        found = sscanf(line, "%" SCNx64 "-", &start) == 1 && start == module->start
                && slash != NULL;
        if (found)
            snprintf(out, size, "%.*s", (int)strcspn(slash, "\n"), slash);
    }
    free(line);
    if (maps != NULL)
        fclose(maps);
    return found;
}

/* A path that begins in a directory which the process may have left: where it is mapped,
   or where it probably is, in memtop's own directory or the program's.  The helper takes
   no file that is not the one that was mapped. */
static void
complete_path(const struct naming *naming, const struct tracked *tracked,
              struct symbols_module *module, char *path, size_t size)
{
    const char *program = tracked->process.identity.program;
    char *own = NULL;

    if (module->path[0] == '/' || module->path[0] == '\0'
        || session_saved(naming->session) != NULL)
        return;
    if (!find_mapped(naming, module, path, size)) {
        own = realpath(module->path, NULL);
        if (own != NULL)
            snprintf(path, size, "%s", own);
        else
            snprintf(path, size, "%.*s%s", (int)(path_name(program) - program), program,
                     module->path);
        free(own);
    }
    module->path = path;
}

/* Passes all modules on again whenever there are more.  One that a thread was just
   entering is missing in a reading and is not necessarily the last one of the next.
   Addresses that lay in no module may lie in a new one. */
static void
map_modules(struct naming *naming, const struct tracked *tracked)
{
    const struct sites_reading *reading = profile_reading(tracked->profile);
    bool saved = session_saved(naming->session) != NULL, hidden;

    if (naming->mapped == reading->module_count)
        return;
    hidden = !saved && has_other_files(naming->pid);
    for (size_t i = 0; i < reading->module_count; i++) {
        struct symbols_module module = module_of(&reading->modules[i]);
        char path[PATH_MAX];

        if (module.build_id_size == 0 && module.inode == 0 && !saved)
            find_file(naming, &module);
        complete_path(naming, tracked, &module, path, sizeof path);
        if (!symbols_map(naming->space, &module, 1))
            return;
        if (!saved && (hidden || is_temporary(module.path)))
            symbols_hold(naming->space, &module);
    }
    naming->mapped = reading->module_count;
    profile_reopen_names(tracked->profile);
}

/* Takes a line of /proc/PID/maps.  The bias of an object is the address of its first
   page, except for programs linked to a fixed address. */
static void
map_line(struct naming *naming, const char *line, uint64_t *first)
{
    uint64_t start, end, offset, inode;
    unsigned major, minor;
    char permissions[5];
    int path = 0;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
               &start, &end, permissions, &offset, &major, &minor, &inode, &path)
            != 7
        || line[path] != '/')
        return;
    if (offset == 0)
        *first = start;
    if (permissions[2] != 'x')
        return;
    const struct symbols_module module = {.start = start,
                                          .end = end,
                                          .bias = *first == 0x400000 ? 0 : *first,
                                          .path = line + path,
                                          .device = makedev(major, minor),
                                          .inode = inode};
    symbols_map(naming->space, &module, 1);
}

static void
map_from_proc(struct naming *naming)
{
    char path[64], *line = NULL;
    uint64_t first = 0;
    size_t room = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)naming->pid);
    file = fopen(path, "re");
    while (file != NULL && getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        map_line(naming, line, &first);
    }
    free(line);
    if (file != NULL)
        fclose(file);
}

/* Warns once about each file, because wrong names would be worse than none. */
static void
tell_changed(struct naming *naming, const char *module)
{
    for (size_t i = 0; i < naming->told_count; i++)
        if (naming->told[i] == module)
            return;
    if (naming->told_count == TOLD_MAX)
        return;
    naming->told[naming->told_count++] = module;
    session_say(naming->session, SEVERITY_WARNING,
                _("%s is no longer the file that the program has mapped: its functions "
                  "have no names"),
                module);
}

static const struct symbol *
name(void *context, uint64_t address)
{
    struct naming *naming = context;
    const struct symbol *symbol = symbols_at(naming->space, address);

    if (symbol->state == SYMBOL_FILE_CHANGED)
        tell_changed(naming, symbol->module);
    return symbol;
}

/* A process goes on generating code and naming it. */
static void
refresh_generated(struct naming *naming, const struct tracked *tracked)
{
    const uint64_t created = tracked->process.identity.created_boottime_ns;
    /* Unsigned, because the segment may claim any time. */
    uint64_t age_ns = (uint64_t)clock_ns(CLOCK_BOOTTIME) - created;
    uint64_t since_ns = (uint64_t)clock_ns(CLOCK_REALTIME) - age_ns;

    if (session_saved(naming->session) == NULL
        && symbols_refresh(naming->space, (int64_t)since_ns))
        profile_reopen_names(tracked->profile);
}

bool
naming_update(struct naming *naming, struct session *session,
              const struct tracked *tracked)
{
    struct profile *profile = tracked->profile;
    const struct profile_namer *known = session_namer(session);
    const struct profile_namer namer = {naming, name};
    const struct sites_reading *reading;

    if (profile == NULL)
        return false;
    if (known != NULL)
        return profile_resolve(profile, known);
    naming->session = session;
    if (!follow_image(naming, &tracked->process))
        return false;
    map_modules(naming, tracked);
    reading = profile_reading(profile);
    if (!reading->has_modules && reading->pool_count > naming->looked) {
        naming->looked = reading->pool_count;
        map_from_proc(naming);
    }
    refresh_generated(naming, tracked);
    return profile_resolve(profile, &namer);
}

void
naming_hold(struct naming *naming, struct session *session, const struct tracked *tracked)
{
    int64_t run_ns;

    if (tracked->profile == NULL || session_namer(session) != NULL
        || session_saved(session) != NULL || !profile_known(tracked->profile, &run_ns))
        return;
    naming->session = session;
    if (!follow_image(naming, &tracked->process))
        return;
    map_modules(naming, tracked);
    refresh_generated(naming, tracked);
    symbols_take(naming->symbols);
}

int
naming_descriptor(const struct naming *naming)
{
    return symbols_descriptor(naming->symbols);
}

bool
naming_take(struct naming *naming)
{
    return symbols_take(naming->symbols);
}

bool
naming_wait(struct naming *naming, struct session *session, const struct tracked *tracked,
            int timeout_ms)
{
    bool all;

    naming_update(naming, session, tracked);
    all = symbols_wait(naming->symbols, timeout_ms);
    naming_update(naming, session, tracked);
    return all;
}

struct symbols_progress
naming_progress(const struct naming *naming)
{
    return symbols_progress(naming->symbols);
}
