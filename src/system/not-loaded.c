/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why a process has not loaded the library.  Its mappings tell whether it could have
 * loaded it at all, the auxiliary vector whether it was allowed to, and its initial
 * environment whether it was asked to.  The process may have overwritten its environment
 * since; that does not matter, because only processes without the library are examined.
 */
#include "config.h"

#include "system/not-loaded.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/i18n.h"
#include "system/preflight.h"
#include "segment/layout.h"

static const char variable[] = "LD_PRELOAD=", library[] = "libmemtop.so";

bool
not_loaded_parse_environment(FILE *environment)
{
    size_t at = 0, matched = 0;
    int c;

    /* at: position in the variable's name, or behind it; matched: position in the
       library's. */
    while ((c = getc(environment)) != EOF) {
        if (c == '\0') {
            at = matched = 0;
        } else if (at < sizeof variable - 1) {
            at = c == variable[at] ? at + 1 : sizeof variable;
        } else if (at == sizeof variable - 1) {
            matched = c == library[matched] ? matched + 1 : c == library[0];
            if (matched == sizeof library - 1)
                return true;
        }
    }
    return false;
}

bool
not_loaded_parse_secure(FILE *auxv)
{
    unsigned long pair[2];

    while (fread(pair, sizeof pair, 1, auxv) == 1)
        if (pair[0] == AT_SECURE)
            return pair[1] != 0;
    return false;
}

static FILE *
open_file(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    return fopen(path, "re");
}

static bool
asks(pid_t pid, const char *name, bool (*parse)(FILE *file), bool otherwise)
{
    FILE *file = open_file(pid, name);
    bool result = otherwise;

    if (file != NULL) {
        result = parse(file);
        fclose(file);
    }
    return result;
}

/* The word size, in bits, of the program it executes; 0 if memtop may not look, or it is
   not an ELF file. */
static unsigned
word_size(pid_t pid)
{
    unsigned char identity[EI_NIDENT] = {0};
    FILE *file = open_file(pid, "exe");
    size_t got = file != NULL ? fread(identity, sizeof identity, 1, file) : 0;

    if (file != NULL)
        fclose(file);
    if (got != 1 || memcmp(identity, ELFMAG, SELFMAG) != 0)
        return 0;
    return identity[EI_CLASS] == ELFCLASS64 ? 64 : 32;
}

enum not_loaded_loader
not_loaded_parse_loader(FILE *maps)
{
    enum not_loaded_loader loader = LOADER_UNKNOWN;
    char line[PATH_MAX + 128];

    while (fgets(line, sizeof line, maps) != NULL) {
        const char *name = strrchr(line, '/');

        if (name != NULL && strncmp(name, "/ld-musl", 8) == 0)
            return LOADER_OTHER;
        if (name != NULL
            && (strncmp(name, "/ld-", 4) == 0 || strncmp(name, "/ld64.so", 8) == 0
                || strncmp(name, "/ld.so", 6) == 0))
            return LOADER_GLIBC;
        loader = LOADER_NONE;
    }
    return loader;
}

/* A reason found in the program itself. */
static const char *
reason_of_program(pid_t pid)
{
    unsigned bits = word_size(pid);
    enum not_loaded_loader loader;
    FILE *maps;

    if (bits == 0)
        return NULL;
    if (bits != 8 * sizeof(void *))
        return _("it is a program of another word size");
    maps = open_file(pid, "maps");
    if (maps == NULL)
        return NULL;
    loader = not_loaded_parse_loader(maps);
    fclose(maps);
    return loader == LOADER_NONE    ? _("it is statically linked")
           : loader == LOADER_OTHER ? _("it uses another C library")
                                    : NULL;
}

static bool
has_other_root(pid_t pid)
{
    char path[64];
    struct stat own, its;

    snprintf(path, sizeof path, "/proc/%ld/root/.", (long)pid);
    return stat("/", &own) == 0 && stat(path, &its) == 0
           && (own.st_dev != its.st_dev || own.st_ino != its.st_ino);
}

const char *
not_loaded_reason(pid_t pid)
{
    const char *reason = reason_of_program(pid);

    if (reason != NULL)
        return reason;
    if (asks(pid, "auxv", not_loaded_parse_secure, false))
        return _("it is set-user-ID or has privileges");
    if (!asks(pid, "environ", not_loaded_parse_environment, true))
        return _("started without LD_PRELOAD (env -i, sudo?)");
    if (has_other_root(pid))
        return _("it has another root directory");
    return NULL;
}

/* ---- programs that were executed ---- */

/* A live process is examined itself.  For one that has ended only its file and the note
   the library left behind are available. */

/* A relative path's directory is unknown, and a long path has lost its beginning. */
static bool
is_whole(const char *path)
{
    return path[0] == '/' && strlen(path) < EXEC_PATH_LEN - 1;
}

/* A reason found in the file itself. */
static const char *
reason_of_file(const char *path)
{
    static struct preflight preflight; /* contains many paths: too large for the stack */

    preflight_check(path, getenv("PATH"), &preflight);
    switch (preflight.reason) {
    case PREFLIGHT_STATIC:
        return _("it is statically linked");
    case PREFLIGHT_SETUID:
    case PREFLIGHT_SETGID:
    case PREFLIGHT_CAPABILITIES:
        return _("it is set-user-ID or has privileges");
    case PREFLIGHT_CLASS:
        return _("it is a program of another word size");
    case PREFLIGHT_LIBC:
        return _("it uses another C library");
    case PREFLIGHT_MISSING:
        return is_whole(path) ? _("no such file here: another root directory?") : NULL;
    default:
        return NULL;
    }
}

const char *
executed_reason(const char *path, bool preload_removed, pid_t pid)
{
    const char *reason = pid > 0 ? not_loaded_reason(pid) : reason_of_file(path);

    if (reason == NULL && preload_removed)
        reason = _("LD_PRELOAD was removed");
    return reason;
}

void
executed_text(char *text, size_t size, const char *before, const char *path,
              const char *reason)
{
    if (reason != NULL)
        /* TRANSLATORS: two programs; a reason: "it is statically linked". */
        snprintf(text, size,
                 _("%.60s executed %.120s, which did not load libmemtop (%s)"), before,
                 path, reason);
    else
        snprintf(text, size, _("%.60s executed %.120s, which did not load libmemtop"),
                 before, path);
}
