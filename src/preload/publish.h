/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segment of the process: its file, its mapping and its header. */
#ifndef MEMTOP_PUBLISH_H
#define MEMTOP_PUBLISH_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/state.h"
#include "segment/layout.h"

struct mt_baseline;

/* Creates or adopts the segment, fills in its header and maps it;
   parent (the header of the parent's) and baseline are NULL except in a child.  Of the
   file only the head is present then (segment/layout.h), and what rings need.  Returns
   the reason on failure. */
enum segment_reason mt_publish(enum segment_origin origin,
                               const struct segment_header *parent,
                               const struct mt_baseline *baseline);
/* Unmaps a segment, but for what mt_windows_unmap() does; the file stays. */
void mt_unmap(const struct mt_segment *segment);
bool mt_started_here(void);          /* is the segment this process's own? */
void mt_publish_directories(const char *memtop_dir, const char *runtime_dir);
void mt_publish_arguments(int argc, char *const *argv);
/* A child takes its parent's program and arguments. */
void mt_publish_inherited(const struct mt_segment *parent);
void mt_publish_exit(void);          /* at exit(): notes it, unlinks unless kept */

/* Makes [address, address + size) present; false if there is no memory.  Keeps errno. */
bool mt_make_present(void *address, size_t size);

/* Can pages be made present later, or must those from the start suffice? */
bool mt_present_later(void);

/* Bytes that were free in the segment's file system when it was made. */
uint64_t mt_publish_free(void);

/* Where the kernel cannot make pages present later, this many bytes of each table of
   the sites are from the start. */
#define SITES_AHEAD 262144u

#endif
