/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Examines a program before it is started, step by step as the kernel and the C library
 * will: execvp's search, "#!" lines, the ELF file at their end, and whether the loader
 * will honour LD_PRELOAD for it (ld.so(8), "secure-execution mode").
 *
 * The verdict is a forecast: a program is refused only if exec is sure to refuse it.  In
 * doubt it is started, and the handshake with the library shows what is true.
 */
#include "config.h"

#include "system/preflight.h"

#include <endian.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/i18n.h"

/* The kernel reads this much of a file to find "#!" (BINPRM_BUF_SIZE), and
   follows this many interpreters (fs/exec.c, exec_binprm). */
#define HEAD_SIZE 256
#define INTERPRETERS_MAX 5

/* --- Finding the program --- */

/* Would execve accept the file?  Returns 0 or -errno. */
static int
check_executable(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (!S_ISREG(st.st_mode))
        return -EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : -errno;
}

/* Joins one element of PATH and the name; false if that is too long. */
static bool
join_path(const char *directory, size_t length, const char *name, char out[PATH_MAX])
{
    int size = length == 0
                   ? snprintf(out, PATH_MAX, "%s", name)
                   : snprintf(out, PATH_MAX, "%.*s/%s", (int)length, directory, name);
    return size > 0 && size < PATH_MAX;
}

/* Like execvp(3): continues after a file that may not be executed, and remembers it. */
static int
search_path(const char *name, const char *path, char out[PATH_MAX])
{
    int refused = 0;
    char candidate[PATH_MAX];

    for (const char *element = path;; element++) {
        size_t length = strcspn(element, ":");
        int error = join_path(element, length, name, candidate)
                        ? check_executable(candidate)
                        : -ENAMETOOLONG;
        /* A directory that may not be searched does not count as hiding the program. */
        bool refuses = (error == -EACCES || error == -EISDIR) && refused == 0
                       && access(candidate, F_OK) == 0;
        if (error == 0 || refuses)
            memcpy(out, candidate, sizeof candidate);
        if (error == 0)
            return 0;
        if (refuses)
            refused = error;
        element += length;
        if (*element == '\0')
            return refused != 0 ? refused : -ENOENT;
    }
}

/* Writes where execvp finds the program.  Returns 0, or -errno with the path the error is
   about in out. */
static int
resolve(const char *name, const char *path, char out[PATH_MAX])
{
    if (snprintf(out, PATH_MAX, "%s", name) >= PATH_MAX)
        return -ENAMETOOLONG;
    if (name[0] == '\0')
        return -ENOENT;
    if (strchr(name, '/') != NULL)
        return check_executable(name);
    return search_path(name, path != NULL ? path : "/bin:/usr/bin", out);
}

/* --- Following interpreters --- */

/* Splits the line after "#!" into the interpreter and the single argument the kernel
   makes of the rest.  Returns false if there is no interpreter. */
static bool
parse_interpreter(char *line, char **interpreter, char **argument)
{
    static const char blanks[] = " \t";

    line[strcspn(line, "\n")] = '\0';
    line += strspn(line, blanks);
    *interpreter = line;
    line += strcspn(line, blanks);
    if (*line != '\0')
        *line++ = '\0';
    *argument = line + strspn(line, blanks);
    return **interpreter != '\0';
}

/* Finds the program that env(1) will run, in place; NULL if that is unclear. */
static char *
parse_env(char *argument)
{
    bool split = strncmp(argument, "-S", 2) == 0;
    char *save = NULL;

    /* Without -S env gets the rest of the line as one word. */
    if (!split)
        return argument[0] != '\0' && argument[0] != '-' && strchr(argument, '=') == NULL
                   ? argument
                   : NULL;
    argument += 2;
    for (char *word = strtok_r(argument, " \t", &save); word != NULL;
         word = strtok_r(NULL, " \t", &save))
        if (word[0] != '-' && strchr(word, '=') == NULL)
            return strpbrk(word, "\"'\\$") == NULL ? word : NULL;
    return NULL;
}

static bool
is_env(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strcmp(slash != NULL ? slash + 1 : path, "env") == 0;
}

/* Is a file without "#!" taken for a shell script?  The shells' test: no NUL in its first
   line. */
static bool
is_text(const char *head, size_t size)
{
    const char *end = memchr(head, '\n', size);

    return memchr(head, '\0', end != NULL ? (size_t)(end - head) : size) == NULL;
}

