/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compresses and decompresses with zstd: streams and single frames. */
#ifndef MEMTOP_PACK_H
#define MEMTOP_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A stream that writes compressed data to out, which stays open. fclose() writes the
 * rest, so its result must be checked like that of every write.  Returns NULL if memory
 * is short.
 */
FILE *pack_writer(FILE *out);

/*
 * A stream that decompresses data from in, in bounded memory; in stays open.  Damaged or
 * incomplete data is an error of the stream (EBADMSG).  Returns NULL if memory is short.
 */
FILE *pack_reader(FILE *in);

/* ---- single frames, with their size and checksum ---- */

/* The largest compressed size of `size` bytes. */
size_t frame_bound(size_t size);

struct frame_packer;
struct frame_packer *frame_packer_new(void);
void frame_packer_free(struct frame_packer *frame_packer);

/* Compresses bytes to out.  Returns the compressed size, 0 on failure. */
size_t frame_pack(struct frame_packer *frame_packer, const void *bytes, size_t size,
                  void *out, size_t room);

struct frame_unpacker;
struct frame_unpacker *frame_unpacker_new(void);
void frame_unpacker_free(struct frame_unpacker *frame_unpacker);

/* Decompresses one frame to out.  Returns false if it is damaged, or does not hold
   exactly `expected` bytes. */
bool frame_unpack(struct frame_unpacker *frame_unpacker, const void *bytes, size_t size,
                  void *out, size_t expected);

#endif
