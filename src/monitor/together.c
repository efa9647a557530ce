/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds up the profiles of a session's processes, one after the other, because those that
   are not shown are read only for this. */
#include "config.h"

#include "monitor/together.h"

#include "monitor/merged.h"

struct gathering {
    struct session *session;
    const struct together *how;
    struct merged *merged;
    unsigned others;
    bool failed;
};

static bool
has_samples(const struct tracked *tracked)
{
    const struct sites_reading *reading;
    int64_t run_ns;

    if (tracked->profile == NULL || !profile_known(tracked->profile, &run_ns))
        return false;
    reading = profile_digested(tracked->profile, NULL);
    return reading->sampled > 0 || reading->block_count > 0;
}

static bool
gather(void *context, const struct tracked *tracked)
{
    struct gathering *gathering = context;

    if (!has_samples(tracked))
        return true;
    if (gathering->how->name != NULL)
        gathering->how->name(gathering->how->context, gathering->session, tracked);
    profile_resolve(tracked->profile, NULL);
    gathering->failed |= !merged_add(gathering->merged, tracked->profile);
    gathering->others += tracked != session_shown(gathering->session);
    return !gathering->failed;
}

struct profile *
together_profile(struct session *session, const struct together *how, unsigned *count)
{
    struct gathering gathering = {
        .session = session, .how = how, .merged = merged_new()};
    const struct tracked *shown = session_shown(session);
    struct profile *profile = NULL;

    *count = 0;
    if (gathering.merged == NULL)
        return NULL;
    if (gather(&gathering, shown))
        session_each_sampled(session, gather, &gathering);
    *count = merged_count(gathering.merged);
    if (!gathering.failed && gathering.others > 0)
        profile = merged_finish(gathering.merged, shown->process.run_ns);
    merged_free(gathering.merged);
    return profile;
}
