/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Converts a block of events of one process to bytes, before compression, and back
 * (doc/TRACE).  Every block can be decoded alone.
 */
#ifndef MEMTOP_EVENTBLOCK_H
#define MEMTOP_EVENTBLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "files/trace.h"

#define EVENTBLOCK_EVENTS 32768u /* most events in a block */

/* Most bytes of a block. */
#define EVENTBLOCK_BYTES (256u + EVENTBLOCK_EVENTS * 64u)

/* Working memory, for either direction. */
struct eventblock;

struct eventblock *eventblock_new(void);
void eventblock_free(struct eventblock *block);

/* Encodes count events, 1 to EVENTBLOCK_EVENTS, to bytes, which must have room for
   EVENTBLOCK_BYTES.  Their times must not go back, and all must belong to the process of
   the first one.  Returns the number of bytes. */
size_t eventblock_encode(struct eventblock *block, const struct trace_event *events,
                         size_t count, unsigned char *bytes);

/* Decodes a block into events, at most EVENTBLOCK_EVENTS.  Returns their number, or
   -EBADMSG if the bytes are not a valid block; events is then undefined. */
long eventblock_decode(struct eventblock *block, const unsigned char *bytes, size_t size,
                       struct trace_event *events);

#endif
