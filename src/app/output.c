/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memtop never overwrites: an existing regular file is refused, before the
 * program starts.
 */
#include "config.h"

#include "app/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/say.h"
#include "i18n.h"

/* Something there already: only what cannot be overwritten. */
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
    if (strcmp(name, "-") == 0) {
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
    int error = errno;

    if (!ok && !output->failed) {
        output->failed = true;
        if (output->name != NULL)
            say(_("cannot write %s: %s"), output->name, strerror(error));
    }
    return !output->failed;
}

void
output_close(struct output *output)
{
    bool ok = fflush(output->file) == 0 && !ferror(output->file);

    if (output->file != stderr && fclose(output->file) != 0)
        ok = false;
    output_check(output, ok);
    output->file = stderr;
}

void
output_discard(struct output *output)
{
    if (output->created)
        unlink(output->name);
    if (output->file != stderr)
        fclose(output->file);
    output->file = stderr;
}
