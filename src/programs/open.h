/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that can be shown: sessions, and records of calls by memusage or memtop. */
#ifndef MEMTOP_OPEN_H
#define MEMTOP_OPEN_H

#include "monitor/session.h"
#include "programs/uses.h"

/* Opens a file for that use; shows progress on a terminal if that takes long.  Reports
   an error and returns NULL on failure. */
struct session *open_session(const char *path, enum file_use use);

#endif
