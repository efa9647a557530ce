/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files to be looked at: sessions, and records of calls (memusage's or memtop's). */
#ifndef MEMTOP_OPEN_H
#define MEMTOP_OPEN_H

#include "monitor/session.h"
#include "programs/uses.h"

/* Opens the file to be used so, with a line of progress on a terminal if that takes a
   while.  NULL, having said why, if it cannot. */
struct session *open_session(const char *path, enum file_use use);

#endif
