/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a session to a file, one object per line, so that it is never in memory as a
 * whole, neither here nor in the reader.
 */
#include "config.h"

#include "files/archive.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "monitor/checkpoints.h"
#include "monitor/history.h"
#include "monitor/tracked.h"
#include "files/archive-lines.h"
#include "files/archive-sites.h"
#include "files/fields.h"
#include "base/fresh.h"
#include "files/pack.h"

#define SAMPLES_A_LINE 256
#define OUTPUT_A_LINE  100
#define PROCESSES_A_LINE 200

#define CHECKPOINT                                                                       \
    (1u << FIELDS_SYSTEM | 1u << FIELDS_SYSTEM_MORE | 1u << FIELDS_HEAP                  \
     | 1u << FIELDS_STACK | 1u << FIELDS_COUNTERS | 1u << FIELDS_COUNTERS_MORE           \
     | 1u << FIELDS_USABLE | 1u << FIELDS_VAIN | 1u << FIELDS_RATES                      \
     | 1u << FIELDS_TOUCHED | 1u << FIELDS_CUSTOM)

/* A file being written. good: everything was written so far. */
struct writer {
    FILE *out;
    pid_t of;        /* pid of another process than the one shown, or 0 */
    bool good;
    json_t *samples; /* rows of the current line of history ... */
    int64_t begin_ns, last_ns; /* ... and its times */
};

static void
put_line(struct writer *writer, struct object object)
{
    if (writer->good)
        writer->good = archive_put_line(writer->out, writer->of, object);
    else
        json_decref(object.json);
}

static struct object
line_new(const char *type)
{
    struct object object = object_new();

    object_set(&object, "type", json_string(type));
    return object;
}

static void
append(struct object *object, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        object->complete = false;
}

/* The date of the session; a session that is saved again keeps its date. */
static int64_t
date_of(const struct archive *archive)
{
    int64_t saved_s = session_shown(archive->session)->saved_epoch_s;

    return saved_s > 0 ? saved_s : (int64_t)time(NULL);
}

static void
put_session(struct writer *writer, const struct archive *archive)
{
    const char *command = tracked_command(session_shown(archive->session));
    struct object line = object_new();

    object_set_number(&line, "v", ARCHIVE_VERSION);
    object_set(&line, "type", json_string("session"));
    object_set_text(&line, "memtop", PACKAGE_VERSION, sizeof PACKAGE_VERSION);
    object_set_limited(&line, "saved", (uint64_t)date_of(archive), ARCHIVE_DATE_MAX);
    if (archive->interval_ns > 0)
        object_set_limited(&line, "interval_ns", (uint64_t)archive->interval_ns,
                           ARCHIVE_INTERVAL_MAX_NS);
    object_set_text(&line, "command", command, strlen(command));
    put_line(writer, line);
}

/* ---- a process: its last figures, history and moments ---- */

/* A line with all that is known of the process at a moment. */
static struct object
moment(const char *type, const struct process *process)
{
    struct object line = object_new();

    fields_put_head(&line, type, process);
    fields_put(&line, CHECKPOINT, process);
    fields_put_end(&line, process);
    fields_put_mappings(&line, process);
    fields_put_rss(&line, process);
    fields_put_sizes(&line, process);
    return line;
}

/* command: NULL if it is in the session's line. */
static void
put_process(struct writer *writer, const struct process *process, const char *command)
{
    struct object line = moment("process", process);

    fields_put_identity(&line, process);
    if (command != NULL)
        object_set_text(&line, "command", command, strlen(command));
    put_line(writer, line);
}

static json_t *
value_or_null(uint64_t value)
{
    return value == HISTORY_UNKNOWN ? json_null() : fields_number(value);
}

static void
flush_samples(struct writer *writer)
{
    struct object line;
    json_t *series;

    if (json_array_size(writer->samples) == 0)
        return;
    line = line_new("history");
    object_set_time(&line, "begin_ns", writer->begin_ns);
    writer->begin_ns = writer->last_ns;
    series = json_array();
    for (int i = 0; i < SERIES_COUNT; i++)
        append(&line, series, json_string(archive_series[i]));
    object_set(&line, "series", series);
    object_set(&line, "samples", writer->samples);
    put_line(writer, line);
    writer->samples = json_array();
}

