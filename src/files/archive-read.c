/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a session from a file that anyone may have made.  It is read line by line.  The
 * size of a line, the number of lines of a kind and the total size have limits far above
 * what memtop writes, so that neither a few bytes that decompress endlessly nor a line
 * of brackets use much memory.  The first error ends reading.
 */
#include "config.h"

#include "files/archive.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "monitor/checkpoints.h"
#include "files/archive-lines.h"
#include "files/archive-sites.h"
#include "files/fields.h"
#include "files/pack.h"

#define LINE_MAX_BYTES (1u << 20)
#define FILE_MAX_BYTES (UINT64_C(192) << 20)
#define SAMPLES_MAX    65536u
#define SAMPLES_ALL_MAX (8 * SAMPLES_MAX)
#define CHECKPOINTS_MAX 4096u
#define CHECKPOINTS_ALL_MAX (2 * CHECKPOINTS_MAX)

/* A process being read. */
struct incoming {
    struct tracked *tracked;
    bool has_process;
    int64_t begin_ns; /* where the history begins */
    struct sample *samples;
    size_t sample_count;
    struct sites_intake *sites; /* NULL: no sites so far */
};

/* A file being read. */
struct reading {
    FILE *in;
    char *line;
    size_t length;
    unsigned number; /* of the current line */
    uint64_t bytes;  /* read so far */
    struct saved *saved;
    bool ended;
    struct incoming root, others[SAVED_OTHERS]; /* in the order of saved->others */
    struct incoming *at; /* the process that the current line belongs to */
    size_t samples, checkpoints; /* read for all processes together */
    struct sites_taken taken;
    size_t printed; /* number of output lines */
    char *why;       /* receives what is wrong */
    size_t why_size;
};

static bool refuse(struct reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool
refuse(struct reading *reading, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reading->why, reading->why_size, format, arguments);
    va_end(arguments);
    return false;
}

/* Refuses the current line. */
static bool
refuse_line(struct reading *reading, const char *what)
{
    /* TRANSLATORS: what is wrong with it: 'is not text' and the like. */
    return refuse(reading, _("line %u %s"), reading->number, _(what));
}

static bool
refuse_fault(struct reading *reading, const struct fault *fault)
{
    /* TRANSLATORS: a field's name; what is wrong with it. */
    return refuse(reading, _("'%s' in line %u %s"), fault->name, reading->number,
                  _(fault->what));
}

static bool
no_memory(struct reading *reading)
{
    return refuse(reading, "%s", strerror(ENOMEM));
}

/* ---- reading lines ---- */

static const char *
stream_error(const struct reading *reading)
{
    if (!ferror(reading->in) || errno == EBADMSG)
        return _("it is damaged or cut short");
    return strerror(errno);
}

/* Reads the next line.  Returns false and sets why if there is none, or it is too
   long. */
static bool
read_line(struct reading *reading)
{
    int byte;

    reading->length = 0;
    reading->number++;
    errno = 0;
    while ((byte = getc_unlocked(reading->in)) != EOF && byte != '\n') {
        if (reading->length == LINE_MAX_BYTES || ++reading->bytes == FILE_MAX_BYTES)
            return refuse_line(reading, N_("is too long"));
        reading->line[reading->length++] = (char)byte;
    }
    return byte != EOF || refuse(reading, "%s", stream_error(reading));
}

/* Takes the command, if the line has one.  Returns false if it is wrong (fault) or
   memory is short. */
static bool
take_command(const json_t *line, struct tracked *tracked, struct fault *fault)
{
    char command[SEGMENT_ARGS_LEN + 1];

    if (!fields_take_text(line, "command", command, sizeof command, fault))
        return fault->name == NULL;
    free(tracked->command);
    tracked->command = strdup(command);
    return tracked->command != NULL;
}

