/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which kinds of files fit which use.  The messages name programs and options as they
   are typed. */
#include "config.h"

#include "programs/uses.h"

#include <stddef.h>
#include <string.h>

#include "programs/say.h"
#include "base/i18n.h"

#define BIT(kind) (1u << (kind))
#define CALLS (BIT(KIND_TRACE) | BIT(KIND_CSV) | BIT(KIND_LOG) | BIT(KIND_MUNGED))

bool
use_fits(enum file_use use, enum file_kind kind)
{
    static const unsigned fitting[] = {
        [USE_SHOW] = BIT(KIND_SESSION) | CALLS | BIT(KIND_DAT),
        [USE_DRAW] = CALLS | BIT(KIND_DAT),
        [USE_CALLS] = CALLS,
        [USE_SITES] = BIT(KIND_SESSION),
        [USE_MUNGE] = BIT(KIND_LOG),
        [USE_REPLAY] = CALLS,
    };

    return fitting[use] & BIT(kind);
}

const char *
use_name(const char *path)
{
    return path == NULL || strcmp(path, "-") == 0 ? _("the standard input") : path;
}

/* The name of a kind, as in "FILE is a session, ...". */
static const char *
kind_name(enum file_kind kind)
{
    static const char *const names[KINDS] = {
        [KIND_SESSION] = N_("a session"),     [KIND_TRACE] = N_("a trace"),
        [KIND_CSV] = N_("a table of events"), [KIND_LOG] = N_("an allocation log"),
        [KIND_MUNGED] = N_("a munged log"),   [KIND_DAT] = N_("a data file"),
    };

    return _(names[kind]);
}

static bool
is_none_of_ours(const char *name, enum file_kind kind)
{
    const char *why =
        kind == KIND_EMPTY    ? _("it is empty")
        : kind == KIND_TEXT   ? _("it is text, but not of a kind that memtop reads")
        : kind == KIND_BINARY ? _("it is binary, but not of a kind that memtop reads")
                              : NULL;

    if (why != NULL)
        say(_("cannot read %s: %s"), name, why);
    return why != NULL;
}

void
use_refuse(const char *path, enum file_kind kind, enum file_use use)
{
    const char *name = use_name(path);

    if (is_none_of_ours(name, kind))
        return;
    if (use_fits(use, kind))
        /* TRANSLATORS: a file, then "a session" or another kind of file; so in the next
           ones. */
        say(_("%s is %s, which cannot be read from a pipe: copy it to a file first"),
            name, kind_name(kind));
    else if (use == USE_SITES)
        say(_("%s is %s, which has no allocation sites: memtop -r shows it, memtopstat "
              "draws it"),
            name, kind_name(kind));
    else if (kind == KIND_SESSION)
        say(_("%s is a session, which has no calls: memtop -r shows it, memtopstat "
              "--export exports its sites"),
            name);
    else if (kind == KIND_DAT)
        say(_("%s is a data file, which has no addresses: memtop -r shows it, memtopstat "
              "draws it"),
            name);
    else
        say(_("%s is %s, not an allocation log: memtop-replay takes it as it is"), name,
            kind_name(kind));
}

bool
use_file(const char *path, enum file_use use, enum file_kind *kind)
{
    int error = kind_of_file(path, kind);

    if (error != 0) {
        say(_("cannot read %s: %s"), path, strerror(-error));
        return false;
    }
    if (*kind == KIND_STREAM || use_fits(use, *kind))
        return true;
    use_refuse(path, *kind, use);
    return false;
}
