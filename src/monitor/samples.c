/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills in what a reading lacks from the process's identity. */
#include "config.h"

#include "monitor/samples.h"

#include <stdio.h>

#include "segment/sites.h"

/* Unsigned, because the segment may claim any time. */
int64_t
samples_begin(const struct identity *identity, int64_t started_ns)
{
    return (int64_t)(identity->created_ns - (uint64_t)started_ns);
}

/* The loader has no name for the program itself. */
static void
name_main_module(const struct identity *identity, struct sites_reading *reading)
{
    for (size_t i = 0; i < reading->module_count; i++)
        if (reading->modules[i].path[0] == '\0')
            snprintf(reading->modules[i].path, sizeof reading->modules[i].path, "%.*s",
                     (int)SITE_PATH_LEN, identity->program);
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
