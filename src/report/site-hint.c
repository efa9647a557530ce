/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs of a distribution have no symbol tables: those are in packages of their
   own. */
#include "config.h"

#include "report/site-hint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/path.h"
#include "base/textwidth.h"
#include "system/debian.h"

#define PLACES_MAX 512  /* of a stack; deeper ones are not counted */
#define FILES_MAX  32

struct nameless_file {
    const char *path;
    size_t functions;
};

static void
count_function(struct nameless_file *files, const char *path)
{
    for (unsigned i = 0; i < FILES_MAX; i++) {
        if (files[i].path != NULL && strcmp(files[i].path, path) != 0)
            continue;
        files[i].path = path;
        files[i].functions++;
        return;
    }
}

const char *
site_hint_file(const struct profile *profile, const struct profile_table *table,
               size_t rows)
{
    static struct profile_place places[PLACES_MAX];
    struct nameless_file files[FILES_MAX] = {{.path = NULL}};
    const struct nameless_file *most = files;

    for (size_t row = 0; row < table->count && row < rows; row++) {
        size_t count =
            profile_places(profile, table->rows[row].stack, places, PLACES_MAX);

        for (size_t i = 0; i < count && i < PLACES_MAX; i++)
            if (places[i].unnamed && !places[i].wrapper && places[i].module != NULL)
                count_function(files, places[i].module);
    }
    for (unsigned i = 1; i < FILES_MAX; i++)
        if (files[i].functions > most->functions)
            most = &files[i];
    return most->path;
}

/* Would servers be asked? */
static bool
has_servers(void)
{
#ifdef HAVE_LIBDW
    const char *urls = getenv("DEBUGINFOD_URLS");

    return urls != NULL && urls[0] != '\0';
#else
    return false;
#endif
}

/* That of what a link leads to.  The C library's has an older name. */
static bool
find_package(char *name, size_t size, const char *file)
{
    char package[128], *target = realpath(file, NULL);
    bool found = debian_package(DEBIAN_LISTS, target != NULL ? target : file, package,
                                sizeof package);

    free(target);
    if (!found)
        return false;
    snprintf(name, size, "%s%s", package,
             strcmp(package, "libc6") == 0 ? "-dbg" : "-dbgsym");
    return true;
}

bool
site_hint(char *text, size_t size, const char *file, bool servers_asked)
{
    char name[256], package[160];
    bool found = find_package(package, sizeof package, file);
    bool servers = has_servers() && !servers_asked;

    text_sanitise(name, sizeof name, path_name(file), strlen(path_name(file)));
    if (found && servers)
        snprintf(text, size,
                 _("Functions of %s have no names; a package %s may have them, or "
                   "servers (--debuginfod)."),
                 name, package);
    else if (found)
        snprintf(text, size,
                 _("Functions of %s have no names; a package %s may have them."), name,
                 package);
    else if (servers)
        snprintf(text, size,
                 _("Functions of %s have no names; servers may have them "
                   "(--debuginfod)."),
                 name);
    return found || servers;
}
