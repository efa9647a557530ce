/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits for the helper process that finds names, until the user stops that. */
#include "config.h"

#include "programs/names.h"

#include <poll.h>

#include "programs/say.h"
#include "base/i18n.h"
#include "monitor/profile.h"
#include "system/signals.h"
#include "monitor/tracked.h"
#include "base/clock.h"
#include "monitor/naming.h"

#define PATIENCE_MS 200

/* Has a signal asked memtop to end? */
static bool
told_to_end(void)
{
    struct signal_event event;
    bool told = false;

    while (signals_fd() >= 0
           && signals_next(false, clock_ns(CLOCK_MONOTONIC), &event))
        told |= event.action == SIGNAL_FORWARD || event.action == SIGNAL_REACHED
                || event.action == SIGNAL_QUIT || event.action == SIGNAL_DETACH;
    return told;
}

/* Kept for further processes, because processes of a tree share files. */
static struct naming *naming;

static bool
begin_naming(bool debuginfod)
{
    const struct symbols_options options = {.debuginfod = debuginfod};

    if (naming == NULL)
        naming = naming_new(&options);
    return naming != NULL;
}

void
names_hold(struct session *session, const struct tracked *tracked, bool debuginfod)
{
    if (tracked->profile != NULL && !tracked->process.ended && begin_naming(debuginfod))
        naming_hold(naming, session, tracked);
}

void
names_find(struct session *session, const struct tracked *tracked, bool debuginfod)
{
    struct progress line;
    int64_t run_ns;

    if (session_saved(session) != NULL || tracked->profile == NULL
        || !profile_known(tracked->profile, &run_ns))
        return;
    if (!begin_naming(debuginfod))
        return;
    progress_begin(&line, _("names of functions"));
    while (!naming_wait(naming, session, tracked, PATIENCE_MS) && !told_to_end()) {
        const struct symbols_progress progress = naming_progress(naming);
        progress_tell(&line, progress.answered, progress.asked);
    }
    progress_end(&line);
}

void
names_end(void)
{
    naming_free(naming);
    naming = NULL;
}