/* From here on, each function takes the object of a line of its type. */
static bool
take_session(struct reading *reading, const json_t *line)
{
    struct saved *saved = reading->saved;
    struct fault fault = {0};
    uint64_t version = 0, number;

    if (fields_take_number(line, "v", UINT_MAX, &version, &fault)
        && version != ARCHIVE_VERSION)
        return refuse(reading, _("it has version %u, but this memtop reads version %u"),
                      (unsigned)version, ARCHIVE_VERSION);
    if (version != ARCHIVE_VERSION || reading->number != 1)
        return refuse_line(reading, N_("does not begin a session"));
    if (fields_take_number(line, "saved", ARCHIVE_DATE_MAX, &number, &fault))
        saved->epoch_s = (int64_t)number;
    if (fields_take_number(line, "interval_ns", ARCHIVE_INTERVAL_MAX_NS, &number, &fault))
        saved->interval_ns = (int64_t)number;
    if (!take_command(line, &saved->root, &fault) && fault.name == NULL)
        return no_memory(reading);
    return fault.name == NULL || refuse_fault(reading, &fault);
}

static bool
take_process(struct reading *reading, const json_t *line)
{
    struct tracked *tracked = reading->at->tracked;
    const pid_t pid = tracked->process.pid;
    struct fault fault = {0};
    bool good;

    if (reading->at->has_process)
        return refuse_line(reading, N_("exceeds the number allowed"));
    reading->at->has_process = true;
    good = fields_take_process(line, &tracked->process, &fault)
           && take_command(line, tracked, &fault);
    if (reading->at != &reading->root)
        tracked->process.pid = pid; /* the process is found by it */
    if (good)
        return true;
    return fault.name != NULL ? refuse_fault(reading, &fault) : no_memory(reading);
}

/* The series in each position of a row; SERIES_COUNT: an unknown one. */
struct order {
    size_t count;
    enum series series[16];
};

static bool
take_order(const json_t *line, struct order *order)
{
    const json_t *names = json_object_get(line, "series");

    order->count = json_array_size(names);
    if (order->count > sizeof order->series / sizeof *order->series)
        return false;
    for (size_t i = 0; i < order->count; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        int series = 0;

        if (name == NULL)
            return false;
        while (series < SERIES_COUNT && strcmp(name, archive_series[series]) != 0)
            series++;
        order->series[i] = (enum series)series;
    }
    return json_is_array(names);
}

