/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes memusage's data files, and reads them in whatever state they are.  While a file
 * is written it can be read at any time: headers first, complete records after them;
 * only the end is missing.  The reader does not change files, and believes no header
 * that contradicts the records.
 */
#include "config.h"

#include "files/dat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/figures.h"
#include "files/outfile.h"

#define HEADERS 2u
#define HEADERS_SIZE (HEADERS * DAT_RECORD_SIZE)

/* Nanoseconds since the Epoch are in this range from 2001 to 2096; a TSC would reach it
   after 8 years at 4 GHz. */
#define EPOCH_NS_FIRST UINT64_C(1000000000000000000)
#define EPOCH_NS_LAST  UINT64_C(4000000000000000000)

#define RUNS 2u /* passes over a file: one when opening, one when reading */
#define READ_AT_ONCE 4096u

/* A record in the file. */
struct raw {
    uint64_t heap;
    uint64_t stack;
    uint32_t time_low;
    uint32_t time_high;
};
_Static_assert(sizeof(struct raw) == DAT_RECORD_SIZE, "a record");

static struct raw
encode(uint64_t heap, uint64_t stack, uint64_t time)
{
    return (struct raw){heap, stack, (uint32_t)time, (uint32_t)(time >> 32)};
}

static uint64_t
time_of(const struct raw *raw)
{
    return (uint64_t)raw->time_high << 32 | raw->time_low;
}

/* ---- writing ---- */

struct dat_writer {
    struct outfile file;
    uint64_t start, end; /* end: time of the last record */
    uint64_t heap_peak, stack_peak, sum_peak;
    size_t buffered, held;
    struct raw records[];
};

int
dat_create(const char *path, bool replace, uint64_t start, size_t buffered,
           struct dat_writer **out)
{
    const struct raw headers[HEADERS] = {encode(0, 0, start), encode(0, 0, start)};
    struct dat_writer *writer;
    int error;

    writer = calloc(1, sizeof *writer + buffered * sizeof writer->records[0]);
    if (writer == NULL)
        return -ENOMEM;
    error = outfile_create(&writer->file, path, replace);
    writer->start = writer->end = start;
    writer->buffered = buffered;
    if (error == 0) {
        error = outfile_append(&writer->file, headers, sizeof headers, sizeof headers);
        if (error != 0)
            outfile_close(&writer->file);
    }
    if (error == 0)
        *out = writer;
    else
        free(writer);
    return error;
}

static int
flush(struct dat_writer *writer)
{
    size_t held = writer->held;

    writer->held = 0;
    return outfile_append(&writer->file, writer->records, held * DAT_RECORD_SIZE,
                          DAT_RECORD_SIZE);
}

int
dat_write(struct dat_writer *writer, const struct dat_record *record)
{
    if (writer->file.error != 0)
        return writer->file.error;
    raise_to(&writer->heap_peak, record->heap);
    raise_to(&writer->stack_peak, record->stack);
    raise_to(&writer->sum_peak, record->heap + record->stack);
    raise_to(&writer->end, record->time);
    writer->records[writer->held++] = encode(record->heap, record->stack, record->time);
    return writer->held == writer->buffered ? flush(writer) : 0;
}

/* Overwrites the headers. memusagestat divides by the time between start and end, so it
   must not be zero. */
static int
complete_headers(const struct dat_writer *writer)
{
    uint64_t end = writer->end > writer->start ? writer->end : writer->start + 1;
    const struct raw headers[HEADERS] = {
        encode(0, writer->sum_peak, writer->start),
        encode(writer->heap_peak, writer->stack_peak, end),
    };
    ssize_t wrote;

    do
        wrote = pwrite(writer->file.fd, headers, sizeof headers, 0);
    while (wrote < 0 && errno == EINTR);
    if (wrote == sizeof headers)
        return 0;
    return wrote >= 0 ? -EIO : errno == ESPIPE ? 0 : -errno;
}

