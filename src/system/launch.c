/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between fork and exec the child prepares everything itself: the pty as its terminal,
 * its segment (which contains its pid), its environment, and the signal dispositions
 * memtop inherited.  It reports through a pipe that exec closes: its segment, and why
 * exec failed.
 *
 * memtop's own descriptors are all close-on-exec; those it inherited belong to the
 * program and pass through.
 */
#include "config.h"

#include "system/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/i18n.h"
#include "system/locate.h"
#include "system/signals.h"
#include "base/clock.h"
#include "segment/names.h"
#include "segment/reader.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* Number of dead segments removed at a start: each takes microseconds. */
#define SWEEP_LIMIT 256

/* A report of the child; small enough for the pipe to take it at once. */
struct notice {
    enum { NOTICE_SEGMENT, NOTICE_FAILED } kind;
    int error; /* -errno, or 0 */
    char segment[SEGMENT_PATH_MAX];
};

/* What both sides of the fork use. */
struct launch {
    const struct launch_options *options;
    char preload[PATH_MAX]; /* path for LD_PRELOAD, or "" for none */
    int directory;          /* of segments, or -1 */
    const char *directory_path;
    pid_t keeper; /* memtop */
    int slave;    /* of the pty, or -1 */
    const bool *captured;
    int notices; /* the child's end of the pipe */
};

/* ---- the child ---- */

static void
tell(const struct launch *launch, const struct notice *notice)
{
    ssize_t written;

    do
        written = write(launch->notices, notice, sizeof *notice);
    while (written < 0 && errno == EINTR);
}

/* Makes the pty the controlling terminal, in place of the captured descriptors. */
static void
take_terminal(const struct launch *launch)
{
    if (launch->slave < 0)
        return;
    setsid();
    ioctl(launch->slave, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; fd++)
        if (launch->captured[fd])
            dup2(launch->slave, fd);
}

/* A file size limit is meant for what the program writes, so the segment is made under
   the highest limit we may set. */
static int
prepare_segment(const struct launch *launch, char path[SEGMENT_PATH_MAX])
{
    struct rlimit before, unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    bool known = getrlimit(RLIMIT_FSIZE, &before) == 0;
    int error;

    if (known && setrlimit(RLIMIT_FSIZE, &unlimited) < 0) {
        unlimited.rlim_cur = unlimited.rlim_max = before.rlim_max;
        setrlimit(RLIMIT_FSIZE, &unlimited);
    }
    error = segment_prepare(launch->directory, launch->directory_path, launch->keeper,
                            launch->options->ring_capacity, launch->options->sites,
                            path);
    if (known)
        setrlimit(RLIMIT_FSIZE, &before);
    return error;
}

/* Sets NAME to first, separator, second, or to second alone if first is empty. */
static void
set_joined(const char *name, const char *first, char separator, const char *second)
{
    char *value;

    if (first == NULL || !*first) {
        setenv(name, second, 1);
        return;
    }
    if (asprintf(&value, "%s%c%s", first, separator, second) < 0)
        return;
    setenv(name, value, 1);
    free(value);
}

/* A program built with AddressSanitizer refuses to start if any library comes before the
   sanitizer's; libmemtop passes its calls through. */
static void
let_sanitizers_start(void)
{
    const char *options = getenv("ASAN_OPTIONS");

    if (options == NULL || strstr(options, "verify_asan_link_order") == NULL)
        set_joined("ASAN_OPTIONS", options, ':', "verify_asan_link_order=0");
}

static void
set_environment(const struct launch *launch, const char *segment)
{
    const char *words = launch->options->memtop_options;
    char *ours;

    if (asprintf(&ours, "%s%skeep=%ld,segment=%s", words != NULL ? words : "",
                 words != NULL && *words ? "," : "", (long)launch->keeper, segment)
        < 0)
        return;
    /* The user's words come first, because the last one counts. */
    set_joined("MEMTOP_OPTIONS", getenv("MEMTOP_OPTIONS"), ',', ours);
    free(ours);
    if (launch->options->progname != NULL)
        setenv("MEMUSAGE_PROG_NAME", launch->options->progname, 1);
    if (launch->options->log != NULL)
        setenv("MALLOC_LOG", launch->options->log, 1);
    if (getenv("LD_PRELOAD") != NULL && *getenv("LD_PRELOAD"))
        set_joined("LD_PRELOAD", launch->preload, ':', getenv("LD_PRELOAD"));
    else
        setenv("LD_PRELOAD", launch->preload, 1);
    let_sanitizers_start();
}

