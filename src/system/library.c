/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Searches places relative to the running executable first, so that a memtop always uses
 * the library it was built with.  Large buffers are static, because the stack may be
 * small (ulimit -s 32).
 */
#include "config.h"

#include "system/library.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Uses the file if it exists; otherwise adds the directory to searched. */
static bool
try_file(struct library_search *search, const char *directory, const char *name)
{
    static char candidate[PATH_MAX];
    size_t used = strlen(search->searched);
    int length = snprintf(candidate, sizeof candidate, "%s/%s", directory, name);

    /* The library is loaded by programs in other directories, so the path must not be
       relative. */
    if (length < (int)sizeof candidate && access(candidate, R_OK) == 0
        && realpath(candidate, search->path) != NULL)
        return true;
    snprintf(search->searched + used, sizeof search->searched - used, "%s%s",
             used ? ", " : "", directory);
    return false;
}

static bool
try_pattern(struct library_search *search, const char *pattern, const char *name)
{
    glob_t found;
    bool taken = false;

    if (glob(pattern, GLOB_ONLYDIR, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !taken; i++)
            taken = try_file(search, found.gl_pathv[i], name);
    }
    globfree(&found);
    return taken;
}

/* The directory of the running executable; NULL if unknown. */
static const char *
executable_directory(void)
{
    static char directory[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
    char *slash;

    if (length <= 0)
        return NULL;
    directory[length] = '\0';
    slash = strrchr(directory, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    return directory;
}

/* Tries beside the executable (a build tree).  Then, if the executable is where it was
   installed, tries that installation's directory before others, which may hold libraries
   of foreign architectures.  Then tries the lib, lib64 and multiarch directories of a
   moved tree, with subdirectory appended. */
static bool
try_near_executable(struct library_search *search, const char *installed,
                    const char *subdirectory, const char *name)
{
    static const char *const trees[] = {"/../lib*", "/../lib/*-linux-*"};
    const char *executable = executable_directory();
    static char place[PATH_MAX + 64];

    if (executable == NULL)
        return false;
    if (try_file(search, executable, name))
        return true;
    if (strcmp(executable, BINDIR) == 0 && try_file(search, installed, name))
        return true;
    if (strpbrk(executable, "*?[\\") != NULL)
        return false;
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        snprintf(place, sizeof place, "%s%s%s", executable, trees[i], subdirectory);
        if (try_pattern(search, place, name))
            return true;
    }
    return false;
}

bool
library_find(struct library_search *search)
{
    const char *given = getenv("MEMTOP_LIBRARY");

    *search = (struct library_search){0};
    if (given != NULL && *given) {
        if (access(given, R_OK) == 0 && realpath(given, search->path) != NULL)
            return true;
        snprintf(search->searched, sizeof search->searched, "%s", given);
        return false;
    }
    return try_near_executable(search, PRELOADDIR, "", "libmemtop.so")
           || try_file(search, PRELOADDIR, "libmemtop.so");
}

bool
library_find_module(const char *name, struct library_search *search)
{
    *search = (struct library_search){0};
    return try_near_executable(search, PKGLIBDIR, "/memtop", name)
           || try_file(search, PKGLIBDIR, name);
}

bool
library_find_catalogues(struct library_search *search)
{
    const char *executable = executable_directory();
    static char share[PATH_MAX + 16];

    *search = (struct library_search){0};
    if (executable != NULL) {
        if (try_file(search, executable, "catalogues"))
            return true;
        snprintf(share, sizeof share, "%s/../share", executable);
        if (strcmp(executable, BINDIR) != 0 && try_file(search, share, "locale"))
            return true;
    }
    return try_file(search, LOCALEDIR, "");
}
