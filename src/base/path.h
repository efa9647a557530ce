/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of files. */
#ifndef MEMTOP_PATH_H
#define MEMTOP_PATH_H

#include <string.h>

/* What follows the last slash of path, or all of it; points into path. */
static inline const char *
path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

#endif
