/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The format of memtop's own traces, shared by writer and reader: headers and frames.
   doc/TRACE explains it.  All numbers are little endian. */
#ifndef MEMTOP_NATIVE_FORMAT_H
#define MEMTOP_NATIVE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "files/eventblock.h"

#define NATIVE_MAGIC       "\177mtrace\n"
#define NATIVE_MAGIC_SIZE  8u
#define NATIVE_VERSION     1u
/* magic 8, version 4, header size 4, epoch 8, 0 8 bytes */
#define NATIVE_HEADER_SIZE 32u

/* kind 4, stored 4, raw 4, check 4 bytes */
#define NATIVE_FRAME_SIZE  16u

enum native_frame {
    NATIVE_PROCESS = 'P',
    NATIVE_ARGUMENTS = 'A', /* of a process, if not known at first */
    NATIVE_THREAD = 'T',
    NATIVE_EVENTS = 'E',
    NATIVE_GROUP = 'G', /* ends a group: later events are at most slightly older */
    NATIVE_END = 'Z',   /* nothing is missing */
};

/* Most bytes of a frame that is not NATIVE_EVENTS. */
#define NATIVE_PROCESS_MAX 65536u

static inline void
native_put32(unsigned char *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static inline uint32_t
native_get32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16
           | (uint32_t)at[3] << 24;
}

static inline void
native_put64(unsigned char *at, uint64_t value)
{
    native_put32(at, (uint32_t)value);
    native_put32(at + 4, (uint32_t)(value >> 32));
}

static inline uint64_t
native_get64(const unsigned char *at)
{
    return native_get32(at) | (uint64_t)native_get32(at + 4) << 32;
}

/* Check value of a frame's head; the reader uses it to find the next frame after damaged
   bytes. */
static inline uint32_t
native_check(uint32_t kind, uint32_t stored, uint32_t raw)
{
    return (kind * 0x9E3779B1u ^ stored) * 0x85EBCA77u ^ raw * 0xC2B2AE3Du ^ 0x6D747263u;
}

#endif