static bool
take_value(const json_t *value, uint64_t *out)
{
    *out = HISTORY_UNKNOWN;
    if (json_is_null(value))
        return true;
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

/* A row: [time, maximum and last value of each series]. */
static bool
take_row(const json_t *row, const struct order *order, struct sample *sample)
{
    uint64_t time_ns;

    memset(sample, 0xFF, sizeof *sample); /* all HISTORY_UNKNOWN */
    if (!take_value(json_array_get(row, 0), &time_ns) || time_ns > FIELDS_TIME_MAX
        || json_array_size(row) != 1 + 2 * order->count)
        return false;
    sample->time_ns = (int64_t)time_ns;
    for (size_t i = 0; i < order->count; i++) {
        uint64_t max, last;

        if (!take_value(json_array_get(row, 1 + 2 * i), &max)
            || !take_value(json_array_get(row, 2 + 2 * i), &last))
            return false;
        if (order->series[i] == SERIES_COUNT)
            continue;
        sample->max[order->series[i]] = max;
        sample->last[order->series[i]] = last;
    }
    return true;
}

/* Allocates `more` samples for the current process. */
static bool
make_room(struct reading *reading, size_t more)
{
    size_t count = reading->at->sample_count + more;
    struct sample *samples;

    reading->samples += more;
    if (count > SAMPLES_MAX || reading->samples > SAMPLES_ALL_MAX)
        return refuse_line(reading, N_("exceeds the number allowed"));
    samples = reallocarray(reading->at->samples, count + 1, sizeof *samples);
    if (samples == NULL)
        return no_memory(reading);
    reading->at->samples = samples;
    return true;
}

static bool
take_history(struct reading *reading, const json_t *line)
{
    const json_t *rows = json_object_get(line, "samples");
    struct incoming *at = reading->at;
    struct fault fault = {0};
    struct order order;
    uint64_t begin_ns = 0;
    size_t i;
    json_t *row;

    fields_take_number(line, "begin_ns", FIELDS_TIME_MAX, &begin_ns, &fault);
    if (fault.name != NULL)
        return refuse_fault(reading, &fault);
    if (!json_is_array(rows) || !take_order(line, &order))
        return refuse_line(reading, N_("is not a history"));
    if (!make_room(reading, json_array_size(rows)))
        return false;
    if (at->sample_count == 0)
        at->begin_ns = (int64_t)begin_ns;
    json_array_foreach((json_t *)(uintptr_t)rows, i, row) {
        struct sample *sample = &at->samples[at->sample_count];
        int64_t before_ns = at->sample_count > 0 ? sample[-1].time_ns : at->begin_ns;

        if (!take_row(row, &order, sample) || sample->time_ns < before_ns)
            return refuse_line(reading, N_("is not a history"));
        at->sample_count++;
    }
    return true;
}

/* Takes a moment; they must be in order. */
static bool
take_checkpoint(struct reading *reading, const json_t *line)
{
    static struct process process;
    struct tracked *tracked = reading->at->tracked;
    struct fault fault = {0};

    if (tracked->checkpoints == NULL)
        tracked->checkpoints = checkpoints_new(CHECKPOINTS_MAX);
    if (tracked->checkpoints == NULL)
        return no_memory(reading);
    if (!fields_take_process(line, &process, &fault))
        return refuse_fault(reading, &fault);
    size_t count = checkpoints_count(tracked->checkpoints);
    if (count == CHECKPOINTS_MAX || ++reading->checkpoints > CHECKPOINTS_ALL_MAX)
        return refuse_line(reading, N_("exceeds the number allowed"));
    if (count > 0 && process.run_ns <= checkpoints_time(tracked->checkpoints, count - 1))
        return refuse_line(reading, N_("is older than the one before"));
    checkpoints_add(tracked->checkpoints, &process);
    return true;
}

static bool
take_mark(struct reading *reading, const json_t *line)
{
    struct process *mark = &reading->saved->mark;
    struct fault fault = {0};

    if (!fields_take_process(line, mark, &fault))
        return refuse_fault(reading, &fault);
    reading->saved->marked = mark->measured && mark->missing == 0;
    return true;
}

static void
take_thread(const json_t *object, struct thread *thread, struct fault *fault)
{
    struct thread_counters *counters = &thread->counters;
    char state[2];
    uint64_t number;

    if (fields_take_number(object, "tid", INT_MAX, &number, fault))
        counters->tid = (pid_t)number;
    if (fields_take_number(object, "owners", UINT_MAX, &number, fault))
        counters->owners = (unsigned)number;
    fields_take_text(object, "name", thread->name, sizeof thread->name, fault);
    fields_take_text(object, "state", state, sizeof state, fault);
    thread->state = state[0];
    fields_take_number(object, "calls", INT64_MAX, &counters->calls, fault);
    fields_take_number(object, "allocated", INT64_MAX, &counters->allocated, fault);
    fields_take_number(object, "freed", INT64_MAX, &counters->freed, fault);
    fields_take_number(object, "stack", INT64_MAX, &counters->stack_now, fault);
    fields_take_number(object, "stack_peak", INT64_MAX, &counters->stack_peak, fault);
    fields_take_number(object, "stack_limit", INT64_MAX, &counters->stack_limit, fault);
}

static bool
take_threads(struct reading *reading, const json_t *line)
{
    const json_t *list = json_object_get(line, "list");
    struct saved *saved = reading->saved;
    struct fault fault = {0};
    uint64_t count = 0;

    if (!json_is_array(list) || json_array_size(list) > THREADS_MAX)
        return refuse_line(reading, N_("is not a list of threads"));
    fields_take_number(line, "count", UINT_MAX, &count, &fault);
    for (size_t i = 0; i < json_array_size(list); i++)
        take_thread(json_array_get(list, i), &saved->threads[i], &fault);
    saved->threads_known = true;
    saved->thread_count = json_array_size(list);
    /* The count exceeds the listed threads only if the list is full. */
    if (saved->thread_count == THREADS_MAX && count > THREADS_MAX)
        saved->thread_count = count;
    return fault.name == NULL || refuse_fault(reading, &fault);
}

static bool
take_processes(struct reading *reading, const json_t *line)
{
    const json_t *list = json_object_get(line, "list");
    char why_not[ARCHIVE_WHY];
    struct process_entry entry;
    struct fault fault = {0};

    if (!json_is_array(list))
        return refuse_line(reading, N_("is not a list of processes"));
    for (size_t i = 0; i < json_array_size(list); i++) {
        archive_take_entry(json_array_get(list, i), &entry, why_not, &fault);
        if (fault.name != NULL)
            return refuse_fault(reading, &fault);
        if (!saved_add_process(reading->saved, &entry, why_not))
            return no_memory(reading);
    }
    return true;
}

static bool
take_message(struct reading *reading, const json_t *line)
{
    int severities = sizeof archive_severities / sizeof *archive_severities;
    char text[sizeof((struct message *)NULL)->text], name[16];
    struct fault fault = {0};
    uint64_t time_ns = 0;
    int severity = 0;

    fields_take_number(line, "t_ns", FIELDS_TIME_MAX, &time_ns, &fault);
    fields_take_text(line, "text", text, sizeof text, &fault);
    fields_take_text(line, "severity", name, sizeof name, &fault);
    while (severity < severities && strcmp(name, archive_severities[severity]) != 0)
        severity++;
    if (fault.name != NULL)
        return refuse_fault(reading, &fault);
    saved_add_message(reading->saved, (int64_t)time_ns,
                      severity < severities ? (enum severity)severity : SEVERITY_STATE,
                      text);
    return true;
}

static bool
take_output(struct reading *reading, const json_t *line)
{
    const json_t *lines = json_object_get(line, "lines");
    struct saved *saved = reading->saved;
    size_t i;
    json_t *text;

    if (!json_is_array(lines))
        return refuse_line(reading, N_("is not output"));
    if (saved->capture == NULL)
        saved->capture = capture_new_saved();
    if (saved->capture == NULL)
        return no_memory(reading);
    json_array_foreach((json_t *)(uintptr_t)lines, i, text) {
        if (!json_is_string(text))
            return refuse_line(reading, N_("is not output"));
        if (reading->printed++ > 0)
            capture_feed(saved->capture, "\n", 1);
        capture_feed(saved->capture, json_string_value(text), json_string_length(text));
    }
    return true;
}

static bool
take_sites(struct reading *reading, const char *type, const json_t *line)
{
    struct incoming *at = reading->at;
    struct fault fault = {0};

    if (at->sites == NULL)
        at->sites = sites_intake_new(&reading->taken);
    if (at->sites == NULL)
        return no_memory(reading);
    if (sites_intake_take(at->sites, type, line, &fault))
        return true;
    return fault.what != NULL ? refuse_fault(reading, &fault) : no_memory(reading);
}

static bool
take_end(struct reading *reading, const json_t *line)
{
    (void)line;
    reading->ended = true;
    return true;
}

/* Sets reading->at for a line of process `of`. Returns false if there are too many
   processes, or memory is short. */
static bool
choose_process(struct reading *reading, pid_t of)
{
    struct saved *saved = reading->saved;
    struct tracked *tracked;
    size_t index = 0;

    reading->at = &reading->root;
    if (of == 0)
        return true;
    tracked = saved_other(saved, of);
    if (tracked == NULL)
        return saved->other_count == SAVED_OTHERS
                   ? refuse_line(reading, N_("exceeds the number allowed"))
                   : no_memory(reading);
    while (saved->others[index] != tracked)
        index++;
    reading->at = &reading->others[index];
    reading->at->tracked = tracked;
    return true;
}

static bool
take_object(struct reading *reading, const json_t *line)
{
    static const struct {
        const char *type;
        bool (*take)(struct reading *reading, const json_t *line);
        bool of_process; /* also used for other processes */
    } types[] = {
        {"session", take_session, false},     {"process", take_process, true},
        {"history", take_history, true},      {"moment", take_checkpoint, true},
        {"mark", take_mark, false},           {"threads", take_threads, false},
        {"processes", take_processes, false}, {"message", take_message, false},
        {"output", take_output, false},       {"end", take_end, false},
    };
    pid_t of;
    const char *type = archive_line_type(line, &of);

    if (type == NULL || of < 0
        || (reading->number == 1 && (of != 0 || strcmp(type, "session") != 0)))
        return refuse_line(reading, N_("does not begin a session"));
    if (!choose_process(reading, of))
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].type) == 0 && (of == 0 || types[i].of_process))
            return types[i].take(reading, line);
    if (sites_intake_knows(type))
        return take_sites(reading, type, line);
    /* Lines of later versions are skipped. */
    return true;
}

