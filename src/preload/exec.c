/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The exec family and posix_spawn.  They are passed on unchanged; the segment only notes
 * what is executed (layout.h, struct segment_exec).  Without that note a program that
 * ended by _exit() looks the same as one that executed another program without the
 * library, and the figures of the first would pass for those of the second.
 *
 * A child of vfork() runs on our memory and stack until it executes: its note lands in
 * its parent's segment, and it must not leave anything in a thread's variables, because
 * nothing of the library runs after a successful exec.  Its pid tells it from its parent.
 *
 * Not seen are exec by syscall(), and programs the C library itself starts (system,
 * popen).
 */
#include "config.h"

#include <alloca.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/public.h"
#include "preload/real.h"
#include "preload/state.h"

typedef char *const *strings;

/* Declared here because <spawn.h> gives the arguments other types, and execveat() came
   with glibc 2.34. */
PUBLIC int execveat(int directory, const char *path, strings argv, strings envp,
                    int flags);
PUBLIC int posix_spawn(pid_t *pid, const char *path, const void *actions,
                       const void *attributes, strings argv, strings envp);
PUBLIC int posix_spawnp(pid_t *pid, const char *file, const void *actions,
                        const void *attributes, strings argv, strings envp);

/* ---- notes ---- */

/* Where an exec was noted. */
enum note {
    NOTE_NONE = -2, /* no segment, or this call is part of one that is noted already */
    NOTE_OWN = -1,  /* for the process itself; 0 and above: an index in recent[] */
};

static struct segment_exec *
exec_block(void)
{
    return &mt_segment.process->exec;
}

static bool
keeps_library(strings envp)
{
    static const char variable[] = "LD_PRELOAD=", library[] = "libmemtop";

    for (; envp != NULL && *envp != NULL; envp++)
        if (strncmp(*envp, variable, sizeof variable - 1) == 0)
            for (const char *at = *envp; *at != '\0'; at++)
                if (strncmp(at, library, sizeof library - 1) == 0)
                    return true;
    return false;
}

/* Copies the end of text (NULL: empty): the end of a long path says more than its
   beginning. */
static void
copy_end(char *to, size_t size, const char *text)
{
    size_t length;

    if (text == NULL)
        text = "";
    length = strlen(text);
    if (length >= size) {
        text += length - (size - 1);
        length = size - 1;
    }
    memcpy(to, text, length);
    to[length] = '\0';
}

static enum note
note_own(const char *path, strings envp)
{
    struct segment_exec *exec = exec_block();

    if (__atomic_add_fetch(&exec->executing, 1, __ATOMIC_ACQ_REL) == 1) {
        copy_end(exec->path, sizeof exec->path, path);
        __atomic_store_n(&exec->flags, keeps_library(envp) ? 0 : EXEC_PRELOAD_REMOVED,
                         __ATOMIC_RELEASE);
    }
    return NOTE_OWN;
}

/* True if the pid has a note: a library behind us may reach its next function through us
   again. */
static bool
is_noted(const struct segment_exec *exec, uint32_t pid)
{
    for (unsigned i = 0; i < EXEC_RECENT; i++)
        if (__atomic_load_n(&exec->recent[i].pid, __ATOMIC_RELAXED) == pid)
            return true;
    return false;
}

static enum note
note_child(const char *path, uint32_t pid)
{
    struct segment_exec *exec = exec_block();
    uint64_t place;

    if (is_noted(exec, pid))
        return NOTE_NONE;
    place = __atomic_fetch_add(&exec->spawned, 1, __ATOMIC_ACQ_REL) % EXEC_RECENT;
    __atomic_store_n(&exec->recent[place].pid, pid, __ATOMIC_RELAXED);
    copy_end(exec->recent[place].name, EXEC_NAME_LEN, path);
    return (enum note)place;
}

/* Asking for our pid may be deadly in a sandbox, so nothing is noted there. */
static enum note
note_exec(const char *path, strings envp)
{
    uint32_t pid;

    if (mt_segment.header == NULL || mt_sandboxed)
        return NOTE_NONE;
    pid = (uint32_t)syscall(SYS_getpid);
    return pid == mt_segment.header->pid ? note_own(path, envp) : note_child(path, pid);
}

/* Removes the note because the exec has failed; errno is preserved. */
static int
take_back(enum note note, int result)
{
    struct segment_exec *exec;

    if (note == NOTE_NONE)
        return result;
    exec = exec_block();
    if (note == NOTE_OWN) {
        __atomic_sub_fetch(&exec->executing, 1, __ATOMIC_ACQ_REL);
    } else {
        __atomic_store_n(&exec->recent[note].pid, 0, __ATOMIC_RELAXED);
        __atomic_add_fetch(&exec->spawn_failed, 1, __ATOMIC_ACQ_REL);
    }
    return result;
}

