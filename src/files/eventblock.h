/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A block of events of one process as bytes, before they are compressed, and back
 * (doc/TRACE).  A block stands for itself: nothing in it refers to another.
 */
#ifndef MEMTOP_EVENTBLOCK_H
#define MEMTOP_EVENTBLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "files/trace.h"

#define EVENTBLOCK_EVENTS 32768u /* at most, in one block */

/* No block has more bytes. */
#define EVENTBLOCK_BYTES (256u + EVENTBLOCK_EVENTS * 64u)

/* Working memory, for either direction. */
struct eventblock;

struct eventblock *eventblock_new(void);
void eventblock_free(struct eventblock *block);

/* Makes bytes, EVENTBLOCK_BYTES of room, of 1 to EVENTBLOCK_EVENTS events, whose times
   never go back and which all are of the first one's process.  Their number. */
size_t eventblock_encode(struct eventblock *block, const struct trace_event *events,
                         size_t count, unsigned char *bytes);

/* Fills in EVENTBLOCK_EVENTS events at most.  How many, or -EBADMSG if the bytes are
   no block; then events hold anything. */
long eventblock_decode(struct eventblock *block, const unsigned char *bytes, size_t size,
                       struct trace_event *events);

#endif