static bool
take_line(struct reading *reading)
{
    json_t *line = json_loadb(reading->line, reading->length, 0, NULL);
    bool good = json_is_object(line) ? take_object(reading, line)
                                     : refuse_line(reading, N_("is not a JSON object"));

    json_decref(line);
    return good;
}

/* Makes the history and the other parts of a process from what was read. */
static bool
complete_process(struct reading *reading, struct incoming *incoming)
{
    struct tracked *tracked = incoming->tracked;

    if (!incoming->has_process)
        return refuse(reading, "%s", _("it contains no process"));
    if (incoming->sites != NULL) {
        tracked->profile = sites_intake_finish(incoming->sites);
        if (tracked->profile == NULL)
            return no_memory(reading);
    }
    history_free(tracked->history);
    tracked->history = history_restore(incoming->begin_ns, incoming->samples,
                                       incoming->sample_count);
    if (tracked->checkpoints == NULL)
        tracked->checkpoints = checkpoints_new(0);
    return (tracked->history != NULL && tracked->checkpoints != NULL)
           || no_memory(reading);
}

static bool
complete(struct reading *reading)
{
    struct saved *saved = reading->saved;
    bool good = complete_process(reading, &reading->root);

    saved_arrange_processes(saved);
    for (size_t i = 0; good && i < saved->other_count; i++)
        good = complete_process(reading, &reading->others[i]);
    return good;
}

