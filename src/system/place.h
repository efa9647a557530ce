/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why segments find no place: a directory that should be ours and is not. */
#ifndef MEMTOP_PLACE_H
#define MEMTOP_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Looks at the directories for segments (segment/names.h) of the effective user, after
 * none of them could be used.  text gets one translated line about the first that is
 * there and is not a private directory of ours: which it is, whose, and what to do.
 * False, and "", if there is none such.
 */
bool place_fault(const char *memtop_dir, const char *runtime_dir, char *text,
                 size_t size);

#endif
