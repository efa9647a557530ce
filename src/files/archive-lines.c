/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of session files that belong to a process. */
#include "config.h"

#include "files/archive-lines.h"

#include <limits.h>
#include <string.h>

#include "base/i18n.h"

bool
archive_put_line(FILE *out, pid_t of, struct object line)
{
    const char *type = json_string_value(json_object_get(line.json, "type"));

    if (of != 0 && type != NULL) {
        object_set(&line, "kind", json_string(type));
        object_set(&line, "type", json_string(ARCHIVE_OTHER));
        object_set_number(&line, "of", (uint64_t)of);
    }
    return object_write(out, line);
}

const char *
archive_line_type(const json_t *line, pid_t *of)
{
    const char *type = json_string_value(json_object_get(line, "type"));
    json_int_t number = json_integer_value(json_object_get(line, "of"));

    *of = 0;
    if (type == NULL || strcmp(type, ARCHIVE_OTHER) != 0)
        return type;
    *of = number > 0 && number <= INT_MAX ? (pid_t)number : -1;
    return json_string_value(json_object_get(line, "kind"));
}

/* ---- processes of the list ---- */

struct object
archive_put_entry(const struct process_entry *entry)
{
    struct object object = object_new();

    object_set_limited(&object, "pid", (uint64_t)entry->pid, INT_MAX);
    object_set_limited(&object, "parent", (uint64_t)entry->parent, INT_MAX);
    object_set_text(&object, "command", entry->command, sizeof entry->command);
    object_set_text(&object, "before", entry->before, sizeof entry->before);
    object_set_limited(&object, "generation",
                       entry->generations > 0 ? entry->generations - 1 : 0, INT_MAX);
    object_set(&object, "state", json_string(process_state_json(entry->state)));
    object_set(&object, "ended", json_boolean(entry->ended));
    object_set_limited(&object, "start_ns", entry->start_ns, FIELDS_TIME_MAX);
    object_set_time(&object, "t_ns", entry->run_ns);
    if (entry->rss > 0)
        object_set_number(&object, "rss", entry->rss);
    object_set(&object, "measured", json_boolean(entry->measured));
    if (entry->measured) {
        object_set_number(&object, "heap", entry->heap);
        object_set_number(&object, "peak", entry->heap_peak);
        object_set(&object, "allocation_rate", fields_real(entry->allocations));
    } else if (entry->why_not != NULL) {
        object_set_text(&object, "why", entry->why_not, ARCHIVE_WHY);
    }
    return object;
}

void
archive_take_entry(const json_t *object, struct process_entry *entry,
                   char why_not[ARCHIVE_WHY], struct fault *fault)
{
    uint64_t number;

    *entry = (struct process_entry){.generations = 1};
    if (fields_take_number(object, "pid", INT_MAX, &number, fault))
        entry->pid = (pid_t)number;
    if (fields_take_number(object, "parent", INT_MAX, &number, fault))
        entry->parent = (pid_t)number;
    fields_take_text(object, "command", entry->command, sizeof entry->command, fault);
    fields_take_text(object, "before", entry->before, sizeof entry->before, fault);
    if (fields_take_number(object, "generation", INT_MAX, &number, fault))
        entry->generations = (unsigned)number + 1;
    entry->state = fields_take_state(object, fault);
    entry->ended = fields_take_flag(object, "ended", fault);
    fields_take_number(object, "start_ns", FIELDS_TIME_MAX, &entry->start_ns, fault);
    if (fields_take_number(object, "t_ns", FIELDS_TIME_MAX, &number, fault))
        entry->run_ns = (int64_t)number;
    fields_take_number(object, "rss", INT64_MAX, &entry->rss, fault);
    entry->measured = fields_take_flag(object, "measured", fault);
    fields_take_number(object, "heap", INT64_MAX, &entry->heap, fault);
    fields_take_number(object, "peak", INT64_MAX, &entry->heap_peak, fault);
    fields_take_real(object, "allocation_rate", &entry->allocations, fault);
    fields_take_text(object, "why", why_not, ARCHIVE_WHY, fault);
}