static _Noreturn void
run_child(const struct launch *launch)
{
    struct notice notice = {.kind = NOTICE_SEGMENT};

    take_terminal(launch);
    if (launch->preload[0]) {
        notice.error = prepare_segment(launch, notice.segment);
        if (notice.error == 0)
            set_environment(launch, notice.segment);
        tell(launch, &notice);
    }
    signals_restore_in_child();
    execvp(launch->options->argv[0], launch->options->argv);
    notice = (struct notice){.kind = NOTICE_FAILED, .error = -errno};
    tell(launch, &notice);
    _exit(127);
}

/* ---- memtop ---- */

/* Makes a name for the library that LD_PRELOAD can hold.  Space and colon separate
   entries and $ starts a token (ld.so(8)).  A path with these is replaced by a link in
   the directory of segments, whose name depends only on the path. */
static bool
name_library(struct launch *launch)
{
    const char *library = launch->options->library;
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    char name[40], target[PATH_MAX];
    ssize_t length;

    if (strpbrk(library, " :$") == NULL) {
        if (strlen(library) >= sizeof launch->preload)
            return false;
        strcpy(launch->preload, library);
        return true;
    }
    for (const char *c = library; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    snprintf(name, sizeof name, "libmemtop-%016llx.so", (unsigned long long)hash);
    if (strpbrk(launch->directory_path, " :$") != NULL
        || (symlinkat(library, launch->directory, name) < 0 && errno != EEXIST))
        return false;
    length = readlinkat(launch->directory, name, target, sizeof target - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    snprintf(launch->preload, sizeof launch->preload, "%.*s/%s", SEGMENT_PATH_MAX,
             launch->directory_path, name);
    return strcmp(target, library) == 0;
}

/* Explains an error of segment_directory or segment_create to the user. */
static const char *
segment_error_text(int error)
{
    switch (error) {
    case -EMEDIUMTYPE:
        return segment_reason_text(REASON_NO_MEMORY_FS);
    case -EFBIG:
        return segment_reason_text(REASON_FILE_LIMIT);
    case -ENOSPC:
    case -EDQUOT:
        return segment_reason_text(REASON_NO_ROOM);
    default:
        return strerror(-error);
    }
}

/* Finds the directory of segments and the library's name; reports if one of them is
   missing. */
static void
prepare_library(struct launch *launch, struct launched *out)
{
    const char *memtop_dir = getenv("MEMTOP_DIR"),
               *runtime_dir = getenv("XDG_RUNTIME_DIR");

    if (launch->options->library == NULL)
        return;
    launch->directory = segment_directory(memtop_dir, runtime_dir, out->directory);
    if (launch->directory < 0) {
        if (!place_fault(memtop_dir, runtime_dir, out->why_no_segment,
                         sizeof out->why_no_segment))
            snprintf(out->why_no_segment, sizeof out->why_no_segment, "%s",
                     segment_error_text(launch->directory));
        out->directory[0] = '\0';
        return;
    }
    /* Removes segments of programs that an earlier memtop left running and that were
       killed since. */
    segment_sweep(launch->directory, segment_pid_namespace(), SWEEP_LIMIT, true);
    /* A comma would end the word segment=PATH in MEMTOP_OPTIONS. */
    if (strchr(out->directory, ',') != NULL || !name_library(launch)) {
        launch->preload[0] = '\0';
        snprintf(
            out->why_no_segment, sizeof out->why_no_segment,
            _("paths with a space, colon, comma or dollar sign cannot be preloaded"));
    }
}

/* The first of 0, 1, 2 that is a terminal, or -1; marks all that are in captured. */
static int
find_terminal(bool captured[3])
{
    int first = -1;

    for (int fd = 2; fd >= 0; fd--) {
        captured[fd] = isatty(fd);
        if (captured[fd])
            first = fd;
    }
    return first;
}

/* Opens a pty with the terminal's attributes and the requested size.  Returns 0 or
   -errno. */
static int
open_pty(int terminal, int rows, int cols, int *master, int *slave)
{
    char name[64];
    struct termios attributes;
    int error;

    *slave = -1;
    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*master < 0)
        return -errno;
    if (grantpt(*master) == 0 && unlockpt(*master) == 0
        && ptsname_r(*master, name, sizeof name) == 0)
        *slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*slave < 0) {
        error = errno ? -errno : -EIO;
        close(*master);
        *master = -1;
        return error;
    }
    if (tcgetattr(terminal, &attributes) == 0)
        tcsetattr(*slave, TCSANOW, &attributes);
    launch_resize(*master, rows, cols);
    return 0;
}

