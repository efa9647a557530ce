/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* New files: they appear whole or not at all. */
#ifndef MEMTOP_FRESH_H
#define MEMTOP_FRESH_H

#include <stdbool.h>
#include <stdio.h>

/* Creates the file path with what write writes, which returns false (errno) if that
   failed.  What exists is left alone (-EEXIST).  0 or -errno. */
int fresh_write(const char *path, bool (*write)(FILE *out, void *context), void *context);

#endif
