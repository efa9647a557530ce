/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is derived from successive readings of a tracked process.  The history and the
 * messages are always kept; snapshots to look back at cost more and are kept on request.
 */
#include "config.h"

#include "monitor/tracked.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/i18n.h"

/* A column of the widest terminal has two dots, so 512 samples a level suffice. */
#define HISTORY_SLOTS 512
/* A snapshot has 3.5 KiB.  They are not made more often than this, because each copies
   the histogram of every thread. */
#define CHECKPOINTS 512
#define CHECKPOINT_MIN_NS INT64_C(100000000)

bool
tracked_init(struct tracked *tracked)
{
    *tracked = (struct tracked){.history = history_new(HISTORY_SLOTS)};
    return tracked->history != NULL;
}

void
tracked_free(struct tracked *tracked)
{
    history_free(tracked->history);
    checkpoints_free(tracked->checkpoints);
    profile_free(tracked->profile);
    free(tracked->command);
}

void
tracked_restart(struct tracked *tracked)
{
    meter_restart(&tracked->meter, tracked->meter.at_ns);
    tracked->last = (struct snapshot){0};
    tracked->process.breakdown = (struct rss_breakdown){0};
    if (tracked->profile != NULL)
        profile_restart(tracked->profile);
}

/* 1536 -> "1.5 KiB": only for messages, where no column has to fit. */
static const char *
readable_size(uint64_t bytes, char buffer[32])
{
    /* Translated as in base/units.c. */
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    snprintf(buffer, 32, unit ? "%.1f %s" : "%.0f %s", value, _(units[unit]));
    return buffer;
}

static void
note_failures(struct tracked *tracked, struct session *session)
{
    static const char *const names[] = {
#define X(id, name) name,
        SEGMENT_FUNCTIONS(X)
#undef X
    };
    const struct snapshot *now = &tracked->process.now, *last = &tracked->last;

    for (int i = 0; i < FN_COUNT; i++) {
        unsigned long count;
        char size[32];

        if (now->failed[i] <= last->failed[i])
            continue;
        count = now->failed[i] - last->failed[i];
        readable_size(now->failed_bytes[i] - last->failed_bytes[i], size);
        session_say(session, SEVERITY_WARNING,
                    ngettext("%s failed %lu time (%s requested)",
                             "%s failed %lu times (%s requested together)", count),
                    names[i], count, size);
    }
    tracked->last = *now;
}

void
tracked_digest(struct tracked *tracked, struct session *session, int64_t now_ns,
               const struct recorded *slots, size_t count, int64_t offset_ns)
{
    struct process *process = &tracked->process;
    struct sample sample;

    if (process->measured) {
        meter_read(&tracked->meter, process, now_ns);
        note_failures(tracked, session);
    }
    /* The recorder is finer than most intervals: its slots come before the reading's own
       sample.  For a process that sleeps they are all there is. */
    meter_push_recorded(&tracked->meter, process, slots, count, offset_ns,
                        tracked->history);
    sample = meter_sample(&tracked->meter, process);
    history_push(tracked->history, &sample);
    if (process->ended)
        process->rates = (struct rates){0};
}

bool
tracked_keep_checkpoints(struct tracked *tracked)
{
    if (tracked->checkpoints == NULL)
        tracked->checkpoints = checkpoints_new(CHECKPOINTS);
    return tracked->checkpoints != NULL;
}

bool
tracked_keep_profile(struct tracked *tracked)
{
    if (tracked->profile == NULL)
        tracked->profile = profile_new();
    return tracked->profile != NULL;
}

bool
tracked_checkpoint_due(const struct tracked *tracked, int64_t now_ns)
{
    return tracked->checkpoints != NULL && now_ns >= tracked->checkpoint_due_ns;
}

void
tracked_add_checkpoint(struct tracked *tracked, int64_t now_ns)
{
    int64_t spacing;

    checkpoints_add(tracked->checkpoints, &tracked->process);
    spacing = checkpoints_spacing(tracked->checkpoints);
    tracked->checkpoint_due_ns =
        now_ns + (spacing > CHECKPOINT_MIN_NS ? spacing : CHECKPOINT_MIN_NS);
}
