/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The data file of memusage(1): two header records, then one of 24 bytes for
 * every call that changed the heap, in the byte order of the machine.
 *
 *   heap 64, stack 64, time low 32, time high 32
 *   record 0   0, peak of heap + stack, time of the start
 *   record 1   peak of heap, peak of stack, time of the end
 *
 * The unit of time is not in the file.  memtop's files have nanoseconds since
 * the Epoch, which no other clock reaches; memusage's have ticks of the CPU.
 */
#ifndef MEMTOP_DAT_H
#define MEMTOP_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/progress.h"

#define DAT_RECORD_SIZE 24u

/* Records held back before they are written: memusage's default and most. */
#define DAT_BUFFER_MAX 32768u

struct dat_record {
    uint64_t heap;  /* bytes allocated after the call */
    uint64_t stack; /* depth of the calling thread */
    uint64_t time;
};

/* ---- writing ---- */

struct dat_writer;

/*
 * Creates path with its headers.  A file that exists is -EEXIST, or emptied if
 * replace; a device or pipe is written to.  buffered: so many records at a
 * time, 1 to DAT_BUFFER_MAX.  0 and *out (dat_close() it), or -errno.
 */
int dat_create(const char *path, bool replace, uint64_t start, size_t buffered,
               struct dat_writer **out);

/* Adds a record.  0, or the -errno of the write that failed: from then on
   nothing is written, and what the file holds is whole records. */
int dat_write(struct dat_writer *writer, const struct dat_record *record);

/* Writes what is held back and the headers, with the time of the end, and
   closes.  0, or the -errno of the first failure. */
int dat_close(struct dat_writer *writer, uint64_t end);

/* ---- reading ---- */

/* A file opened to be read, never changed, with what is odd about it. */
struct dat {
    int fd;
    struct trace_progress progress; /* as given */
    uint64_t count;     /* records that dat_scan() gives */
    uint64_t start, end;             /* start <= end */
    uint64_t heap_peak, stack_peak, sum_peak;
    bool nanoseconds;   /* since the Epoch; else the unit is not known */
    bool killed;        /* the headers were never completed */
    unsigned cut_bytes; /* at the end, of a record that is not whole */
    uint64_t doubled;   /* records at the end that memusage wrote twice */
    uint64_t holes;     /* records of zeros, where processes shared a file */
    uint64_t backwards; /* records older than the one before */
};

/* So many bytes tell. */
#define DAT_RECOGNISED ((size_t)2 * DAT_RECORD_SIZE)

/* Whether these may be the first bytes of a data file, a cut one if they are fewer than
   DAT_RECOGNISED: the first header's heap is 0, the run does not end before it starts,
   its peaks do not contradict each other, and not all of it is zeros.  Headers that were
   not completed have no peaks. */
bool dat_recognise(const void *bytes, size_t size);

/* 0, or -errno: -EBADMSG if it is too short for the headers.  progress, or NULL, is
   told now and then, here and by dat_scan(): of both together. */
int dat_open(const char *path, const struct trace_progress *progress, struct dat *dat);
void dat_close_read(struct dat *dat);

/* Hands out the records in order, their times brought between start and end
   and never back.  index counts from 0.  0 or -errno. */
int dat_scan(const struct dat *dat,
             void (*take)(void *context, uint64_t index, const struct dat_record *record),
             void *context);

#endif
