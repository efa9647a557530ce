/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams that compress and decompress (zstd). */
#ifndef MEMTOP_PACK_H
#define MEMTOP_PACK_H

#include <stdio.h>

/*
 * What is written to the stream goes compressed to out, which stays open.
 * fclose() writes the rest; that it and every write succeeded must be checked.
 * NULL if memory is short.
 */
FILE *pack_writer(FILE *out);

/*
 * Reads what in holds, decompressed, in bounded memory; in stays open.  What is
 * damaged or cut short is an error of the stream (EBADMSG).  NULL if memory is
 * short.
 */
FILE *pack_reader(FILE *in);

#endif
