/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process as JSON.  What was not measured is absent, never zero.  Objects are
 * built whole and written as one line, so that a reader never sees half a line
 * but at the end of a disk.  Failed allocations inside jansson leave a NULL
 * somewhere, which its setters refuse: every setter's result is kept in
 * struct object, and a line that lacks something is not written.
 */
#include "config.h"

#include "report/json.h"

#include <jansson.h>
#include <string.h>
#include <sys/wait.h>

#include "report/names.h"
#include "report/textwidth.h"

struct object {
    json_t *json;
    bool complete;
};

static struct object
object_new(void)
{
    json_t *json = json_object();

    return (struct object){json, json != NULL};
}

/* Takes over value, which may be NULL. */
static void
set(struct object *object, const char *name, json_t *value)
{
    if (json_object_set_new(object->json, name, value) != 0)
        object->complete = false;
}

static void
set_object(struct object *object, const char *name, struct object value)
{
    set(object, name, value.json);
    object->complete &= value.complete;
}

static void
set_number(struct object *object, const char *name, uint64_t value)
{
    set(object, name, json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX));
}

/* A string of at most size bytes, of any bytes. */
static json_t *
string_new(const char *text, size_t size)
{
    char raw[SEGMENT_ARGS_LEN + 1];
    char clean[SEGMENT_ARGS_LEN + 1];
    size_t length = strnlen(text, size < sizeof raw ? size : sizeof raw - 1);

    memcpy(raw, text, length);
    raw[length] = '\0';
    return json_string(text_utf8(clean, sizeof clean, raw));
}

static void
set_functions(struct object *object, const char *name, const uint64_t values[FN_COUNT])
{
    struct object functions = object_new();

    for (unsigned i = 0; i < FN_COUNT; i++)
        set_number(&functions, report_function_names[i], values[i]);
    set_object(object, name, functions);
}

static void
set_mappings(struct object *object, const struct snapshot *now)
{
    struct object mappings = object_new();

    for (unsigned i = 0; i < MAPPING_COUNT; i++) {
        struct object mapping = object_new();

        set_number(&mapping, "calls", now->mapping_calls[i]);
        set_number(&mapping, "bytes", now->mapping_bytes[i]);
        set_number(&mapping, "failed", now->mapping_failed[i]);
        set_object(&mappings, report_mapping_names[i], mapping);
    }
    set_object(object, "mappings", mappings);
}

static void
set_memory(struct object *object, const struct process *process)
{
    const struct snapshot *now = &process->now;
    int coverage = process_coverage(process);

    set_number(object, "heap", now->live_bytes);
    set_number(object, "peak", now->peak_bytes);
    set_number(object, "total", now->total_bytes);
    set_number(object, "live", now->live_blocks);
    set_number(object, "usable", now->usable_bytes);
    if (coverage >= 0)
        set_number(object, "coverage", (uint64_t)coverage);
    set_number(object, "stack", now->stack_now);
    set_number(object, "stack_peak", now->stack_peak);
    if (process->stack_touched != 0)
        set_number(object, "stack_touched", process->stack_touched);
    set_number(object, "threads", now->threads);
    set_number(object, "threads_started", now->threads_started);
}

static void
set_calls(struct object *object, const struct process *process)
{
    const struct snapshot *now = &process->now;

    set_functions(object, "calls", now->calls);
    set_functions(object, "bytes", now->bytes);
    set_functions(object, "failed", now->failed);
    set_functions(object, "failed_bytes", now->failed_bytes);
    set_number(object, "realloc_in_place", now->realloc_inplace);
    set_number(object, "realloc_shrunk", now->realloc_dec);
    set_number(object, "realloc_freed", now->realloc_freed);
    set_number(object, "free_null", now->free_null);
    set_number(object, "unmatched", now->unmatched);
    if (process->identity.flags & SEGMENT_FLAG_MMAP)
        set_mappings(object, now);
}

/* What all objects have in common. */
static struct object
process_object(const char *type, const struct process *process)
{
    struct object object = object_new();

    set_number(&object, "v", 1);
    set(&object, "type", json_string(type));
    set_number(&object, "t_ns", process->run_ns > 0 ? (uint64_t)process->run_ns : 0);
    set_number(&object, "pid", process->pid > 0 ? (uint64_t)process->pid : 0);
    set(&object, "state", json_string(process_state_json(process->state)));
    set_number(&object, "generation",
               process->generations > 0 ? process->generations - 1 : 0);
    set_number(&object, "children", process->children);
    set_number(&object, "children_seen", process->children_seen);
    if (process->os_known) {
        set_number(&object, "rss", process->os.rss);
        set_number(&object, "rss_anon", process->os.rss_anon);
        set_number(&object, "rss_peak", process->rss_peak);
    }
    set(&object, "measured", json_boolean(process->measured));
    if (!process->measured) {
        set(&object, "why", string_new(process->why_not, sizeof process->why_not));
        return object;
    }
    set_memory(&object, process);
    set_calls(&object, process);
    return object;
}

