/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A line of progress that overwrites itself and is removed at the end. */
#include "config.h"

#include "programs/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/textwidth.h"
#include "base/clock.h"

#define QUIET_NS INT64_C(300000000) /* shorter waits show no progress */

void
progress_begin(struct progress *progress, const char *path)
{
    *progress = (struct progress){
        path, isatty(STDERR_FILENO) ? clock_ns(CLOCK_MONOTONIC) : -1, -1};
}

void
progress_tell(void *context, uint64_t done, uint64_t all)
{
    struct progress *progress = context;
    int percent = all > 0 ? (int)((double)done * 100 / (double)all) : 0;
    char name[256];

    if (progress->since_ns < 0 || percent == progress->shown
        || clock_ns(CLOCK_MONOTONIC) - progress->since_ns < QUIET_NS)
        return;
    progress->shown = percent;
    fputc('\r', stderr);
    /* TRANSLATORS: a file, and how much of it is read. */
    fprintf(stderr, _("Loading %s %d %%"),
            text_sanitise(name, sizeof name, progress->path, strlen(progress->path)),
            percent);
    fflush(stderr);
}

void
progress_end(const struct progress *progress)
{
    if (progress->shown >= 0)
        fputs("\r\033[K", stderr);
}
