/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Says why there is no place for segments: a directory that should be ours and is not. */
#ifndef MEMTOP_PLACE_H
#define MEMTOP_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Looks at the directories for segments (segment/names.h) of the effective user, after
 * none of them could be used.  text gets one translated line about the first that exists
 * and is not a private directory of ours: which it is, who owns it, and what to do.
 * Returns false, and "", if there is none.
 */
bool place_fault(const char *memtop_dir, const char *runtime_dir, char *text,
                 size_t size);

#endif
