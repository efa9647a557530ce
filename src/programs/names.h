/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of functions for what is written at the end. */
#ifndef MEMTOP_APP_NAMES_H
#define MEMTOP_APP_NAMES_H

#include <stdbool.h>

#include "monitor/session.h"
#include "monitor/tracked.h"

/*
 * Finds the names of all functions in the profile of a process of the session, with a
 * line of progress on a terminal if that takes a while.  A signal ends it; then, as
 * where names are not known, addresses stand for the rest.
 */
void names_find(struct session *session, const struct tracked *tracked, bool debuginfod);

/* Forgets what it has learnt for the next ones. */
void names_end(void);

#endif