static void
set_end(struct object *object, const struct process *process)
{
    int status = process->wait_status;

    if (process->state == STATE_EXITED && WIFEXITED(status))
        set_number(object, "status", (uint64_t)WEXITSTATUS(status));
    if (process->state == STATE_KILLED && WIFSIGNALED(status)) {
        set_number(object, "signal", (uint64_t)WTERMSIG(status));
        set(object, "core", json_boolean(WCOREDUMP(status)));
    }
}

static void
set_identity(struct object *object, const struct identity *identity)
{
    json_t *args = json_array();
    size_t size = identity->args_size < sizeof identity->args ? identity->args_size
                                                              : sizeof identity->args;

    for (size_t at = 0; at < size; at += strnlen(identity->args + at, size - at) + 1)
        if (json_array_append_new(args, string_new(identity->args + at, size - at)) != 0)
            object->complete = false;
    set(object, "program", string_new(identity->program, sizeof identity->program));
    set(object, "args", args);
    set(object, "args_cut", json_boolean(identity->args_cut));
    set(object, "accounting",
        json_string(identity->accounting == ACCOUNTING_USABLE ? "usable" : "requested"));
    set(object, "allocator", string_new(identity->allocator, sizeof identity->allocator));
}

/* Appends a range of sizes if anything is in it; end is exclusive, 0: none. */
static void
append_range(struct object *object, json_t *array, uint64_t from, uint64_t end,
             const char *name, uint64_t count)
{
    struct object range;

    if (count == 0)
        return;
    range = object_new();
    set_number(&range, "from", from);
    if (end != 0)
        set_number(&range, "to", end - 1);
    set_number(&range, name, count);
    if (json_array_append_new(array, range.json) != 0 || !range.complete)
        object->complete = false;
}

static uint64_t
coarse_end(unsigned bucket)
{
    return bucket + 1 < HISTOGRAM_COARSE ? histogram_coarse_floor(bucket + 1) : 0;
}

static void
set_sizes(struct object *object, const struct histogram *sizes)
{
    json_t *allocated = json_array();
    json_t *live = json_array();

    for (unsigned i = 0; i < HISTOGRAM_FINE; i++)
        append_range(object, allocated, (uint64_t)i * HISTOGRAM_CELL_BYTES,
                     (uint64_t)(i + 1) * HISTOGRAM_CELL_BYTES, "allocated",
                     sizes->allocated[i]);
    for (unsigned i = HISTOGRAM_COARSE_LARGE; i < HISTOGRAM_COARSE; i++)
        append_range(object, allocated, histogram_coarse_floor(i), coarse_end(i),
                     "allocated",
                     sizes->allocated[HISTOGRAM_FINE + i - HISTOGRAM_COARSE_LARGE]);
    for (unsigned i = 0; i < HISTOGRAM_COARSE; i++)
        append_range(object, live, histogram_coarse_floor(i), coarse_end(i), "live",
                     sizes->live[i]);
    set(object, "sizes", allocated);
    set(object, "live_sizes", live);
}

/* Writes the line and lets go of the object. */
static bool
write_line(FILE *out, struct object object)
{
    bool written = object.complete && json_dumpf(object.json, out, JSON_COMPACT) == 0
                   && fputc('\n', out) != EOF;

    json_decref(object.json);
    return written && fflush(out) == 0;
}

bool
report_json_sample(FILE *out, const struct process *process)
{
    return write_line(out, process_object("sample", process));
}

/* All there is to tell. */
static bool
write_whole(FILE *out, const char *type, const struct process *process)
{
    struct object object = process_object(type, process);

    set_end(&object, process);
    if (process->measured) {
        set_identity(&object, &process->identity);
        set_sizes(&object, &process->sizes);
    }
    return write_line(out, object);
}

bool
report_json_snapshot(FILE *out, const struct process *process)
{
    return write_whole(out, "snapshot", process);
}

bool
report_json_exit(FILE *out, const struct process *process)
{
    return write_whole(out, "exit", process);
}
