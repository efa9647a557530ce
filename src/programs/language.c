/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The locale comes from the environment.  If it has not been generated, as in most
 * containers, C.UTF-8 is used instead, which glibc always has: its character set is
 * right for the terminal, and with LANGUAGE gettext still finds catalogues.  The
 * environment belongs to the program and is not changed.
 */
#include "config.h"

#include "programs/language.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/i18n.h"
#include "system/library.h"

/* Does the environment ask for a UTF-8 locale, whether it exists or not? */
static bool
asks_for_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *name = getenv(variables[i]);
        const char *charset = name != NULL ? strchr(name, '.') : NULL;

        if (name != NULL && *name != '\0')
            return charset != NULL
                   && (strncasecmp(charset, ".UTF-8", 6) == 0
                       || strncasecmp(charset, ".utf8", 5) == 0);
    }
    return false;
}

void
language_start(void)
{
    if (setlocale(LC_ALL, "") == NULL && asks_for_utf8())
        setlocale(LC_ALL, "C.UTF-8");
#if ENABLE_NLS
    static struct library_search catalogues; /* too large for a small stack */

    if (library_find_catalogues(&catalogues)) {
        bindtextdomain(PACKAGE, catalogues.path);
        textdomain(PACKAGE);
    }
#else
    setlocale(LC_MESSAGES, "C"); /* otherwise messages of the C library would be
                                    translated */
#endif
}
