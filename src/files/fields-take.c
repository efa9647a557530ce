/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a process from JSON that anyone may have written.  Every field must have the
 * type its name says, numbers stay within the limits that other code relies on, and
 * nothing is made up for missing fields.
 */
#include "config.h"

#include "files/fields.h"

#include <limits.h>
#include <string.h>
#include <sys/wait.h>

#include "base/i18n.h"
#include "segment/functions.h"
#include "base/figures.h"

#define SIGNAL_MAX 126 /* in a wait status, 127 means a stopped process */
#define CORE 0x80

static void
blame(struct fault *fault, const char *name, const char *what)
{
    if (fault->name == NULL)
        *fault = (struct fault){name, what};
}

bool
fields_take_number(const json_t *object, const char *name, uint64_t most, uint64_t *out,
                   struct fault *fault)
{
    const json_t *value = json_object_get(object, name);

    if (value == NULL)
        return false;
    if (!json_is_integer(value) || json_integer_value(value) < 0
        || (uint64_t)json_integer_value(value) > most) {
        blame(fault, name, N_("is not a valid number"));
        return false;
    }
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static bool
take_unsigned(const json_t *object, const char *name, unsigned *out, struct fault *fault)
{
    uint64_t number;

    if (!fields_take_number(object, name, UINT_MAX, &number, fault))
        return false;
    *out = (unsigned)number;
    return true;
}

bool
fields_take_text(const json_t *object, const char *name, char *out, size_t size,
                 struct fault *fault)
{
    const json_t *value = json_object_get(object, name);

    out[0] = '\0';
    if (value == NULL)
        return false;
    if (!json_is_string(value)) {
        /* TRANSLATORS: of a field or line that was named before. */
        blame(fault, name, N_("is not text"));
        return false;
    }
    size_t length = strnlen(json_string_value(value), size - 1);
    memcpy(out, json_string_value(value), length);
    out[length] = '\0';
    return true;
}

bool
fields_take_flag(const json_t *object, const char *name, struct fault *fault)
{
    const json_t *value = json_object_get(object, name);

    if (value != NULL && !json_is_boolean(value))
        blame(fault, name, N_("is neither true nor false"));
    return json_is_true(value);
}

bool
fields_take_real(const json_t *object, const char *name, double *out, struct fault *fault)
{
    const json_t *value = json_object_get(object, name);

    if (value == NULL)
        return false;
    if (!json_is_number(value) || !(json_number_value(value) >= 0)
        || json_number_value(value) > FIELDS_REAL_MAX) {
        blame(fault, name, N_("is not a valid number"));
        return false;
    }
    *out = json_number_value(value);
    return true;
}

/* Returns the member if it is an object, otherwise NULL. */
static const json_t *
take_object(const json_t *object, const char *name, struct fault *fault)
{
    const json_t *value = json_object_get(object, name);

    if (value != NULL && !json_is_object(value))
        blame(fault, name, N_("is not an object"));
    return json_is_object(value) ? value : NULL;
}

static const json_t *
take_array(const json_t *object, const char *name, struct fault *fault)
{
    const json_t *value = json_object_get(object, name);

    if (value != NULL && !json_is_array(value))
        blame(fault, name, N_("is not an array"));
    return json_is_array(value) ? value : NULL;
}

static bool
take_functions(const json_t *object, const char *name, uint64_t values[FN_COUNT],
               struct fault *fault)
{
    const json_t *functions = take_object(object, name, fault);

    for (unsigned i = 0; functions != NULL && i < FN_COUNT; i++)
        fields_take_number(functions, report_function_names[i], INT64_MAX, &values[i],
                           fault);
    return functions != NULL;
}

static bool
take_function_rates(const json_t *object, const char *name, double rates[FN_COUNT],
                    struct fault *fault)
{
    const json_t *functions = take_object(object, name, fault);

    for (unsigned i = 0; functions != NULL && i < FN_COUNT; i++)
        fields_take_real(functions, report_function_names[i], &rates[i], fault);
    return functions != NULL;
}

static bool
take_letter(const json_t *object, const char *name, char *out, struct fault *fault)
{
    char text[2];

    if (!fields_take_text(object, name, text, sizeof text, fault))
        return false;
    *out = text[0];
    return true;
}

/* Returns whether the field is present and valid. */
static bool
take_field(const json_t *object, const struct field *field, struct process *process,
           struct fault *fault)
{
    void *place = (char *)process + field->offset;

