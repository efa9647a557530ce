/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the segment of a running process, whoever started it and wherever the segment is,
 * by what the process has mapped, even in another mount or pid namespace.
 */
#ifndef MEMTOP_LOCATE_H
#define MEMTOP_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "segment/names.h"

struct located {
    char directory[SEGMENT_PATH_MAX]; /* as memtop can open it; "" no segment */
    uint64_t start_boottime_ns;       /* of the process */
    uid_t real, effective;            /* possible owners of the segment */
};

/*
 * Returns 0, also for a process without a segment; -ESRCH: no such process, or it has
 * ended; -EACCES: its mappings may not be read; -ENOENT: it has a segment whose file is
 * gone.
 */
int locate_segment(pid_t pid, struct located *out);

/* Has the process mapped the segment with that inode? */
bool locate_has_mapped(pid_t pid, uint64_t inode);

/* Finds the path and inode of the segment in the text of /proc/PID/maps.  -ENODATA: there
   is none; -ENOENT: its file is gone. */
int locate_parse_maps(FILE *maps, char path[SEGMENT_PATH_MAX], uint64_t *inode);

/* ---- why there is no place for segments ---- */

/*
 * Looks at the directories for segments (segment/names.h) of the effective user, after
 * none of them could be used.  text gets one translated line about the first that exists
 * and is not a private directory of ours: which it is, who owns it, and what to do.
 * Returns false, and "", if there is none.
 */
bool place_fault(const char *memtop_dir, const char *runtime_dir, char *text,
                 size_t size);

#endif
