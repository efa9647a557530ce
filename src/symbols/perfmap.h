/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of code that a program generates while it runs, as node, Java, CPython and others
 * write them for perf, into /tmp/perf-PID.map: one function a line, "START SIZE NAME" in
 * hexadecimal.  Memory for code is used again, so of several functions at one address the
 * last one counts.  The text is not trusted; lines that are not understood are left out.
 */
#ifndef MEMTOP_PERFMAP_H
#define MEMTOP_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfmap;

/* What is beyond these limits is left out. */
#define PERFMAP_BYTES_MAX     ((size_t)64 << 20)
#define PERFMAP_FUNCTIONS_MAX ((size_t)2 << 20)

/* Returns NULL if memory is short. */
struct perfmap *perfmap_new(void);
void perfmap_free(struct perfmap *map);

/* Adds text behind what was added before; it may end within a line, which then counts
   once it is complete.  Returns false if nothing more can be added. */
bool perfmap_add(struct perfmap *map, const char *text, size_t length);

/* The bytes added so far. */
size_t perfmap_size(const struct perfmap *map);

/* The name of the function that contains the address, without control characters; NULL if
   there is none.  Borrowed until the next call of a function here. */
const char *perfmap_find(struct perfmap *map, uint64_t address);

#endif