    switch (field->kind) {
    case FIELD_NUMBER:
        return fields_take_number(object, field->name, INT64_MAX, place, fault);
    case FIELD_UNSIGNED:
        return take_unsigned(object, field->name, place, fault);
    case FIELD_REAL:
        return fields_take_real(object, field->name, place, fault);
    case FIELD_LETTER:
        return take_letter(object, field->name, place, fault);
    case FIELD_FUNCTIONS:
        return take_functions(object, field->name, place, fault);
    case FIELD_FUNCTION_RATES:
        return take_function_rates(object, field->name, place, fault);
    }
    return false;
}

/* Reads all figures.  Returns the groups in which some are missing, a bit each. */
static unsigned
take_figures(const json_t *object, struct process *process, struct fault *fault)
{
    unsigned absent = 0;

    for (size_t i = 0; i < fields_count; i++)
        if (!take_field(object, &fields_table[i], process, fault))
            absent |= 1u << fields_table[i].group;
    return absent;
}

enum process_state
fields_take_state(const json_t *object, struct fault *fault)
{
    char name[32];
    int state = 0;

    if (!fields_take_text(object, "state", name, sizeof name, fault))
        return STATE_GONE;
    while (state < STATE_COUNT
           && strcmp(name, process_state_json((enum process_state)state)) != 0)
        state++;
    if (state < STATE_COUNT)
        return (enum process_state)state;
    blame(fault, "state", N_("is not a state"));
    return STATE_GONE;
}

/* Reads how the process ended.  If the signal of a killed process is missing, its end is
   unknown. */
static void
take_end(const json_t *object, struct process *process, struct fault *fault)
{
    uint64_t number = 0;
    bool there = false;

    if (process->state == STATE_EXITED) {
        process->wait_status = fields_take_number(object, "status", 255, &number, fault)
                                   ? W_EXITCODE((int)number, 0)
                                   : PROCESS_STATUS_UNKNOWN;
        there = true;
    } else if (process->state == STATE_KILLED) {
        there = fields_take_number(object, "signal", SIGNAL_MAX, &number, fault)
                && number > 0;
        process->wait_status = W_EXITCODE(0, (int)number)
                               | (fields_take_flag(object, "core", fault) ? CORE : 0);
    }
    if (!there && process->ended)
        process->state = STATE_GONE;
}

static void
take_before(const json_t *object, struct process *process, struct fault *fault)
{
    const json_t *before = take_object(object, "before", fault);

    process->was_measured = before != NULL && !process->measured;
    if (!process->was_measured)
        return;
    fields_take_text(before, "program", process->identity.program,
                     sizeof process->identity.program, fault);
    fields_take_text(before, "executed", process->executed, sizeof process->executed,
                     fault);
    fields_take_number(before, "heap", INT64_MAX, &process->now.live_bytes, fault);
    fields_take_number(before, "peak", INT64_MAX, &process->now.peak_bytes, fault);
    fields_take_number(before, "total", INT64_MAX, &process->now.total_bytes, fault);
}

static void
take_head(const json_t *object, struct process *process, struct fault *fault)
{
    uint64_t number = 0;
    unsigned generation = 0;

    if (fields_take_number(object, "t_ns", FIELDS_TIME_MAX, &number, fault))
        process->run_ns = (int64_t)number;
    number = 0;
    if (fields_take_number(object, "pid", INT_MAX, &number, fault))
        process->pid = (pid_t)number;
    process->state = fields_take_state(object, fault);
    process->ended = process->state >= STATE_EXITED;
    take_unsigned(object, "generation", &generation, fault);
    process->generations = generation < UINT_MAX ? generation + 1 : generation;
    take_unsigned(object, "children", &process->children, fault);
    take_unsigned(object, "children_seen", &process->children_seen, fault);
    process->measured = fields_take_flag(object, "measured", fault);
    fields_take_text(object, "why", process->why_not, sizeof process->why_not, fault);
    take_before(object, process, fault);
}

static void
take_mappings(const json_t *object, struct process *process, struct fault *fault)
{
    const json_t *mappings = take_object(object, "mappings", fault);
    struct snapshot *now = &process->now;

    if (mappings == NULL)
        return;
    process->identity.flags |= SEGMENT_FLAG_MMAP;
    for (unsigned i = 0; i < MAPPING_COUNT; i++) {
        const json_t *mapping = take_object(mappings, report_mapping_names[i], fault);

        fields_take_number(mapping, "calls", INT64_MAX, &now->mapping_calls[i], fault);
        fields_take_number(mapping, "bytes", INT64_MAX, &now->mapping_bytes[i], fault);
        fields_take_number(mapping, "failed", INT64_MAX, &now->mapping_failed[i], fault);
    }
    fields_take_number(object, "mremap_in_place", INT64_MAX, &now->mremap_inplace, fault);
    fields_take_number(object, "mremap_shrunk", INT64_MAX, &now->mremap_dec, fault);
}

static void
take_rss(const json_t *object, struct rss_breakdown *breakdown, struct fault *fault)
{
    const json_t *list = take_object(object, "bands", fault);
    uint64_t time_ns = 0;

    if (list == NULL)
        return;
    breakdown->known = true;
    fields_take_number(list, "t_ns", FIELDS_TIME_MAX, &time_ns, fault);
    breakdown->run_ns = (int64_t)time_ns;
    for (int i = 0; i < BAND_COUNT; i++) {
        breakdown->bytes[i] = BAND_UNKNOWN;
        if (fields_take_number(list, band_json((enum band)i), INT64_MAX,
                               &breakdown->bytes[i], fault))
            breakdown->rss = add_saturating(breakdown->rss, breakdown->bytes[i]);
    }
    fields_take_number(list, "pss", INT64_MAX, &breakdown->pss, fault);
    fields_take_number(list, "swap", INT64_MAX, &breakdown->swap, fault);
    take_unsigned(list, "mappings", &breakdown->mappings, fault);
    fields_take_number(list, "absent", INT64_MAX, &breakdown->absent, fault);
    fields_take_number(list, "unsure", INT64_MAX, &breakdown->unsure, fault);
    breakdown->with_reserve = fields_take_flag(list, "with_reserve", fault);
}

static void
take_args(const json_t *object, struct identity *identity, struct fault *fault)
{
    const json_t *args = take_array(object, "args", fault);
    size_t i;
    json_t *arg;

    identity->args_cut = fields_take_flag(object, "args_cut", fault);
    json_array_foreach((json_t *)(uintptr_t)args, i, arg) {
        const char *text = json_string_value(arg);
        size_t room = sizeof identity->args - identity->args_size;
        size_t size = text != NULL ? strlen(text) + 1 : 0;

        if (text == NULL)
            blame(fault, "args", N_("is not text"));
        if (text == NULL || size > room) {
            identity->args_cut = true;
            return;
        }
        memcpy(identity->args + identity->args_size, text, size);
        identity->args_size += size;
    }
}

static void
take_identity(const json_t *object, struct identity *identity, struct fault *fault)
{
    char accounting[16];

    fields_take_text(object, "program", identity->program, sizeof identity->program,
                     fault);
    fields_take_text(object, "allocator", identity->allocator,
                     sizeof identity->allocator, fault);
    take_args(object, identity, fault);
    fields_take_text(object, "accounting", accounting, sizeof accounting, fault);
    if (strcmp(accounting, "usable") == 0)
        identity->accounting = ACCOUNTING_USABLE;
    else if (strcmp(accounting, "requested") == 0)
        identity->accounting = ACCOUNTING_REQUESTED;
}

/* ---- blocks by size ---- */

/* Reads {from, NAME}. Returns false at the end, or if it is wrong. */
static bool
next_range(const json_t *array, size_t index, const char *name, uint64_t *from,
           uint64_t *count, struct fault *fault)
{
    const json_t *range = json_array_get(array, index);

    return range != NULL
           && fields_take_number(range, "from", INT64_MAX, from, fault)
           && fields_take_number(range, name, INT64_MAX, count, fault);
}

static void
take_sizes(const json_t *object, struct process *process, struct fault *fault)
{
    const json_t *allocated = take_array(object, "sizes", fault);
    const json_t *live = take_array(object, "live_sizes", fault);
    struct histogram *sizes = &process->sizes;
    uint64_t from, count;

    for (size_t i = 0; next_range(allocated, i, "allocated", &from, &count, fault); i++)
        sizes->allocated[histogram_cell(from)] =
            add_saturating(sizes->allocated[histogram_cell(from)], count);
    for (size_t i = 0; next_range(live, i, "live", &from, &count, fault); i++)
        sizes->live[histogram_coarse(from)] =
            add_saturating(sizes->live[histogram_coarse(from)], count);
    if (allocated == NULL || live == NULL)
        process->missing |= PART_SIZES;
}

bool
fields_take_process(const json_t *object, struct process *process, struct fault *fault)
{
    struct snapshot *now = &process->now;
    unsigned absent;

    *process = (struct process){0};
    take_head(object, process, fault);
    take_end(object, process, fault);
    absent = take_figures(object, process, fault);
    take_mappings(object, process, fault);
    take_rss(object, &process->breakdown, fault);
    take_identity(object, &process->identity, fault);
    take_sizes(object, process, fault);

    process->os_known = !(absent & 1u << FIELDS_SYSTEM);
    if (absent & 1u << FIELDS_COUNTERS)
        process->missing |= PART_COUNTERS;
    else
        process->missing |= (absent & 1u << FIELDS_USABLE ? PART_USABLE : 0)
                            | (absent & 1u << FIELDS_VAIN ? PART_VAIN : 0);
    if (process->measured && absent & 1u << FIELDS_STACK)
        process->missing |= PART_STACK;
    if (fields_take_flag(object, "no_clock", fault))
        process->missing |= PART_CLOCK;
    if (process->measured && absent & 1u << FIELDS_HEAP) {
        process->measured = false;
        snprintf(process->why_not, sizeof process->why_not, "%s", _("not recorded"));
    }
    raise_to(&now->peak_bytes, now->live_bytes);
    raise_to(&now->stack_peak, now->stack_now);
    raise_to(&process->rss_peak, process->os.rss);
    process->os.rss_peak = process->rss_peak;
    return fault->name == NULL;
}
