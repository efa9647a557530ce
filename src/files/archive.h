/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Session files: everything memtop knows of a run, to be looked at later on the same
 * pages. doc/SESSION describes the format.
 */
#ifndef MEMTOP_ARCHIVE_H
#define MEMTOP_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "system/capture.h"
#include "monitor/saved.h"
#include "monitor/session.h"
#include "monitor/tracked.h"

/* What is written. */
struct archive {
    struct session *session;       /* its threads are read when writing */
    const struct capture *capture; /* NULL: the output is not known */
    const struct process *mark;    /* its run_ns, generations, counters, sizes and
                                      breakdown are used; or NULL */
    int64_t interval_ns;
    /* Finds names for the functions of another process before its sites are written.
       NULL: names are known already, or not needed. */
    void (*name)(void *context, struct session *session, const struct tracked *tracked);
    void *context;
};

/* Writes the session uncompressed: the process shown, and other processes with sampled
   allocations.  Returns false and sets errno on failure. */
bool archive_write(FILE *out, const struct archive *archive);

/*
 * Creates the file path, compressed.  The file appears complete or not at all; an
 * existing file is not changed (-EEXIST).  Returns 0 or -errno.
 */
int archive_save(const struct archive *archive, const char *path);

/* Are these the first bytes of a session, compressed or not? */
bool archive_recognise(const void *bytes, size_t size);

/*
 * Reads a session, compressed or not.  Nothing in it is trusted, and its size is
 * limited.  The caller frees the result.  Returns NULL on failure; why then holds a
 * translated reason.
 */
struct saved *archive_read(FILE *in, char *why, size_t size);

#endif
