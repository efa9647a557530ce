/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files for saved snapshots.  A file is either complete or absent, and nothing existing
 * is overwritten: names are tried until one is free.
 */
#include "config.h"

#include "report/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/i18n.h"
#include "report/blockreport.h"
#include "report/json.h"
#include "report/plot.h"
#include "report/png.h"

void
snapshot_name(char name[SNAPSHOT_NAME], pid_t pid, const char *suffix, int attempt)
{
    time_t now = time(NULL);
    struct tm local = {0};
    char number[16] = "";

    localtime_r(&now, &local);
    if (attempt > 1)
        snprintf(number, sizeof number, "-%d", attempt);
    snprintf(name, SNAPSHOT_NAME, "memtop-%d-%02d%02d%02d%s.%s", (int)pid, local.tm_hour,
             local.tm_min, local.tm_sec, number, suffix);
}

static bool
fail(char *text, size_t size, const char *format, const char *name)
{
    snprintf(text, size, format, name, strerror(errno));
    return false;
}

static FILE *
create(char name[SNAPSHOT_NAME], pid_t pid, const char *suffix)
{
    int descriptor = -1;
    FILE *file;

    for (int i = 1; i <= SNAPSHOT_TRIES && descriptor < 0; i++) {
        snapshot_name(name, pid, suffix, i);
        descriptor = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            return NULL;
    }
    if (descriptor < 0)
        return NULL;
    file = fdopen(descriptor, "w");
    if (file == NULL) {
        close(descriptor);
        unlink(name);
    }
    return file;
}

/* Closes a file; removes it if writing or closing failed. */
static bool
finish(FILE *file, const char *name, bool written, char *text, size_t size)
{
    written = written && fflush(file) == 0 && !ferror(file);
    if (!written)
        fail(text, size, _("cannot write %s: %s"), name);
    if (fclose(file) != 0 && written)
        written = fail(text, size, _("cannot write %s: %s"), name);
    if (written)
        snprintf(text, size, "%s", name);
    else
        unlink(name);
    return written;
}

bool
snapshot_save_text(const struct tracked *tracked, enum unit unit, char *text, size_t size)
{
    char name[SNAPSHOT_NAME];
    FILE *file = create(name, tracked->process.pid, "txt");

    if (file == NULL)
        return fail(text, size, _("cannot create %s: %s"), name);
    snapshot_write(file, tracked, unit);
    return finish(file, name, true, text, size);
}

bool
snapshot_save_json(const struct tracked *tracked, char *text, size_t size)
{
    const struct process *process = &tracked->process;
    char name[SNAPSHOT_NAME];
    FILE *file = create(name, process->pid, "json");

    if (file == NULL)
        return fail(text, size, _("cannot create %s: %s"), name);
    errno = ENOMEM; /* the only failure that sets no errno */
    return finish(file, name, report_json_snapshot(file, process), text, size);
}

bool
snapshot_save_blocks(const struct blocksizes *blocks, const char *command, pid_t pid,
                     char *text, size_t size)
{
    struct blockparams params;
    char name[SNAPSHOT_NAME];
    FILE *file = create(name, pid, "blocks.txt");
    const struct blockreport report = {
        .blocks = blocks, .params = &params, .caption = command, .runs = true};

    if (file == NULL)
        return fail(text, size, _("cannot create %s: %s"), name);
    blockparams_default(&params);
    errno = ENOMEM; /* the only failure that sets no errno */
    return finish(file, name, blockreport_text(file, &report), text, size);
}

bool
snapshot_save_png(const struct tracked *tracked, enum unit unit, const char *module,
                  char *text, size_t size)
{
    const struct plot_options options = {.unit = unit};
    const struct process *process = &tracked->process;
    struct plot *plot;
    char name[SNAPSHOT_NAME], remark[256];
    struct stat status;
    bool written = false;

    png_speak(module);
    plot = plot_new(process, tracked->history, tracked_command(tracked), &options);
    png_spoken();
    if (plot == NULL)
        return fail(text, size, "%s: %s", "memtop");
    for (int i = 1; i <= SNAPSHOT_TRIES; i++) {
        snapshot_name(name, process->pid, "png", i);
        if (lstat(name, &status) != 0)
            break;
    }
    written = png_write(plot, module, name, false, text, size);
    plot_free(plot);
    if (written) {
        snprintf(remark, sizeof remark, "%s", text);
        snprintf(text, size, *remark != '\0' ? "%s: %s" : "%s", name, remark);
    }
    return written;
}
