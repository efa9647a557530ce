/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libiberty knows the manglings of all compilers that Debian has, and bounds its
 * recursion.In a build without it names stay as the linker knows them.
 */
#include "config.h"

#include "symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#endif

/* The longest name that is demangled: output can be far longer than input. */
#define NAME_MAX_LENGTH 16384

/* Suffixes that gcc and clang add to functions they derive from another. */
static const char *const suffixes[] = {
    ".cold", ".part.", ".isra.", ".constprop.", ".lto_priv.", ".llvm.", ".localalias",
};

static size_t
length_without_suffix(const char *symbol)
{
    size_t length = strlen(symbol);

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const char *found = strstr(symbol, suffixes[i]);
        if (found != NULL && found != symbol && (size_t)(found - symbol) < length)
            length = (size_t)(found - symbol);
    }
    return length;
}

char *
demangle(const char *symbol)
{
    char *plain = strndup(symbol, length_without_suffix(symbol));

#ifdef HAVE_LIBIBERTY
    if (plain != NULL && strlen(plain) <= NAME_MAX_LENGTH) {
        char *name = cplus_demangle(plain, DMGL_AUTO | DMGL_ANSI);
        if (name != NULL) {
            free(plain);
            return name;
        }
    }
#endif
    return plain;
}
