/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON Lines: one object a line, for programs.  Names and meanings are an
 * interface: they never change within "v":1, new ones may be added.  All
 * numbers are plain integers, sizes in bytes, times in ns; above 2^63-1 they
 * stay there.  Strings are valid UTF-8: bytes that are not become '?'.
 *
 * Every object
 *   v             1
 *   type          "sample", "snapshot" for a saved one, "exit" for the last one
 *   t_ns          since the program's start
 *   pid
 *   state         starting, not-measured, running, idle, stopped, stale,
 *                 exited, killed, gone
 *   generation    0, and one more for every exec
 *   children      descendants alive now
 *   children_seen descendants ever seen to load the library
 *   rss rss_anon rss_peak   resident memory; absent if unknown
 *   measured      false: "why" says why, and the rest is absent
 *   before        not measured, but an earlier program of the process was, until it
 *                 executed another: program, its file; executed, what it executed;
 *                 its heap peak total, as below
 *
 * Measured
 *   heap          live bytes            usable   what they occupy; absent if unknown
 *   peak          highest heap          total    ever allocated, no failed calls
 *   live          live blocks
 *   coverage      heap peak in percent of the highest rss_anon; absent if unknown
 *   stack stack_peak         depth at calls: now, highest
 *   stack_touched            deepest page the main thread touched; absent if
 *                            unknown
 *   threads threads_started
 *   calls bytes failed failed_bytes   objects by function: malloc, realloc,
 *                 calloc, free, posix_memalign, aligned_alloc, memalign, valloc,
 *                 pvalloc.  calls includes failed; bytes does not include
 *                 failed_bytes
 *   realloc_in_place realloc_shrunk realloc_freed   address unchanged; to a
 *                 smaller size; to size 0
 *   free_null     calls of free(NULL); like failed and failed_bytes absent if unknown
 *   unmatched     frees and reallocs of blocks memtop did not see allocated
 *   custom_allocated custom_allocated_bytes custom_freed custom_freed_bytes
 *   custom_live custom_live_bytes custom_unmatched   blocks of the program's own
 *                 pools, in no other figure; absent if it reports none
 *   mappings      object by mmap(r), mmap(w), mmap(a), mremap, munmap, each with
 *                 calls, bytes, failed; absent unless asked for
 *   mremap_in_place mremap_shrunk   with them
 *
 * Exit, and snapshot once it has ended
 *   status        exit status, or
 *   signal core   number of the signal that killed it; true if it dumped core
 *
 * Before the exit, if allocations were sampled and that is asked for, an object of
 * type "sites": site-report.h.
 *
 * Snapshot and exit
 *   bands         where the RSS went; absent if it was not read: t_ns, when it was;
 *                 requested slack held heap mmap files stacks program memtop other,
 *                 which add up to the RSS, each absent if unknown; pss; swap;
 *                 mappings, their number; absent, bytes of live blocks that are not
 *                 resident, at least; unsure, of requested, that may be mmap's;
 *                 with_reserve, true if mmap includes what the allocator holds
 *
 * Snapshot and exit, if measured
 *   program       its file              args     array of strings
 *   args_cut      true if there were more
 *   accounting    "requested" or "usable"
 *   allocator     file that holds the allocator
 *   sizes         array of {from, to, allocated}: calls by the size asked for
 *   live_sizes    array of {from, to, live}: blocks not freed, by size;
 *                 "to" is inclusive and absent in the last range
 */
#ifndef MEMTOP_JSON_H
#define MEMTOP_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "monitor/session.h"

/* Each writes a line and flushes; false if that failed or memory is short. */
bool report_json_sample(FILE *out, const struct process *process);
bool report_json_snapshot(FILE *out, const struct process *process);
bool report_json_exit(FILE *out, const struct process *process);

#endif
