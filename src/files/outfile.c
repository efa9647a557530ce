/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whatever fails, what has been written can be read: the file never ends with an
   incomplete unit. */
#include "config.h"

#include "files/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens an existing file: a regular one only if replace, others always. */
static int
open_existing(const char *path, bool replace)
{
    struct stat st;
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    int error;

    if (fd < 0)
        return -errno;
    error = fstat(fd, &st) < 0 ? -errno : 0;
    if (error == 0 && S_ISREG(st.st_mode))
        error = !replace ? -EEXIST : ftruncate(fd, 0) < 0 ? -errno : 0;
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

int
outfile_create(struct outfile *file, const char *path, bool replace)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);

    if (fd < 0)
        fd = errno == EEXIST ? open_existing(path, replace) : -errno;
    *file = (struct outfile){.fd = fd};
    return fd < 0 ? fd : 0;
}

/* Writes all bytes.  Returns 0 or -errno; *done: how many were written. */
static int
write_all(int fd, const void *bytes, size_t size, size_t *done)
{
    *done = 0;
    while (*done < size) {
        ssize_t wrote = write(fd, (const char *)bytes + *done, size - *done);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? -errno : -EIO;
        *done += (size_t)wrote;
    }
    return 0;
}

int
outfile_append(struct outfile *file, const void *bytes, size_t size, size_t unit)
{
    size_t done;

    if (file->error != 0)
        return file->error;
    file->error = write_all(file->fd, bytes, size, &done);
    file->written += done - done % unit;
    if (file->error != 0 && done % unit != 0
        && ftruncate(file->fd, (off_t)file->written) < 0)
        return file->error; /* on a pipe the incomplete unit remains */
    return file->error;
}

int
outfile_close(struct outfile *file)
{
    if (close(file->fd) < 0 && file->error == 0)
        file->error = -errno;
    file->fd = -1;
    return file->error;
}