/* Is the kernel configured for other formats (binfmt_misc)? */
static bool
other_formats(void)
{
    DIR *directory = opendir("/proc/sys/fs/binfmt_misc");
    const struct dirent *entry;
    bool found = false;

    if (directory == NULL)
        return false;
    while (!found && (entry = readdir(directory)) != NULL)
        found = entry->d_name[0] != '.' && strcmp(entry->d_name, "register") != 0
                && strcmp(entry->d_name, "status") != 0;
    closedir(directory);
    return found;
}

/* --- Judging --- */

static void
judge(struct preflight *out, enum preflight_verdict verdict, enum preflight_reason reason,
      bool preload)
{
    out->verdict = verdict;
    out->reason = reason;
    out->preload = preload;
}

static void
judge_error(struct preflight *out, int error)
{
    if (error == -EISDIR)
        judge(out, PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_DIRECTORY, false);
    else if (error == -EACCES || error == -EPERM)
        judge(out, PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_PERMISSION, false);
    else
        judge(out, PREFLIGHT_NOT_FOUND,
              out->count > 1 ? PREFLIGHT_NO_LOADER : PREFLIGHT_MISSING, false);
}

/* Do the file's capabilities (capabilities(7)) give a user other than root anything? */
static bool
has_capabilities(int descriptor)
{
    struct vfs_ns_cap_data data = {0};
    ssize_t size = fgetxattr(descriptor, "security.capability", &data, sizeof data);

    if (size < (ssize_t)XATTR_CAPS_SZ_1 || getuid() == 0)
        return false;
    return (le32toh(data.magic_etc) & VFS_CAP_FLAGS_EFFECTIVE) != 0
           || data.data[0].permitted != 0
           || (size >= (ssize_t)XATTR_CAPS_SZ_2 && data.data[1].permitted != 0);
}

/*
 * Will the loader be in secure-execution mode?  It will if the new effective ids differ
 * from the real ones (commoncap.c, cap_bprm_creds_from_file).  A set-user-ID program of
 * the user's own changes nothing.
 */
static enum preflight_reason
judge_privileges(int descriptor)
{
    struct stat st;
    struct statvfs fs;

    if (fstat(descriptor, &st) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1
        || (fstatvfs(descriptor, &fs) == 0 && (fs.f_flag & ST_NOSUID) != 0))
        return PREFLIGHT_NO_REASON;
    if ((st.st_mode & S_ISUID) != 0 && st.st_uid != getuid())
        return PREFLIGHT_SETUID;
    /* Without execute permission the bit means mandatory locking. */
    if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP)
        && st.st_gid != getgid())
        return PREFLIGHT_SETGID;
    return has_capabilities(descriptor) ? PREFLIGHT_CAPABILITIES : PREFLIGHT_NO_REASON;
}

/* Can the kernel run the other machine's programs, 32-bit beside 64-bit ones? */
static bool
is_companion(uint16_t own, uint16_t other)
{
    return (own == EM_X86_64 && other == EM_386) || (own == EM_AARCH64 && other == EM_ARM)
           || (own == EM_386 && other == EM_X86_64) || own == other;
}

/* memtop's own file; the library is of the same kind. */
static const struct elffile *
own_elf(void)
{
    static struct elffile own;
    static bool known;

    if (!known) {
        int descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        known = descriptor >= 0 && elffile_read(descriptor, &own) == 0;
        if (descriptor >= 0)
            close(descriptor);
    }
    return known ? &own : NULL;
}

static bool
judge_kind(struct preflight *out)
{
    const struct elffile *own = own_elf();

    if (own == NULL)
        return false;
    if (out->elf.machine != own->machine || out->elf.big_endian != own->big_endian) {
        if (is_companion(own->machine, out->elf.machine)
            && out->elf.class_bits != own->class_bits)
            judge(out, PREFLIGHT_NOT_OBSERVED, PREFLIGHT_CLASS, false);
        else if (other_formats())
            judge(out, PREFLIGHT_NOT_OBSERVED, PREFLIGHT_MACHINE, false);
        else
            judge(out, PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_MACHINE, false);
        return true;
    }
    if (out->elf.class_bits != own->class_bits)
        judge(out, PREFLIGHT_NOT_OBSERVED, PREFLIGHT_CLASS, false);
    return out->elf.class_bits != own->class_bits;
}

