/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compresses single pieces of data (zstd frames with their size and checksum). */
#ifndef MEMTOP_SQUEEZE_H
#define MEMTOP_SQUEEZE_H

#include <stdbool.h>
#include <stddef.h>

/* The largest compressed size of `size` bytes. */
size_t zstd_bound(size_t size);

struct squeezer;
struct squeezer *squeezer_new(void);
void squeezer_free(struct squeezer *squeezer);

/* Compresses bytes to out.  Returns the compressed size, 0 on failure. */
size_t squeeze(struct squeezer *squeezer, const void *bytes, size_t size, void *out,
               size_t room);

struct unsqueezer;
struct unsqueezer *unsqueezer_new(void);
void unsqueezer_free(struct unsqueezer *unsqueezer);

/* Decompresses one frame to out.  Returns false if it is damaged, or does not hold
   exactly `expected` bytes. */
bool unsqueeze(struct unsqueezer *unsqueezer, const void *bytes, size_t size, void *out,
               size_t expected);

#endif
