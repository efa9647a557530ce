/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of figures, and writing.  Names never change; new figures get new names. */
#include "config.h"

#include "files/fields.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "segment/functions.h"
#include "base/textwidth.h"

#define FIELD(name, group, kind, member)                                                \
    {                                                                                   \
        name, FIELDS_##group, FIELD_##kind, offsetof(struct process, member)            \
    }

const struct field fields_table[] = {
    FIELD("rss", SYSTEM, NUMBER, os.rss),
    FIELD("rss_anon", SYSTEM, NUMBER, os.rss_anon),
    FIELD("rss_peak", SYSTEM, NUMBER, rss_peak),
    FIELD("rss_file", SYSTEM_MORE, NUMBER, os.rss_file),
    FIELD("rss_shmem", SYSTEM_MORE, NUMBER, os.rss_shmem),
    FIELD("stack_size", SYSTEM_MORE, NUMBER, os.stack_size),
    FIELD("tasks", SYSTEM_MORE, UNSIGNED, os.threads),
    FIELD("task_state", SYSTEM_MORE, LETTER, os.state),
    FIELD("heap", HEAP, NUMBER, now.live_bytes),
    FIELD("peak", HEAP, NUMBER, now.peak_bytes),
    FIELD("total", COUNTERS, NUMBER, now.total_bytes),
    FIELD("live", COUNTERS, NUMBER, now.live_blocks),
    FIELD("usable", USABLE, NUMBER, now.usable_bytes),
    FIELD("stack", STACK, NUMBER, now.stack_now),
    FIELD("stack_peak", STACK, NUMBER, now.stack_peak),
    FIELD("stack_touched", TOUCHED, NUMBER, stack_touched),
    FIELD("threads", COUNTERS, NUMBER, now.threads),
    FIELD("threads_started", COUNTERS, NUMBER, now.threads_started),
    FIELD("calls", COUNTERS, FUNCTIONS, now.calls),
    FIELD("bytes", COUNTERS, FUNCTIONS, now.bytes),
    FIELD("failed", VAIN, FUNCTIONS, now.failed),
    FIELD("failed_bytes", VAIN, FUNCTIONS, now.failed_bytes),
    FIELD("realloc_in_place", COUNTERS, NUMBER, now.realloc_inplace),
    FIELD("realloc_shrunk", COUNTERS, NUMBER, now.realloc_dec),
    FIELD("realloc_freed", COUNTERS, NUMBER, now.realloc_freed),
    FIELD("free_null", VAIN, NUMBER, now.free_null),
    FIELD("unmatched", COUNTERS, NUMBER, now.unmatched),
    FIELD("not_counted", COUNTERS_MORE, NUMBER, now.not_counted),
    FIELD("threads_merged", COUNTERS_MORE, NUMBER, now.threads_merged),
    FIELD("torn", COUNTERS_MORE, UNSIGNED, now.torn),
    FIELD("occupied_peak", COUNTERS_MORE, NUMBER, heap_peak),
    FIELD("rss_anon_peak", COUNTERS_MORE, NUMBER, rss_anon_peak),
    FIELD("custom_allocated", CUSTOM, NUMBER, now.custom_made),
    FIELD("custom_allocated_bytes", CUSTOM, NUMBER, now.custom_made_bytes),
    FIELD("custom_freed", CUSTOM, NUMBER, now.custom_freed),
    FIELD("custom_freed_bytes", CUSTOM, NUMBER, now.custom_freed_bytes),
    FIELD("custom_unmatched", CUSTOM, NUMBER, now.custom_unmatched),
    FIELD("custom_live", CUSTOM, NUMBER, now.custom_live),
    FIELD("custom_live_bytes", CUSTOM, NUMBER, now.custom_live_bytes),
    FIELD("call_rates", RATES, FUNCTION_RATES, rates.calls),
    FIELD("allocated_rate", RATES, REAL, rates.bytes_allocated),
    FIELD("freed_rate", RATES, REAL, rates.bytes_freed),
};

const size_t fields_count = sizeof fields_table / sizeof *fields_table;

/* ---- writing ---- */

struct object
object_new(void)
{
    json_t *json = json_object();

    return (struct object){json, json != NULL};
}

void
object_set(struct object *object, const char *name, json_t *value)
{
    if (json_object_set_new(object->json, name, value) != 0)
        object->complete = false;
}

void
object_set_object(struct object *object, const char *name, struct object value)
{
    object_set(object, name, value.json);
    object->complete &= value.complete;
}

