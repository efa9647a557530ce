/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memtop never overwrites a file: an existing regular file is refused before the program
 * starts.
 */
#include "config.h"

#include "programs/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "programs/say.h"
#include "base/i18n.h"

/* ---- the rule ---- */

static bool lost;        /* some output was lost */
static bool lost_stdout; /* ... on the standard output */

static bool
is_stdout(const char *name)
{
    return name == NULL || strcmp(name, "-") == 0;
}

void
output_say(const char *name, int error)
{
    say(_("cannot write %s: %s"), is_stdout(name) ? _("the standard output") : name,
        strerror(-error));
}

void
output_lost(const char *name, int error)
{
    output_say(name, error);
    lost = true;
    lost_stdout = lost_stdout || is_stdout(name);
}

void
output_lost_as(const char *format, ...)
{
    char words[2 * PATH_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    say("%s", words);
    lost = true;
}

bool
output_whole(void)
{
    return !lost;
}

/* Closes the standard output, because some file systems report errors only then.  If it
   was closed from the beginning and nothing was written, nothing is lost. */
static void
close_stdout(void)
{
    bool failed = ferror(stdout), pending = __fpending(stdout) > 0;

    errno = EIO; /* if an earlier write failed, its errno is gone */
    if (fclose(stdout) != 0 && (pending || errno != EBADF))
        failed = true;
    if (failed && !lost_stdout)
        output_lost(NULL, -errno);
}

/* Runs at exit, because code that ends the program, such as argp, may leave text in a
   buffer. */
static void
end(int status, void *failure)
{
    close_stdout();
    if (status == 0 && lost_stdout)
        _exit(*(const int *)failure);
}

void
output_begin(int status)
{
    static int failure;

    failure = status;
    on_exit(end, &failure);
}

int
output_check_new(const char *path)
{
    char copy[PATH_MAX];
    struct stat st;

    if (lstat(path, &st) == 0)
        return S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
    if (errno != ENOENT)
        return -errno;
    snprintf(copy, sizeof copy, "%s", path);
    return access(dirname(copy), W_OK | X_OK) == 0 ? 0 : -errno;
}

/* ---- lines and report ---- */

/* Opens what exists already, unless it is a regular file. */
static int
open_existing(const char *name)
{
    struct stat st;
    int descriptor = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY);

    if (descriptor < 0)
        return -errno;
    if (fstat(descriptor, &st) == 0 && !S_ISREG(st.st_mode))
        return descriptor;
    close(descriptor);
    return -EEXIST;
}

int
output_open(struct output *output, const char *name)
{
    *output = (struct output){.file = stderr, .name = name};
    if (name == NULL)
        return 0;
    if (is_stdout(name)) {
        output->file = stdout;
        return 0;
    }

    int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    output->created = descriptor >= 0;
    if (descriptor < 0)
        descriptor = errno == EEXIST ? open_existing(name) : -errno;
    if (descriptor < 0)
        return descriptor;
    output->file = fdopen(descriptor, "w");
    return output->file != NULL ? 0 : -errno;
}

bool
output_check(struct output *output, bool ok)
{
    int error = errno != 0 ? errno : ENOMEM; /* without errno the reason is memory */

    if (!ok && !output->failed) {
        output->failed = true;
        if (output->name != NULL)
            output_lost(output->name, -error);
    }
    return !output->failed;
}

void
output_keep(struct output *output)
{
    FILE *file;

    if (output->name == NULL)
        return;
    file = open_memstream(&output->kept, &output->kept_size);
    if (file == NULL)
        /* Then the text is written directly. */
        return;
    output->place = output->file;
    output->file = file;
}

int
output_descriptor(const struct output *output)
{
    return fileno(output->place != NULL ? output->place : output->file);
}

/* Writes the kept text to its destination. */
static void
write_kept(struct output *output)
{
    if (output->place == NULL)
        return;
    if (fclose(output->file) != 0)
        output_check(output, false);
    output->file = output->place;
    output->place = NULL;
    if (!output->failed)
        output_check(output, fwrite(output->kept, 1, output->kept_size, output->file)
                                 == output->kept_size);
}

/* Flushes the file and closes it.  The standard streams stay open. */
static bool
close_file(FILE *file)
{
    bool ok;

    errno = EIO; /* if an earlier write failed, its errno is gone */
    ok = fflush(file) == 0 && !ferror(file);
    return (file == stderr || file == stdout || fclose(file) == 0) && ok;
}

void
output_close(struct output *output)
{
    write_kept(output);
    output_check(output, close_file(output->file));
    if (output->failed && output->kept != NULL)
        fwrite(output->kept, 1, output->kept_size, stderr);
    free(output->kept);
    *output = (struct output){.file = stderr, .failed = output->failed};
}

void
output_discard(struct output *output)
{
    if (output->created)
        unlink(output->name);
    if (output->file != stderr && output->file != stdout)
        fclose(output->file);
    output->file = stderr;
}
