/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where all processes of a session have allocated, in one profile (merged.h). */
#ifndef MEMTOP_TOGETHER_H
#define MEMTOP_TOGETHER_H

#include "monitor/profile.h"
#include "monitor/session.h"
#include "monitor/tracked.h"

struct together {
    /* Gives a process's profile its names, before it is added; NULL: it has them. */
    void (*name)(void *context, struct session *session, const struct tracked *tracked);
    void *context;
};

/*
 * Makes the profile of the process shown and of all others whose allocations were
 * sampled; the caller frees it.  *count is how many have samples.  NULL if no other than
 * the process shown has any, or memory is short.
 */
struct profile *together_profile(struct session *session, const struct together *how,
                                 unsigned *count);

#endif