json_t *
fields_number(uint64_t value)
{
    return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

void
object_set_number(struct object *object, const char *name, uint64_t value)
{
    object_set(object, name, fields_number(value));
}

json_t *
fields_text(const char *text, size_t size)
{
    char raw[SEGMENT_ARGS_LEN + 1];
    char clean[SEGMENT_ARGS_LEN + 1];
    size_t length = strnlen(text, size < sizeof raw ? size : sizeof raw - 1);

    memcpy(raw, text, length);
    raw[length] = '\0';
    return json_string(text_utf8(clean, sizeof clean, raw));
}

void
object_set_limited(struct object *object, const char *name, uint64_t value, uint64_t most)
{
    object_set_number(object, name, value < most ? value : most);
}

json_t *
fields_time(int64_t run_ns)
{
    uint64_t ns = run_ns > 0 ? (uint64_t)run_ns : 0;

    return fields_number(ns < FIELDS_TIME_MAX ? ns : FIELDS_TIME_MAX);
}

void
object_set_time(struct object *object, const char *name, int64_t run_ns)
{
    object_set(object, name, fields_time(run_ns));
}

void
object_set_text(struct object *object, const char *name, const char *text, size_t size)
{
    object_set(object, name, fields_text(text, size));
}

bool
object_write(FILE *out, struct object object)
{
    bool written = object.complete && json_dumpf(object.json, out, JSON_COMPACT) == 0
                   && fputc('\n', out) != EOF;

    json_decref(object.json);
    return written;
}

/* ---- a process ---- */

static void
put_functions(struct object *object, const char *name, const uint64_t values[FN_COUNT])
{
    struct object functions = object_new();

    for (unsigned i = 0; i < FN_COUNT; i++)
        object_set_number(&functions, report_function_names[i], values[i]);
    object_set_object(object, name, functions);
}

json_t *
fields_real(double value)
{
    if (!isfinite(value) || value < 0)
        return json_real(0);
    return json_real(value < FIELDS_REAL_MAX ? value : FIELDS_REAL_MAX);
}

static void
put_function_rates(struct object *object, const char *name, const double rates[FN_COUNT])
{
    struct object functions = object_new();

    for (unsigned i = 0; i < FN_COUNT; i++)
        if (rates[i] != 0)
            object_set(&functions, report_function_names[i], fields_real(rates[i]));
    object_set_object(object, name, functions);
}

static void
put_field(struct object *object, const struct field *field, const struct process *process)
{
    const void *place = (const char *)process + field->offset;

    switch (field->kind) {
    case FIELD_NUMBER:
        object_set_number(object, field->name, *(const uint64_t *)place);
        break;
    case FIELD_UNSIGNED:
        object_set_number(object, field->name, *(const unsigned *)place);
        break;
    case FIELD_REAL:
        object_set(object, field->name, fields_real(*(const double *)place));
        break;
    case FIELD_LETTER:
        object_set_text(object, field->name, place, 1);
        break;
    case FIELD_FUNCTIONS:
        put_functions(object, field->name, place);
        break;
    case FIELD_FUNCTION_RATES:
        put_function_rates(object, field->name, place);
        break;
    }
}

static bool
is_known(enum field_group group, const struct process *process)
{
    bool counted = process->measured && !(process->missing & PART_COUNTERS);

    switch (group) {
    case FIELDS_SYSTEM:
    case FIELDS_SYSTEM_MORE:
        return process->os_known;
    case FIELDS_TOUCHED:
        return process->measured && process->stack_touched != 0;
    case FIELDS_HEAP:
        return process->measured;
    case FIELDS_STACK:
        return process_knows(process, PART_STACK);
    case FIELDS_USABLE:
        return counted && !(process->missing & PART_USABLE);
    case FIELDS_RATES:
        return counted && !(process->missing & PART_CLOCK);
    case FIELDS_VAIN:
        return counted && !(process->missing & PART_VAIN);
    case FIELDS_CUSTOM:
        return counted && snapshot_has_custom(&process->now);
    default:
        return counted;
    }
}

void
fields_put(struct object *object, unsigned groups, const struct process *process)
{
    for (size_t i = 0; i < fields_count; i++)
        if ((groups >> fields_table[i].group & 1)
            && is_known(fields_table[i].group, process))
            put_field(object, &fields_table[i], process);
}

/* Figures of an earlier image, kept apart from those of the present program. */
static void
put_before(struct object *object, const struct process *process)
{
    struct object before = object_new();

    object_set_text(&before, "program", process->identity.program,
                    sizeof process->identity.program);
    object_set_text(&before, "executed", process->executed, sizeof process->executed);
    object_set_number(&before, "heap", process->now.live_bytes);
    object_set_number(&before, "peak", process->now.peak_bytes);
    object_set_number(&before, "total", process->now.total_bytes);
    object_set_object(object, "before", before);
}

void
fields_put_head(struct object *object, const char *type, const struct process *process)
{
    object_set_number(object, "v", 1);
    object_set(object, "type", json_string(type));
    object_set_time(object, "t_ns", process->run_ns);
    object_set_number(object, "pid", process->pid > 0 ? (uint64_t)process->pid : 0);
    object_set(object, "state", json_string(process_state_json(process->state)));
    object_set_number(object, "generation",
                      process->generations > 0 ? process->generations - 1 : 0);
    object_set_number(object, "children", process->children);
    object_set_number(object, "children_seen", process->children_seen);
    if (process->missing & PART_CLOCK)
        object_set(object, "no_clock", json_true());
    object_set(object, "measured", json_boolean(process->measured));
    if (!process->measured)
        object_set_text(object, "why", process->why_not, sizeof process->why_not);
    if (process->was_measured)
        put_before(object, process);
}

void
fields_put_mappings(struct object *object, const struct process *process)
{
    const struct snapshot *now = &process->now;
    struct object mappings;

    if (!(process->identity.flags & SEGMENT_FLAG_MMAP)
        || !is_known(FIELDS_COUNTERS, process))
        return;
    mappings = object_new();
    for (unsigned i = 0; i < MAPPING_COUNT; i++) {
        struct object mapping = object_new();

        object_set_number(&mapping, "calls", now->mapping_calls[i]);
        object_set_number(&mapping, "bytes", now->mapping_bytes[i]);
        object_set_number(&mapping, "failed", now->mapping_failed[i]);
        object_set_object(&mappings, report_mapping_names[i], mapping);
    }
    object_set_object(object, "mappings", mappings);
    object_set_number(object, "mremap_in_place", now->mremap_inplace);
    object_set_number(object, "mremap_shrunk", now->mremap_dec);
}

void
fields_put_rss(struct object *object, const struct process *process)
{
    const struct rss_breakdown *breakdown = &process->breakdown;
    struct object list;

    if (!breakdown->known)
        return;
    list = object_new();
    object_set_time(&list, "t_ns", breakdown->run_ns);
    for (int i = 0; i < BAND_COUNT; i++)
        if (breakdown->bytes[i] != BAND_UNKNOWN)
            object_set_number(&list, band_json((enum band)i), breakdown->bytes[i]);
    object_set_number(&list, "pss", breakdown->pss);
    object_set_number(&list, "swap", breakdown->swap);
    object_set_number(&list, "mappings", breakdown->mappings);
    object_set_number(&list, "absent", breakdown->absent);
    object_set_number(&list, "unsure", breakdown->unsure);
    object_set(&list, "with_reserve", json_boolean(breakdown->with_reserve));
    object_set_object(object, "bands", list);
}

void
fields_put_end(struct object *object, const struct process *process)
{
    int status = process->wait_status;

    if (process->state == STATE_EXITED && WIFEXITED(status))
        object_set_number(object, "status", (uint64_t)WEXITSTATUS(status));
    if (process->state == STATE_KILLED && WIFSIGNALED(status)) {
        object_set_number(object, "signal", (uint64_t)WTERMSIG(status));
        object_set(object, "core", json_boolean(WCOREDUMP(status)));
    }
}

void
fields_put_identity(struct object *object, const struct process *process)
{
    const struct identity *identity = &process->identity;
    size_t size = identity->args_size < sizeof identity->args ? identity->args_size
                                                              : sizeof identity->args;
    json_t *args;

    if (!is_known(FIELDS_COUNTERS, process))
        return;
    args = json_array();
    for (size_t at = 0; at < size; at += strnlen(identity->args + at, size - at) + 1)
        if (json_array_append_new(args, fields_text(identity->args + at, size - at)) != 0)
            object->complete = false;
    object_set_text(object, "program", identity->program, sizeof identity->program);
    object_set(object, "args", args);
    object_set(object, "args_cut", json_boolean(identity->args_cut));
    if (identity->accounting != ACCOUNTING_NONE)
        object_set(object, "accounting",
                   json_string(identity->accounting == ACCOUNTING_USABLE ? "usable"
                                                                         : "requested"));
    object_set_text(object, "allocator", identity->allocator, sizeof identity->allocator);
}

/* ---- blocks by size ---- */

/* Appends a range of sizes with its count, unless that is 0. end is exclusive; 0: no
   upper end. */
static void
append_range(struct object *object, json_t *array, uint64_t from, uint64_t end,
             const char *name, uint64_t count)
{
    struct object range;

    if (count == 0)
        return;
    range = object_new();
    object_set_number(&range, "from", from);
    if (end != 0)
        object_set_number(&range, "to", end - 1);
    object_set_number(&range, name, count);
    if (json_array_append_new(array, range.json) != 0 || !range.complete)
        object->complete = false;
}

static uint64_t
coarse_end(unsigned bucket)
{
    return bucket + 1 < HISTOGRAM_COARSE ? histogram_coarse_floor(bucket + 1) : 0;
}

void
fields_put_sizes(struct object *object, const struct process *process)
{
    const struct histogram *sizes = &process->sizes;
    json_t *allocated, *live;

    if (!process->measured || process->missing & PART_SIZES)
        return;
    allocated = json_array();
    live = json_array();
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
    object_set(object, "sizes", allocated);
    object_set(object, "live_sizes", live);
}