static bool
is_glibc_loader(const char *loader)
{
    const char *slash = strrchr(loader, '/');
    const char *name = slash != NULL ? slash + 1 : loader;

    return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld64.so", 7) == 0
           || strncmp(name, "ld.so", 5) == 0;
}

/* Examines a sound ELF program: can the library be preloaded and see its calls?  If
   preloading does no harm it is done even when this program cannot be observed, for its
   children. */
static void
judge_elf(struct preflight *out)
{
    const struct elffile *elf = &out->elf;

    if (judge_kind(out))
        return;
    if (elf->is_loader)
        return; /* ld.so PROGRAM: honours LD_PRELOAD */
    if (elf->sanitizer != NULL)
        judge(out, PREFLIGHT_NOT_OBSERVED, PREFLIGHT_SANITIZER, false);
    else if (!elf->dynamic)
        judge(out, PREFLIGHT_NOT_OBSERVED, PREFLIGHT_STATIC, true);
    else if (access(elf->loader, F_OK) != 0)
        judge(out, PREFLIGHT_NOT_FOUND, PREFLIGHT_NO_LOADER, false);
    else if (!is_glibc_loader(elf->loader))
        judge(out, PREFLIGHT_NOT_OBSERVED, PREFLIGHT_LIBC, false);
    else if (elf->allocator == ELFFILE_ALLOCATOR_MALLOC)
        judge(out, PREFLIGHT_NOT_OBSERVED, PREFLIGHT_ALLOCATOR, true);
    else if (elf->allocator != ELFFILE_ALLOCATOR_NONE)
        judge(out, PREFLIGHT_PARTLY, PREFLIGHT_ALLOCATOR, true);
}

static void
judge_binary(struct preflight *out, int descriptor)
{
    enum preflight_reason privileges = judge_privileges(descriptor);
    int error = elffile_read(descriptor, &out->elf);

    if (error == -ENOEXEC && !other_formats())
        judge(out, PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_FORMAT, false);
    else if (error == 0)
        judge_elf(out);
    if (privileges != PREFLIGHT_NO_REASON && preflight_exit_status(out) == 0)
        judge(out, PREFLIGHT_NOT_OBSERVED, privileges, false);
}

/* --- The walk from the program to the ELF file --- */

/* Appends the interpreter with that name; false if the walk ends there. */
static bool
enter(struct preflight *out, const char *name, const char *path)
{
    if (out->count > INTERPRETERS_MAX) {
        judge(out, PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_TOO_DEEP, false);
        return false;
    }
    int error = resolve(name, path, out->path[out->count++]);
    if (error != 0)
        judge_error(out, error);
    return error == 0;
}

/* Continues from a script to the interpreter in its first line; false at the end. */
static bool
enter_interpreter(struct preflight *out, char *line, const char *path)
{
    char *interpreter, *argument;
    char slashed[HEAD_SIZE + 3];

    if (!parse_interpreter(line, &interpreter, &argument)) {
        judge(out, PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_FORMAT, false);
        return false;
    }
    /* The kernel does not search PATH: a bare name is a file in the current directory. */
    snprintf(slashed, sizeof slashed, "%s%s",
             strchr(interpreter, '/') != NULL ? "" : "./", interpreter);
    if (!enter(out, slashed, path))
        return false;

    char *program = is_env(slashed) ? parse_env(argument) : NULL;
    if (program == NULL)
        return true;
    out->through_env = true;
    return enter(out, program, path);
}