static void
put_sample(void *context, const struct sample *sample)
{
    struct writer *writer = context;
    json_t *row = json_array();
    bool good = json_array_append_new(row, fields_time(sample->time_ns)) == 0;

    for (int i = 0; i < SERIES_COUNT; i++) {
        good &= json_array_append_new(row, value_or_null(sample->max[i])) == 0;
        good &= json_array_append_new(row, value_or_null(sample->last[i])) == 0;
    }
    writer->good &= json_array_append_new(writer->samples, row) == 0 && good;
    writer->last_ns = sample->time_ns;
    if (json_array_size(writer->samples) == SAMPLES_A_LINE)
        flush_samples(writer);
}

static void
put_history(struct writer *writer, const struct history *history)
{
    int64_t last_ns;

    if (!history_span(history, &writer->begin_ns, &last_ns))
        return;
    writer->samples = json_array();
    history_each(history, put_sample, writer);
    flush_samples(writer);
    json_decref(writer->samples);
}

static void
put_checkpoints(struct writer *writer, const struct tracked *tracked)
{
    const struct checkpoints *checkpoints = tracked->checkpoints;
    int64_t before_ns = -1;

    for (size_t i = 0; checkpoints != NULL && i < checkpoints_count(checkpoints); i++) {
        struct process process = tracked->process;
        struct object line;
        int64_t time_ns;

        checkpoints_restore(checkpoints, i, &process);
        line = moment("moment", &process);
        /* Readers require increasing times. */
        time_ns = json_integer_value(json_object_get(line.json, "t_ns"));
        if (time_ns > before_ns) {
            put_line(writer, line);
            before_ns = time_ns;
        } else {
            json_decref(line.json);
        }
    }
}

/* ---- the session ---- */

static struct object
thread_object(const struct thread *thread)
{
    const struct thread_counters *counters = &thread->counters;
    struct object object = object_new();

    object_set_limited(&object, "tid", (uint64_t)counters->tid, INT_MAX);
    object_set_text(&object, "name", thread->name, sizeof thread->name);
    object_set_text(&object, "state", &thread->state, 1);
    object_set_number(&object, "owners", counters->owners);
    object_set_number(&object, "calls", counters->calls);
    object_set_number(&object, "allocated", counters->allocated);
    object_set_number(&object, "freed", counters->freed);
    object_set_number(&object, "stack", counters->stack_now);
    object_set_number(&object, "stack_peak", counters->stack_peak);
    object_set_number(&object, "stack_limit", counters->stack_limit);
    return object;
}

static void
put_threads(struct writer *writer, struct session *session)
{
    static struct thread threads[THREADS_MAX];
    const struct saved *saved = session_saved(session);
    size_t count = session_threads(session, threads, THREADS_MAX);
    struct object line;
    json_t *list;

    if (saved != NULL && !saved->threads_known)
        return;
    line = line_new("threads");
    list = json_array();
    for (size_t i = 0; i < count && i < THREADS_MAX; i++) {
        struct object thread = thread_object(&threads[i]);

        append(&line, list, thread.json);
        line.complete &= thread.complete;
    }
    object_set_limited(&line, "count", count, UINT_MAX);
    object_set(&line, "list", list);
    put_line(writer, line);
}

/* The processes of the list, each pid once. */
struct entries {
    const struct process_entry *all[SAVED_PROCESSES];
    size_t count;
};

static void
note_entry(void *context, const struct process_entry *entry)
{
    struct entries *entries = context;

    /* If two processes had the same pid, the later one is kept. */
    for (size_t i = 0; i < entries->count; i++)
        if (entries->all[i]->pid == entry->pid) {
            entries->all[i] = entry;
            return;
        }
    if (entries->count < SAVED_PROCESSES)
        entries->all[entries->count++] = entry;
}

static void
put_processes(struct writer *writer, const struct session *session)
{
    const struct process_list *process_list = session_processes(session);
    struct entries entries = {.count = 0};
    size_t at = 0;

    if (process_list != NULL)
        process_list_each(process_list, note_entry, &entries);
    while (at < entries.count) {
        struct object line = line_new("processes");
        json_t *list = json_array();

        for (size_t end = at + PROCESSES_A_LINE; at < entries.count && at < end; at++) {
            struct object entry = archive_put_entry(entries.all[at]);

            append(&line, list, entry.json);
            line.complete &= entry.complete;
        }
        object_set(&line, "list", list);
        put_line(writer, line);
    }
}