static int
prepare_terminal(struct launch *launch, struct launched *out)
{
    int terminal;

    if (!launch->options->capture)
        return 0;
    terminal = find_terminal(out->captured);
    if (terminal < 0)
        return 0;
    return open_pty(terminal, launch->options->rows, launch->options->cols, &out->pty,
                    &launch->slave);
}

/* Takes the child's reports until exec or its end closes the pipe.  Returns the error of
   the exec, or 0. */
static int
hear(int notices, struct launched *out)
{
    struct notice notice;
    int result = 0;
    ssize_t got;

    while ((got = read(notices, &notice, sizeof notice)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got != sizeof notice)
            break;
        if (notice.kind == NOTICE_FAILED)
            result = notice.error;
        else if (notice.error)
            snprintf(out->why_no_segment, sizeof out->why_no_segment,
                     _("cannot create a segment in %.100s: %s"), out->directory,
                     segment_error_text(notice.error));
        else
            memcpy(out->segment, notice.segment, sizeof out->segment);
    }
    return result;
}

static void
give_up(struct launched *out)
{
    while (waitpid(out->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (out->segment[0])
        unlink(out->segment);
    if (out->pty >= 0)
        close(out->pty);
    out->pty = -1;
    out->pid = -1;
}

/* Forks and waits for the child's reports.  Returns 0, or -errno with nothing running. */
static int
start(struct launch *launch, struct launched *out, const char **stage)
{
    int notices[2], result;

    *stage = "fork";
    if (pipe2(notices, O_CLOEXEC) < 0)
        return -errno;
    launch->notices = notices[1];
    out->started_ns = clock_ns(CLOCK_MONOTONIC);
    out->pid = fork();
    if (out->pid == 0)
        run_child(launch);
    result = out->pid < 0 ? -errno : 0;
    close(notices[1]);
    if (result == 0) {
        *stage = "exec";
        result = hear(notices[0], out);
        if (result)
            give_up(out);
    }
    close(notices[0]);
    return result;
}

int
launch_program(const struct launch_options *options, struct launched *out,
               const char **stage)
{
    struct launch launch = {.options = options, .directory = -1, .slave = -1};
    int result;

    *out = (struct launched){.argv = options->argv, .pid = -1, .pidfd = -1, .pty = -1};
    out->recorded = options->ring_capacity > 0;
    launch.captured = out->captured;
    launch.directory_path = out->directory;
    launch.keeper = getpid();
    *stage = "pty";
    result = prepare_terminal(&launch, out);
    if (result)
        return result;
    prepare_library(&launch, out);
    result = start(&launch, out, stage);
    if (launch.slave >= 0)
        close(launch.slave);
    if (launch.directory >= 0)
        close(launch.directory);
    if (result == 0)
        out->pidfd = (int)syscall(SYS_pidfd_open, out->pid, 0);
    else if (out->pty >= 0)
        close(out->pty), out->pty = -1;
    return result;
}

void
launch_resize(int pty, int rows, int cols)
{
    struct winsize size = {.ws_row = (unsigned short)rows,
                           .ws_col = (unsigned short)cols};

    if (pty >= 0)
        ioctl(pty, TIOCSWINSZ, &size);
}

int
launch_exit_status(int wait_status)
{
    if (WIFSIGNALED(wait_status))
        return 128 + WTERMSIG(wait_status);
    return WEXITSTATUS(wait_status);
}