static void
free_incoming(struct incoming *incoming)
{
    free(incoming->samples);
    sites_intake_free(incoming->sites);
}

static struct reading *
reading_new(FILE *in, char *why, size_t size)
{
    struct reading *reading = calloc(1, sizeof *reading);

    if (reading == NULL)
        return NULL;
    *reading = (struct reading){.in = in,
                                .line = malloc(LINE_MAX_BYTES),
                                .saved = saved_new(),
                                .why = why,
                                .why_size = size};
    if (reading->saved != NULL)
        reading->root.tracked = &reading->saved->root;
    return reading;
}

static void
reading_free(struct reading *reading)
{
    free(reading->line);
    free_incoming(&reading->root);
    for (size_t i = 0; i < SAVED_OTHERS; i++)
        free_incoming(&reading->others[i]);
    free(reading);
}

static struct saved *
read_lines(FILE *in, char *why, size_t size)
{
    struct reading *reading = reading_new(in, why, size);
    struct saved *saved;
    bool good;

    if (reading == NULL) {
        snprintf(why, size, "%s", strerror(ENOMEM));
        return NULL;
    }
    saved = reading->saved;
    good = (reading->line != NULL && saved != NULL) || no_memory(reading);
    while (good && !reading->ended)
        good = read_line(reading) && take_line(reading);
    good = good && complete(reading);
    reading_free(reading);
    if (good)
        return saved;
    saved_free(saved);
    return NULL;
}

bool
archive_recognise(const void *bytes, size_t size)
{
    return size >= 4 && (memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0
                         || *(const char *)bytes == '{');
}

struct saved *
archive_read(FILE *in, char *why, size_t size)
{
    struct saved *saved;
    FILE *stream;
    int first = getc(in);

    ungetc(first, in);
    if (first == '{')
        return read_lines(in, why, size);
    stream = pack_reader(in);
    if (stream == NULL) {
        snprintf(why, size, "%s", strerror(ENOMEM));
        return NULL;
    }
    saved = read_lines(stream, why, size);
    fclose(stream);
    return saved;
}
