/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is derived from successive readings of a tracked process.  The history and the
 * messages are always kept; snapshots to look back at cost more and are kept on request.
 */
#include "config.h"

#include "monitor/subject.h"

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
subject_init(struct subject *subject)
{
    *subject = (struct subject){.history = history_new(HISTORY_SLOTS)};
    return subject->history != NULL;
}

void
subject_free(struct subject *subject)
{
    history_free(subject->history);
    checkpoints_free(subject->checkpoints);
    profile_free(subject->profile);
    free(subject->command);
}

void
subject_restart(struct subject *subject)
{
    meter_restart(&subject->meter, subject->meter.at_ns);
    subject->last = (struct snapshot){0};
    subject->process.bands = (struct bands){0};
    if (subject->profile)
        profile_restart(subject->profile);
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
note_failures(struct subject *subject, struct session *session)
{
    static const char *const names[] = {
#define X(id, name) name,
        SEGMENT_FUNCTIONS(X)
#undef X
    };
    const struct snapshot *now = &subject->process.now, *last = &subject->last;

    for (int i = 0; i < FN_COUNT; i++) {
        unsigned long count;
        char size[32];

        if (now->failed[i] <= last->failed[i])
            continue;
        count = now->failed[i] - last->failed[i];
        readable_size(now->failed_bytes[i] - last->failed_bytes[i], size);
        session_say(session, SEVERITY_WARNING,
                    ngettext("%s failed %lu time (%s asked for)",
                             "%s failed %lu times (%s asked for together)", count),
                    names[i], count, size);
    }
    subject->last = *now;
}

void
subject_digest(struct subject *subject, struct session *session, int64_t now_ns,
               const struct recorded *slots, size_t count, int64_t offset_ns)
{
    struct process *process = &subject->process;
    struct sample sample;

    if (process->measured) {
        meter_read(&subject->meter, process, now_ns);
        note_failures(subject, session);
    }
    /* The recorder is finer than most intervals: its slots come before the reading's own
       sample.  For a process that sleeps they are all there is. */
    meter_push_recorded(&subject->meter, process, slots, count, offset_ns,
                        subject->history);
    sample = meter_sample(&subject->meter, process);
    history_push(subject->history, &sample);
    if (process->ended)
        process->rates = (struct rates){0};
}

bool
subject_keep_checkpoints(struct subject *subject)
{
    if (!subject->checkpoints)
        subject->checkpoints = checkpoints_new(CHECKPOINTS);
    return subject->checkpoints != NULL;
}

bool
subject_keep_profile(struct subject *subject)
{
    if (!subject->profile)
        subject->profile = profile_new();
    return subject->profile != NULL;
}

bool
subject_moment_due(const struct subject *subject, int64_t now_ns)
{
    return subject->checkpoints && now_ns >= subject->checkpoint_due_ns;
}

void
subject_keep_moment(struct subject *subject, int64_t now_ns)
{
    int64_t spacing;

    checkpoints_add(subject->checkpoints, &subject->process);
    spacing = checkpoints_spacing(subject->checkpoints);
    subject->checkpoint_due_ns =
        now_ns + (spacing > CHECKPOINT_MIN_NS ? spacing : CHECKPOINT_MIN_NS);
}