int
dat_close(struct dat_writer *writer, uint64_t end)
{
    int error = flush(writer);
    int header_error;

    raise_to(&writer->end, end);
    header_error = complete_headers(writer);
    if (error == 0)
        writer->file.error = header_error;
    error = outfile_close(&writer->file);
    free(writer);
    return error;
}

/* ---- reading ---- */

/* Can these peaks come from one run?  A heap that was counted below zero, as memusage
   may do, can be anything. */
static bool
peaks_can_be(uint64_t heap, uint64_t stack, uint64_t sum)
{
    return heap > INT64_MAX
           || (sum >= heap && sum >= stack && sum <= add_saturating(heap, stack));
}

bool
dat_recognise(const void *bytes, size_t size)
{
    struct raw headers[HEADERS] = {{.heap = 0}};
    static const struct raw nothing[HEADERS];

    if (size < sizeof headers[0].heap)
        return false;
    memcpy(headers, bytes, size < sizeof headers ? size : sizeof headers);
    if (headers[0].heap != 0 || memcmp(headers, nothing, sizeof headers) == 0)
        return false;
    return size < sizeof headers
           || (time_of(&headers[1]) >= time_of(&headers[0])
               && peaks_can_be(headers[1].heap, headers[1].stack, headers[0].stack));
}

/* Reads count records from record number `at` on.  Returns 0 or -errno; -EBADMSG if the
   file was cut short meanwhile. */
