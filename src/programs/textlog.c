/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text log. memtop only says where it goes; the library writes it.  The name is made
 * absolute, because the program's children may run in other directories, and all write
 * to one file.
 */
#include "config.h"

#include "programs/textlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "programs/options.h"
#include "programs/output.h"
#include "programs/status.h"
#include "segment/logline.h"

/* Is it an inherited descriptor open for writing? memtop's own are close-on-exec. */
static int
check_descriptor(int fd)
{
    int flags = fcntl(fd, F_GETFD), mode = fcntl(fd, F_GETFL);

    if (fd == 0 || flags < 0 || (flags & FD_CLOEXEC) || (mode & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    return 0;
}

static int
make_absolute(const char *name, char target[PATH_MAX])
{
    size_t used = 0;

    if (name[0] != '/') {
        if (getcwd(target, PATH_MAX - 1) == NULL)
            return -errno;
        used = strlen(target);
        target[used++] = '/';
    }
    if (strlen(name) >= PATH_MAX - used)
        return -ENAMETOOLONG;
    strcpy(target + used, name);
    return 0;
}

/* Creates the file.  Something other than a regular file, such as a pipe, may exist. */
static int
create_file(const char *path, bool *created)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    struct stat st;

    if (fd >= 0) {
        close(fd);
        *created = true;
        return 0;
    }
    if (errno != EEXIST || stat(path, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    return S_ISREG(st.st_mode) ? -EEXIST : 0;
}

int
textlog_open(struct textlog *log, const char *word)
{
    int number, error;

    *log = (struct textlog){.name = word};
    if (word == NULL)
        return 0;
    number = logalloc_descriptor(word);
    if (number >= 0) {
        error = check_descriptor(number);
        snprintf(log->target, sizeof log->target, "%d", number);
    } else {
        error = make_absolute(word, log->target);
        if (error == 0)
            error = create_file(log->target, &log->created);
    }
    if (error == 0)
        return 0;
    output_lost(word, error);
    return status_of(STATUS_OUTPUT);
}

static void
look_at(void *context, const struct tree_segment *segment)
{
    struct textlog *log = context;
    struct reader *reader;

    if (log->error != 0 || tree_open(log->tree, segment, &reader) != 0)
        return;
    reader_log_error(reader, &log->error);
    reader_close(reader);
}

void
textlog_start(struct textlog *log, struct tree *tree)
{
    if (log->target[0] == '\0' || tree == NULL)
        return;
    log->tree = tree;
    tree_on_removal(tree, look_at, log);
}

void
textlog_finish(struct textlog *log)
{
    if (log->tree == NULL)
        return;
    tree_scan(log->tree);
    tree_each(log->tree, look_at, log);
    tree_off_removal(log->tree, look_at, log);
    log->tree = NULL;
    if (log->error != 0)
        output_lost(log->name, -log->error);
}

void
textlog_discard(struct textlog *log)
{
    if (log->created)
        unlink(log->target);
    log->created = false;
}
