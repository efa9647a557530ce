/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of functions for files written at the end. */
#ifndef MEMTOP_APP_NAMES_H
#define MEMTOP_APP_NAMES_H

#include <stdbool.h>

#include "monitor/session.h"
#include "monitor/tracked.h"

/*
 * Finds the names of all functions in the profile of a process of the session; shows
 * progress on a terminal if that takes long.  A signal stops it.  Functions without a
 * name are shown as addresses.
 */
void names_find(struct session *session, const struct tracked *tracked, bool debuginfod);

/* Keeps what may vanish before the end, while the process lives; call after readings. */
void names_hold(struct session *session, const struct tracked *tracked, bool debuginfod);

/* Frees what was kept for further processes. */
void names_end(void);

#endif
