/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Notices forks. */
#ifndef MEMTOP_FORK_H
#define MEMTOP_FORK_H

#include "preload/baseline.h"
#include "segment/layout.h"

/* Starts a child, given what it begins with. */
typedef void mt_child_starter(enum segment_origin origin,
                              const struct mt_baseline *baseline);

/* Called once per process that counts: from now on forked children are started so. */
void mt_fork_install(mt_child_starter *start_child);

#endif