static int
read_records(int fd, uint64_t at, struct raw *records, size_t count)
{
    size_t size = count * sizeof *records, done = 0;

    while (done < size) {
        ssize_t got = pread(fd, (char *)records + done, size - done,
                            (off_t)(at * DAT_RECORD_SIZE + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EBADMSG;
        done += (size_t)got;
    }
    return 0;
}

static bool
is_hole(const struct raw *raw)
{
    return raw->heap == 0 && raw->stack == 0 && time_of(raw) == 0;
}

/*
 * If memusage's buffer is just full at the end, memusage writes its second half again:
 * the last n records equal the n before them, times included.  Returns the number of
 * repeated records.
 */
static uint64_t
find_doubled(const struct raw *tail, uint64_t count)
{
    for (uint64_t n = count / 2; n > 0; n--)
        if (memcmp(&tail[count - n], &tail[count - 2 * n], n * sizeof *tail) == 0)
            return is_hole(&tail[count - 1]) ? 0 : n;
    return 0;
}

static int
look_for_doubled(struct dat *dat)
{
    uint64_t count = dat->count < 2 * DAT_BUFFER_MAX ? dat->count : 2 * DAT_BUFFER_MAX;
    struct raw *tail = malloc((count + 1) * sizeof *tail);
    int error;

    if (tail == NULL)
        return -ENOMEM;
    error = read_records(dat->fd, HEADERS + dat->count - count, tail, count);
    if (error == 0)
        dat->doubled = find_doubled(tail, count);
    dat->count -= dat->doubled;
    free(tail);
    return error;
}

/* Reports progress within pass number `run`, from 0. */
static void
tell_progress(const struct dat *dat, uint64_t at, uint64_t stored, unsigned run)
{
    if (dat->progress.tell != NULL)
        dat->progress.tell(dat->progress.context, run * stored + at, RUNS * stored);
}

/* Passes over all records that are not holes. */
static int
each_record(const struct dat *dat, uint64_t stored, unsigned run,
            void (*take)(void *context, const struct raw *raw), void *context)
{
    static struct raw records[READ_AT_ONCE];

    for (uint64_t at = 0; at < stored; at += READ_AT_ONCE) {
        size_t count = stored - at < READ_AT_ONCE ? stored - at : READ_AT_ONCE;
        int error = read_records(dat->fd, HEADERS + at, records, count);

        if (error != 0)
            return error;
        tell_progress(dat, at, stored, run);
        for (size_t i = 0; i < count; i++)
            if (!is_hole(&records[i]))
                take(context, &records[i]);
    }
    return 0;
}

/* What the records themselves say. */
struct survey {
    struct dat *dat;
    uint64_t kept;
    uint64_t newest, last;
    uint64_t heap_peak, stack_peak, sum_peak;
};

static void
survey_record(void *context, const struct raw *raw)
{
    struct survey *survey = context;
    uint64_t time = time_of(raw);

    survey->kept++;
    survey->dat->backwards += time < survey->last;
    survey->last = time;
    raise_to(&survey->newest, time);
    raise_to(&survey->heap_peak, raw->heap);
    raise_to(&survey->stack_peak, raw->stack);
    if (raw->heap + raw->stack >= raw->heap) /* a sum that wraps around is wrong */
        raise_to(&survey->sum_peak, raw->heap + raw->stack);
}

static int
survey_records(struct dat *dat, const struct raw headers[HEADERS])
{
    struct survey survey = {.dat = dat};
    uint64_t stored = dat->count;
    int error = each_record(dat, stored, 0, survey_record, &survey);

    if (error != 0)
        return error;
    dat->count = survey.kept;
    dat->holes = stored - survey.kept;
    dat->killed = headers[1].heap == 0 && headers[1].stack == 0 && survey.kept > 0;
    dat->start = time_of(&headers[0]);
    dat->end = dat->killed ? survey.newest : time_of(&headers[1]);
    if (dat->end < dat->start)
        dat->end = dat->start;
    dat->heap_peak = headers[1].heap;
    dat->stack_peak = headers[1].stack;
    dat->sum_peak = headers[0].stack;
    raise_to(&dat->heap_peak, survey.heap_peak);
    raise_to(&dat->stack_peak, survey.stack_peak);
    raise_to(&dat->sum_peak, survey.sum_peak);
    dat->nanoseconds = dat->start >= EPOCH_NS_FIRST && dat->end <= EPOCH_NS_LAST;
    return 0;
}

static int
examine(struct dat *dat)
{
    struct raw headers[HEADERS];
    struct stat st;
    int error;

    if (fstat(dat->fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (st.st_size < (off_t)HEADERS_SIZE)
        return -EBADMSG;
    dat->cut_bytes = (unsigned)((uint64_t)st.st_size % DAT_RECORD_SIZE);
    dat->count = (uint64_t)st.st_size / DAT_RECORD_SIZE - HEADERS;
    error = read_records(dat->fd, 0, headers, HEADERS);
    if (error == 0)
        error = look_for_doubled(dat);
    return error != 0 ? error : survey_records(dat, headers);
}

int
dat_open(const char *path, const struct trace_progress *progress, struct dat *dat)
{
    int error;

    *dat = (struct dat){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)};
    if (dat->fd < 0)
        return -errno;
    if (progress != NULL)
        dat->progress = *progress;
    error = examine(dat);
    if (error != 0)
        dat_close_read(dat);
    return error;
}

void
dat_close_read(struct dat *dat)
{
    if (dat->fd >= 0)
        close(dat->fd);
    dat->fd = -1;
}

struct scan {
    const struct dat *dat;
    void (*take)(void *context, uint64_t index, const struct dat_record *record);
    void *context;
    uint64_t index;
    uint64_t time; /* of the record before */
};

static void
scan_record(void *context, const struct raw *raw)
{
    struct scan *scan = context;
    uint64_t time = time_of(raw);

    if (scan->index >= scan->dat->count)
        /* A hole was filled after the file was opened. */
        return;
    if (time > scan->dat->end)
        time = scan->dat->end;
    raise_to(&scan->time, time);
    scan->take(scan->context, scan->index++,
               &(struct dat_record){raw->heap, raw->stack, scan->time});
}

int
dat_scan(const struct dat *dat,
         void (*take)(void *context, uint64_t index, const struct dat_record *record),
         void *context)
{
    struct scan scan = {dat, take, context, 0, dat->start};

    return each_record(dat, dat->count + dat->holes, 1, scan_record, &scan);
}
