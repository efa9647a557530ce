/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where libmemtop.so and memtop's modules are: in a build tree, in an installed
   tree that may have been moved, or where they were configured to be. */
#ifndef MEMTOP_LIBRARY_H
#define MEMTOP_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct library_search {
    char path[PATH_MAX];      /* absolute, if found */
    char searched[1024];      /* else the directories, separated by ", " */
};

/* $MEMTOP_LIBRARY if set (and then nothing else), else libmemtop.so beside the
   running executable, in PRELOADDIR if that executable is in BINDIR, in ../lib* and
   ../lib/ARCH-linux-ABI seen from it, and in PRELOADDIR. */
bool library_find(struct library_search *search);

/* The same for a module such as "memtop-png.so", without the variable and in
   the folders memtop of the library directories. */
bool library_find_module(const char *name, struct library_search *search);

/* The directory of the translations: catalogues beside the executable, ../share/locale
   seen from it unless it is in BINDIR, LOCALEDIR. */
bool library_find_catalogues(struct library_search *search);

#endif
