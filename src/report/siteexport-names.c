/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of the formats and modes of exports. */
#include "config.h"

#include <string.h>

#include "report/siteexport.h"

static const struct {
    const char *name, *suffix;
} formats[] = {
    [SITEEXPORT_FOLDED] = {"folded", ".folded"},
    [SITEEXPORT_PPROF] = {"pprof", ".pb.gz"},
    [SITEEXPORT_MASSIF] = {"massif", ".massif"},
    [SITEEXPORT_JSON] = {"json", ".json"},
};

static const char *const modes[PROFILE_MODES] = {
    [PROFILE_LIVE] = "live",
    [PROFILE_PEAK] = "peak",
    [PROFILE_MADE] = "allocated",
    [PROFILE_SINCE] = "since-mark",
};

bool
siteexport_format_parse(const char *name, enum siteexport_format *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(name, formats[i].name) == 0) {
            *format = (enum siteexport_format)i;
            return true;
        }
    return false;
}

bool
siteexport_mode_parse(const char *name, enum profile_mode *mode)
{
    for (int i = 0; i < PROFILE_MODES; i++)
        if (strcmp(name, modes[i]) == 0) {
            *mode = (enum profile_mode)i;
            return true;
        }
    return false;
}

const char *
siteexport_mode_name(enum profile_mode mode)
{
    return modes[mode];
}

const char *
siteexport_suffix(enum siteexport_format format)
{
    return formats[format].suffix;
}
