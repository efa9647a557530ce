/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What kind of file it is: the one place that tells, by the first bytes.
 *
 *   session        '{' and a first line with "session" in it, or zstd in which such a
 *                  line comes first, or in which no line can be read any more
 *   trace          the magic number of memtop's own traces
 *   csv            the line "t_ms,op,addr,size"
 *   log, munged    text: a line among the first ones is a call, munged if its blocks
 *                  are numbered (#1).  What else was written to the log may come before
 *   dat            two headers of memusage that can be those of one run: dat_recognise().
 *                  Those of a killed program can
 *
 * Later versions are of the same kind: the reader of the kind refuses them.  So it is
 * with files that are damaged or cut behind their beginning.
 */
#ifndef MEMTOP_KIND_H
#define MEMTOP_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "files/input.h"

enum file_kind {
    KIND_EMPTY,
    KIND_TEXT,   /* of no kind below, without control characters */
    KIND_BINARY, /* of no kind below */
    KIND_STREAM, /* can be read only once, which has not been done */
    KIND_SESSION,
    KIND_TRACE,
    KIND_CSV,
    KIND_LOG,
    KIND_MUNGED,
    KIND_DAT,
    KINDS
};

/* So many bytes are looked at. */
#define KIND_BYTES INPUT_LINE_MAX

/*
 * Of these first bytes; whole: there are no more of them, or more are not looked at.
 * Until then one of the first three kinds only says that it cannot be told yet.
 */
enum file_kind kind_of_bytes(const char *bytes, size_t size, bool whole);

/* Of what the input gives next, without taking it.  Reads no more than it needs to
   tell: a program that still writes is not waited for.  0 or -errno. */
int kind_of_input(struct input *input, enum file_kind *kind);

/*
 * Of a file.  Pipes, devices and "-", the standard input, are KIND_STREAM: they are not
 * opened.  0 or -errno, of a directory -EISDIR.
 */
int kind_of_file(const char *path, enum file_kind *kind);

#endif