/* Looks at the last file of the chain; true if there is another to look at. */
static bool
advance(struct preflight *out, const char *path)
{
    char head[HEAD_SIZE + 1] = {0};
    bool more = false;
    int descriptor = open(out->path[out->count - 1], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (descriptor < 0)
        return false; /* executable but not readable: exec will show */
    ssize_t size = pread(descriptor, head, HEAD_SIZE, 0);
    if (size >= 2 && memcmp(head, "#!", 2) == 0)
        more = enter_interpreter(out, head + 2, path);
    else if (size >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
        judge_binary(out, descriptor);
    else if (size >= 0 && is_text(head, (size_t)size))
        more = out->count == 1 && enter(out, "/bin/sh", path); /* as execvp does */
    else if (size >= 0 && !other_formats())
        judge(out, PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_FORMAT, false);
    close(descriptor);
    return more;
}

void
preflight_check(const char *name, const char *path, struct preflight *out)
{
    *out = (struct preflight){0};
    judge(out, PREFLIGHT_OK, PREFLIGHT_NO_REASON, true);
    if (enter(out, name, path))
        while (advance(out, path))
            ;
}

int
preflight_exit_status(const struct preflight *preflight)
{
    switch (preflight->verdict) {
    case PREFLIGHT_NOT_FOUND:
        return 127;
    case PREFLIGHT_NOT_EXECUTABLE:
        return 126;
    default:
        return 0;
    }
}

/* --- Saying it --- */

static const char *
allocator_name(enum elffile_allocator allocator)
{
    switch (allocator) {
    case ELFFILE_ALLOCATOR_JEMALLOC:
        return "jemalloc";
    case ELFFILE_ALLOCATOR_MIMALLOC:
        return "mimalloc";
    case ELFFILE_ALLOCATOR_TCMALLOC:
        return "tcmalloc";
    case ELFFILE_ALLOCATOR_GO:
        return "Go";
    default:
        return "malloc";
    }
}

/* A sentence with one %s for the program and, in some cases, another for a detail. */
static const char *
reason_format(const struct preflight *preflight)
{
    switch (preflight->reason) {
    case PREFLIGHT_NO_REASON:
        return "";
    case PREFLIGHT_MISSING:
        return strchr(preflight->path[0], '/') != NULL ? _("%s: no such program")
                                                       : _("%s: not found in PATH");
    case PREFLIGHT_NO_LOADER:
        return _("%s cannot run: its interpreter %s does not exist");
    case PREFLIGHT_PERMISSION:
        return _("%s is not executable (permission denied)");
    case PREFLIGHT_DIRECTORY:
        return _("%s is a directory, not a program");
    case PREFLIGHT_FORMAT:
        return _("%s is not a program in a format this system can execute");
    case PREFLIGHT_TOO_DEEP:
        return _("%s cannot run: its interpreters are nested too deeply");
    case PREFLIGHT_STATIC:
        return _("%s is statically linked");
    case PREFLIGHT_SETUID:
        return _("%s is set-user-ID");
    case PREFLIGHT_SETGID:
        return _("%s is set-group-ID");
    case PREFLIGHT_CAPABILITIES:
        return _("%s has file capabilities");
    case PREFLIGHT_CLASS:
        return _("%s is a %s-bit program, memtop is not");
    case PREFLIGHT_MACHINE:
        return _("%s is a program for another kind of machine");
    case PREFLIGHT_ALLOCATOR:
        return preflight->verdict == PREFLIGHT_NOT_OBSERVED
                   ? _("%s defines its own malloc")
                   : _("%s has an allocator of its own (%s)");
    case PREFLIGHT_LIBC:
        return _("%s uses another C library (%s)");
    case PREFLIGHT_SANITIZER:
        return _("%s is built with %s");
    }
    return "";
}

static const char *
reason_detail(const struct preflight *preflight)
{
    switch (preflight->reason) {
    case PREFLIGHT_NO_LOADER:
        return preflight->elf.dynamic ? preflight->elf.loader
                                      : preflight->path[preflight->count - 1];
    case PREFLIGHT_CLASS:
        return preflight->elf.class_bits == 64 ? "64" : "32";
    case PREFLIGHT_ALLOCATOR:
        return allocator_name(preflight->elf.allocator);
    case PREFLIGHT_LIBC:
        return preflight->elf.loader;
    case PREFLIGHT_SANITIZER:
        return preflight->elf.sanitizer;
    default:
        return "";
    }
}

void
preflight_message(const struct preflight *preflight, char *buffer, size_t size)
{
    unsigned last = preflight->count - 1;
    static char subject[2 * PATH_MAX + 128]; /* too large for a small stack */

    /* A missing loader is reported for the file that names it. */
    if (preflight->reason == PREFLIGHT_NO_LOADER && !preflight->elf.dynamic)
        last--;
    if (last == 0)
        snprintf(subject, sizeof subject, "%s",
                 preflight->path[0][0] != '\0' ? preflight->path[0] : "\"\"");
    else
        /* TRANSLATORS: subject of a sentence: interpreter, script.  */
        snprintf(subject, sizeof subject, _("%s, the interpreter of %s,"),
                 preflight->path[last], preflight->path[0]);
    snprintf(buffer, size, reason_format(preflight), subject, reason_detail(preflight));
}
