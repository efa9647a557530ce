/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes compressed, a piece at a time (zstd frames with their sizes and checksums). */
#ifndef MEMTOP_SQUEEZE_H
#define MEMTOP_SQUEEZE_H

#include <stdbool.h>
#include <stddef.h>

/* Room for what so many bytes become at worst. */
size_t zstd_bound(size_t size);

struct squeezer;
struct squeezer *squeezer_new(void);
void squeezer_free(struct squeezer *squeezer);

/* The number of bytes it became, 0 if it failed. */
size_t squeeze(struct squeezer *squeezer, const void *bytes, size_t size, void *out,
               size_t room);

struct unsqueezer;
struct unsqueezer *unsqueezer_new(void);
void unsqueezer_free(struct unsqueezer *unsqueezer);

/* True if bytes are one frame of exactly expected bytes, now in out. */
bool unsqueeze(struct unsqueezer *unsqueezer, const void *bytes, size_t size, void *out,
               size_t expected);

#endif
