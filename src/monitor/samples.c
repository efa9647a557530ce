/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills in what a reading lacks from the process's identity. */
#include "config.h"

#include "monitor/samples.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "segment/sites.h"

/* Unsigned, because the segment may claim any time. */
int64_t
samples_begin(const struct identity *identity, int64_t started_ns)
{
    return (int64_t)(identity->created_ns - (uint64_t)started_ns);
}

void
samples_started_as(const struct identity *identity, char *path, size_t size)
{
    const char *program = identity->program, *name = path_name(identity->args);
    bool absolute = identity->args[0] == '/';

    snprintf(path, size, "%.*s%s", absolute ? 0 : (int)(path_name(program) - program),
             program, absolute ? identity->args : name);
}

static bool
is_same_file(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev
           && a.st_ino == b.st_ino;
}

/* The loader has no name for the program itself.  Where that is a link, what it links to
   may be named after another program. */
static void
name_main_module(const struct identity *identity, struct sites_reading *reading)
{
    char path[SITE_PATH_LEN + 1];

    samples_started_as(identity, path, sizeof path);
    if (strcmp(path, identity->program) != 0 && !is_same_file(path, identity->program))
        snprintf(path, sizeof path, "%.*s", (int)SITE_PATH_LEN, identity->program);
    for (size_t i = 0; i < reading->module_count; i++) {
        char *name = reading->modules[i].path;

        if (name[0] == '\0' || strcmp(name, identity->program) == 0)
            memcpy(name, path, sizeof path);
    }
}

bool
samples_read(struct profile *profile, struct reader *reader,
             const struct identity *identity, int64_t run_ns, int64_t started_ns)
{
    struct sites_reading *reading = profile_reading(profile);

    if (sites_read(reader, reading) != 0)
        return false;
    name_main_module(identity, reading);
    return profile_digest(profile, run_ns, samples_begin(identity, started_ns));
}