/* ---- exec ---- */

static void
find_real(void)
{
    if (unlikely(mt_real.malloc == NULL))
        mt_real_resolve();
}

static int
pass_execve(const char *path, strings argv, strings envp)
{
    find_real();
    enum note note = note_exec(path, envp);
    return take_back(note, mt_real.execve(path, argv, envp));
}

static int
pass_execvp(const char *file, strings argv)
{
    find_real();
    enum note note = note_exec(file, environ);
    return take_back(note, mt_real.execvp(file, argv));
}

PUBLIC int
execve(const char *path, strings argv, strings envp)
{
    return pass_execve(path, argv, envp);
}

PUBLIC int
execv(const char *path, strings argv)
{
    find_real();
    enum note note = note_exec(path, environ);
    return take_back(note, mt_real.execv(path, argv));
}

PUBLIC int
execvp(const char *file, strings argv)
{
    return pass_execvp(file, argv);
}

PUBLIC int
execvpe(const char *file, strings argv, strings envp)
{
    find_real();
    enum note note = note_exec(file, envp);
    return take_back(note, mt_real.execvpe(file, argv, envp));
}

/* The name for an executed descriptor is argv[0]. */
static const char *
name_of(const char *path, strings argv)
{
    if (path != NULL && path[0] != '\0')
        return path;
    return argv != NULL && argv[0] != NULL ? argv[0] : "?";
}

PUBLIC int
fexecve(int file, strings argv, strings envp)
{
    find_real();
    enum note note = note_exec(name_of(NULL, argv), envp);
    return take_back(note, mt_real.fexecve(file, argv, envp));
}

PUBLIC int
execveat(int directory, const char *path, strings argv, strings envp, int flags)
{
    find_real();
    enum note note = note_exec(name_of(path, argv), envp);
    if (mt_real.execveat == NULL) /* before glibc 2.34 */
        return take_back(note,
                         (int)syscall(SYS_execveat, directory, path, argv, envp, flags));
    return take_back(note, mt_real.execveat(directory, path, argv, envp, flags));
}

/* ---- with arguments one by one ---- */

/* Counts the arguments before the NULL. */
static size_t
count_arguments(const char *first, va_list list)
{
    size_t count = 0;

    for (const char *argument = first; argument != NULL; argument = va_arg(list, char *))
        count++;
    return count;
}

/* Fills argv, which has space for the arguments and the NULL. */
static void
collect_arguments(char **argv, const char *first, va_list *list)
{
    *argv = (char *)(uintptr_t)first;
    while (*argv != NULL)
        *++argv = va_arg(*list, char *);
}

/* Declares argv, on the stack as the C library does; list is then positioned behind the
   NULL, and the caller ends it. */
#define COLLECT_ARGUMENTS(first)                                               \
    va_list list;                                                              \
    va_start(list, first);                                                     \
    char **argv = alloca((count_arguments(first, list) + 1) * sizeof *argv);   \
    va_end(list);                                                              \
    va_start(list, first);                                                     \
    collect_arguments(argv, first, &list)

PUBLIC int
execl(const char *path, const char *first, ...)
{
    COLLECT_ARGUMENTS(first);
    va_end(list);
    return pass_execve(path, argv, environ);
}

PUBLIC int
execlp(const char *file, const char *first, ...)
{
    COLLECT_ARGUMENTS(first);
    va_end(list);
    return pass_execvp(file, argv);
}

PUBLIC int
execle(const char *path, const char *first, ...)
{
    COLLECT_ARGUMENTS(first);
    strings envp = va_arg(list, strings);
    va_end(list);
    return pass_execve(path, argv, envp);
}

/* ---- posix_spawn ---- */

static int
note_spawned(int error, pid_t child, pid_t *pid, const char *path)
{
    if (error != 0)
        return error;
    if (pid != NULL)
        *pid = child;
    if (mt_segment.header != NULL)
        note_child(path, (uint32_t)child);
    return 0;
}

PUBLIC int
posix_spawn(pid_t *pid, const char *path, const void *actions, const void *attributes,
            strings argv, strings envp)
{
    pid_t child = 0;

    find_real();
    int error = mt_real.posix_spawn(&child, path, actions, attributes, argv, envp);
    return note_spawned(error, child, pid, path);
}

PUBLIC int
posix_spawnp(pid_t *pid, const char *file, const void *actions, const void *attributes,
             strings argv, strings envp)
{
    pid_t child = 0;

    find_real();
    int error = mt_real.posix_spawnp(&child, file, actions, attributes, argv, envp);
    return note_spawned(error, child, pid, file);
}