static void
put_messages(struct writer *writer, const struct session *session)
{
    for (size_t i = 0; i < session_message_count(session); i++) {
        const struct message *message = session_message(session, i);
        struct object line = line_new("message");

        object_set_time(&line, "t_ns", message->run_ns);
        object_set(&line, "severity", json_string(archive_severities[message->severity]));
        object_set_text(&line, "text", message->text, sizeof message->text);
        put_line(writer, line);
    }
}

/* Without any output one empty line is written, which says that the output is known. */
static void
put_output(struct writer *writer, const struct capture *capture)
{
    size_t count = capture != NULL ? capture_line_count(capture) : 0;
    size_t at = 0;

    if (capture == NULL)
        return;
    do {
        struct object line = line_new("output");
        json_t *lines = json_array();

        for (size_t end = at + OUTPUT_A_LINE; at < count && at < end; at++) {
            size_t length;
            const char *bytes = capture_line(capture, at, &length);

            append(&line, lines, fields_text(bytes, length));
        }
        object_set(&line, "lines", lines);
        put_line(writer, line);
    } while (at < count);
}

/* ---- other processes ---- */

/* They come last, those with most memory first, within the limits of readers for the
   size of a file and the number of processes. */
#define OTHERS_BYTES_MAX ((size_t)32 << 20)

struct written_others {
    struct writer *writer;
    const struct archive *archive;
    size_t count, bytes, sites;
};

/* Writes its lines to memory first, so that either all of them go to the file or none. */
static bool
other_text(const struct tracked *tracked, char **text, size_t *size)
{
    struct writer writer = {.of = tracked->process.pid, .good = true};

    writer.out = open_memstream(text, size);
    if (writer.out == NULL)
        return false;
    put_process(&writer, &tracked->process, tracked_command(tracked));
    put_history(&writer, tracked->history);
    put_checkpoints(&writer, tracked);
    writer.good = writer.good
                  && archive_put_sites(writer.out, writer.of, tracked->profile);
    return fclose(writer.out) == 0 && writer.good;
}

static bool
put_other(void *context, const struct tracked *tracked)
{
    struct written_others *others = context;
    struct writer *writer = others->writer;
    char *text = NULL;
    size_t size = 0;

    others->sites += profile_digested(tracked->profile, NULL)->site_count;
    if (others->sites > SITES_TAKEN_MAX - SITES_RECORDS)
        return false;
    if (others->archive->name != NULL)
        others->archive->name(others->archive->context, others->archive->session,
                              tracked);
    if (!other_text(tracked, &text, &size))
        writer->good = false;
    else if (others->bytes + size <= OTHERS_BYTES_MAX)
        writer->good = fwrite(text, 1, size, writer->out) == size;
    others->bytes += size;
    others->count++;
    free(text);
    return writer->good && others->count < SAVED_OTHERS
           && others->bytes <= OTHERS_BYTES_MAX;
}

static void
put_others(struct writer *writer, const struct archive *archive)
{
    struct written_others others = {.writer = writer, .archive = archive};

    if (writer->good)
        session_each_sampled(archive->session, put_other, &others);
}

bool
archive_write(FILE *out, const struct archive *archive)
{
    const struct tracked *tracked = session_shown(archive->session);
    struct writer writer = {.out = out, .good = true};

    errno = ENOMEM; /* if nothing sets errno, the reason is memory */
    put_session(&writer, archive);
    put_process(&writer, &tracked->process, NULL);
    put_history(&writer, tracked->history);
    put_checkpoints(&writer, tracked);
    put_threads(&writer, archive->session);
    put_processes(&writer, archive->session);
    if (archive->mark != NULL)
        put_line(&writer, moment("mark", archive->mark));
    put_messages(&writer, archive->session);
    put_output(&writer, archive->capture);
    writer.good = writer.good && archive_put_sites(out, 0, tracked->profile);
    put_others(&writer, archive);
    put_line(&writer, line_new("end"));
    return writer.good;
}

/* ---- files ---- */

static bool
write_packed(FILE *file, void *context)
{
    const struct archive *archive = context;
    FILE *stream = pack_writer(file);
    bool good = stream != NULL && archive_write(stream, archive);
    int error = errno;

    if (stream != NULL && fclose(stream) != 0 && good) {
        good = false;
        error = errno;
    }
    errno = error;
    return good;
}

int
archive_save(const struct archive *archive, const char *path)
{
    struct archive copy = *archive;

    return fresh_write(path, write_packed, &copy);
}
