/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams that compress and decompress with zstd. */
#ifndef MEMTOP_PACK_H
#define MEMTOP_PACK_H

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

#endif
