/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* New files, which appear complete or not at all. */
#ifndef MEMTOP_FRESH_H
#define MEMTOP_FRESH_H

#include <stdbool.h>
#include <stdio.h>

/* Creates the file path with what write writes; write returns false (errno) on failure.
   An existing file is not touched (-EEXIST).  Returns 0 or -errno. */
int fresh_write(const char *path, bool (*write)(FILE *out, void *context), void *context);

#endif
