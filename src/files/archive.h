/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Session files: everything memtop knows of a run, to be looked at later with the
 * same views.  doc/SESSION tells what is in them.
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

/* What goes into a file. */
struct archive {
    struct session *session;       /* its threads are read now */
    const struct capture *capture; /* NULL: the output is not known */
    const struct process *mark;    /* time, generation, counters, sizes; or NULL */
    int64_t interval_ns;
    /* Finds the names of the functions of another process, whose sites are written
       next; NULL: they have names already, or need none. */
    void (*name)(void *context, struct session *session, const struct tracked *tracked);
    void *context;
};

/* Writes it, not compressed, with what is known of the process shown, and of others
   whose allocations were sampled; false (errno) if that failed. */
bool archive_write(FILE *out, const struct archive *archive);

/*
 * Creates the file path, compressed; it appears whole or not at all, and what
 * exists is left alone (-EEXIST).  0 or -errno.
 */
int archive_save(const struct archive *archive, const char *path);

/* Whether the first bytes of a file are those of a session, compressed or not. */
bool archive_recognise(const void *bytes, size_t size);

/*
 * Reads a session, compressed or not, of which nothing is trusted and whose size
 * is limited.  NULL: why holds a translated line that says what is wrong.
 */
struct saved *archive_read(FILE *in, char *why, size_t size);

#endif
