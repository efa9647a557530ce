/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kind of a file.  Only this module recognises files, by their first bytes.
 *
 *   session        '{' and a first line that contains "session"; or zstd data with such a
 *                  first line, or whose first line cannot be read
 *   trace          the magic number of memtop's own traces
 *   csv            the line "t_ms,op,addr,size"
 *   log, munged    text with a call in one of the first lines, munged if its blocks are
 *                  numbered (#1).  Other output may come before it
 *   dat            two headers of memusage that can belong to one run: dat_recognise().
 *                  Those of a killed program can
 *
 * Later versions have the same kind, as have files that are damaged or cut after their
 * beginning: the reader of the kind refuses them.
 */
#ifndef MEMTOP_KIND_H
#define MEMTOP_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "files/input.h"

enum file_kind {
    KIND_EMPTY,
    KIND_TEXT,   /* text without control characters, of no other kind */
    KIND_BINARY, /* of no other kind */
    KIND_STREAM, /* can be read only once, so it was not read */
    KIND_SESSION,
    KIND_TRACE,
    KIND_CSV,
    KIND_LOG,
    KIND_MUNGED,
    KIND_DAT,
    KINDS
};

/* Number of bytes that are examined. */
#define KIND_BYTES INPUT_LINE_MAX

/*
 * Recognises a file by its first bytes. whole: there are no more bytes, or no more will
 * be examined.  Otherwise one of the first three kinds means that the kind is not known
 * yet.
 */
enum file_kind kind_of_bytes(const char *bytes, size_t size, bool whole);

/* Recognises what the input returns next, without taking it.  Reads no more than
   necessary, so that it does not wait for a program that is still writing.  Returns 0 or
   -errno. */
int kind_of_input(struct input *input, enum file_kind *kind);

/*
 * Recognises a file.  Pipes, devices and "-", the standard input, are KIND_STREAM and
 * are not opened.  Returns 0 or -errno; -EISDIR for a directory.
 */
int kind_of_file(const char *path, enum file_kind *kind);

#endif
