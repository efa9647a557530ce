/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The data file of memusage(1): two header records, then one of 24 bytes for every call
 * that changed the heap, in the byte order of the machine.
 *
 *   heap 64, stack 64, time low 32, time high 32
 *   record 0   0, peak of heap + stack, time of the start
 *   record 1   peak of heap, peak of stack, time of the end
 *
 * The file does not name its unit of time.  memtop writes nanoseconds since the Epoch,
 * which no other clock reaches; memusage writes ticks of the CPU.
 */
#ifndef MEMTOP_DAT_H
#define MEMTOP_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/input.h"

#define DAT_RECORD_SIZE 24u

/* The most records that are buffered before writing; also memusage's default. */
#define DAT_BUFFER_MAX 32768u

struct dat_record {
    uint64_t heap;  /* bytes allocated after the call */
    uint64_t stack; /* depth of the calling thread */
    uint64_t time;
};

/* ---- writing ---- */

struct dat_writer;

/*
 * Creates path with its headers.  An existing file is -EEXIST, or emptied if replace; a
 * device or pipe is written to. buffered: number of records written at a time, 1 to
 * DAT_BUFFER_MAX.  Returns 0 and sets *out, to be closed with dat_close(), or -errno.
 */
int dat_create(const char *path, bool replace, uint64_t start, size_t buffered,
               struct dat_writer **out);

/* Adds a record.  Returns 0, or the -errno of the first failed write: from then on
   nothing is written, and the file holds complete records. */
int dat_write(struct dat_writer *writer, const struct dat_record *record);

/* Writes buffered records and the headers, with the time of the end, and closes the
   file.  Returns 0, or the -errno of the first failure. */
int dat_close(struct dat_writer *writer, uint64_t end);

/* ---- reading ---- */

/* A file opened for reading, and what is odd about it.  The file is not changed. */
struct dat {
    int fd;
    struct trace_progress progress; /* copied from the caller */
    uint64_t count;     /* number of records that dat_scan() passes on */
    uint64_t start, end;             /* start <= end */
    uint64_t heap_peak, stack_peak, sum_peak;
    bool nanoseconds;   /* since the Epoch; otherwise the unit is not known */
    bool killed;        /* the headers were never completed */
    unsigned cut_bytes; /* bytes of an incomplete record at the end */
    uint64_t doubled;   /* records at the end that memusage wrote twice */
    uint64_t holes;     /* records of zeros, because processes shared the file */
    uint64_t backwards; /* records older than the one before */
};

/* Number of bytes that dat_recognise() needs. */
#define DAT_RECOGNISED ((size_t)2 * DAT_RECORD_SIZE)

/* May these be the first bytes of a data file?  If there are fewer than DAT_RECOGNISED,
   it is a cut one.  It checks that the first header's heap is 0, that the run does not
   end before it starts, that the peaks do not contradict each other, and that not all is
   zero.  Headers that were not completed have no peaks. */
bool dat_recognise(const void *bytes, size_t size);

/* Opens a file.  Returns 0, or -errno: -EBADMSG if it is too short for the headers.
   progress, or NULL, is called now and then, by dat_open() and dat_scan(), for both
   together. */
int dat_open(const char *path, const struct trace_progress *progress, struct dat *dat);
void dat_close_read(struct dat *dat);

/* Passes the records to take() in order.  Their times are adjusted to lie between start
   and end and never to go back. index counts from 0.  Returns 0 or -errno. */
int dat_scan(const struct dat *dat,
             void (*take)(void *context, uint64_t index, const struct dat_record *record),
             void *context);

#endif
