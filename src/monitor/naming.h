/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds names for the functions of a profile (monitor/profile.h) in the files that its
 * process has mapped:
 *
 *     naming_update() after each reading, and when naming_take() says so
 *     poll() on naming_descriptor(), then naming_take()
 */
#ifndef MEMTOP_NAMING_H
#define MEMTOP_NAMING_H

#include "monitor/profile.h"
#include "monitor/session.h"
#include "monitor/tracked.h"
#include "symbols/symbols.h"

struct naming;

/* options NULL: the defaults.  Returns NULL if memory is short.  Starts no process
   yet. */
struct naming *naming_new(const struct symbols_options *options);
void naming_free(struct naming *naming);

/*
 * Gives the profile of a process of the session the names that are known, and requests
 * the others.  If the session itself knows names it is asked instead.  Returns true if a
 * name has changed.
 */
bool naming_update(struct naming *naming, struct session *session,
                   const struct tracked *tracked);

/* Only keeps what may vanish before names are asked for: files that are deleted while the
   process lives, or that nobody else sees.  Call while it lives, after readings. */
void naming_hold(struct naming *naming, struct session *session,
                 const struct tracked *tracked);

/* As in symbols.h.  naming_wait() also updates: the names are in the profile
   afterwards. */
int naming_descriptor(const struct naming *naming);
bool naming_take(struct naming *naming);
bool naming_wait(struct naming *naming, struct session *session,
                 const struct tracked *tracked, int timeout_ms);
struct symbols_progress naming_progress(const struct naming *naming);

#endif
