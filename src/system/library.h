/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds libmemtop.so and memtop's modules: in a build tree, in an installed tree that may
   have been moved, or in the configured directories. */
#ifndef MEMTOP_LIBRARY_H
#define MEMTOP_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct library_search {
    char path[PATH_MAX];      /* absolute, if found */
    char searched[1024];      /* if not: the directories searched, separated by ", " */
};

/* Finds $MEMTOP_LIBRARY if set (and then nothing else); otherwise libmemtop.so beside the
   running executable, in PRELOADDIR if the executable is in BINDIR, in ../lib* and
   ../lib/ARCH-linux-ABI relative to it, and in PRELOADDIR. */
bool library_find(struct library_search *search);

/* The same for a module such as "memtop-png.so", without the variable, in the directories
   memtop below the library directories. */
bool library_find_module(const char *name, struct library_search *search);

/* Finds the directory of the translations: catalogues beside the executable,
   ../share/locale relative to it unless it is in BINDIR, LOCALEDIR. */
bool library_find_catalogues(struct library_search *search);

#endif
