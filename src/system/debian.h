/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What Debian's package manager knows of files. */
#ifndef MEMTOP_DEBIAN_H
#define MEMTOP_DEBIAN_H

#include <stdbool.h>
#include <stddef.h>

/* The name of the package that has installed the file at path, from dpkg's lists in a
   directory: normally DEBIAN_LISTS.  Returns false if there is none.  Reads some ten
   megabytes. */
#define DEBIAN_LISTS "/var/lib/dpkg/info"
bool debian_package(const char *lists, const char *path, char *package, size_t size);

#endif
