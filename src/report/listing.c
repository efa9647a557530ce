/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unknown values are a dash or absent, never zero. */
#include "config.h"

#include "report/listing.h"

#include <string.h>

#include "base/i18n.h"
#include "files/fields.h"
#include "base/textwidth.h"

#define COLUMNS 6

static const size_t widths[COLUMNS] = {8, 9, 10, 10, 10, 9};

/* why_not: why there are no figures, or NULL. */
static void
write_line(FILE *out, const char *const fields[COLUMNS], const char *program,
           const char *why_not)
{
    char text[256];

    for (int i = 0; i < COLUMNS; i++)
        fprintf(out, "%s ",
                text_pad(text, sizeof text, fields[i], widths[i],
                         i == 1 ? TEXT_LEFT : TEXT_RIGHT));
    if (why_not != NULL)
        fprintf(out, "%s (%s)\n", program, why_not);
    else
        fprintf(out, "%s\n", program);
}

static void
write_entry(FILE *out, const struct process_entry *entry, enum unit unit)
{
    char pid[UNITS_MAX], heap[UNITS_MAX], peak[UNITS_MAX], rss[UNITS_MAX];
    char age[UNITS_MAX], program[2 * sizeof entry->command];
    const uint64_t unknown = UNITS_UNKNOWN;

    snprintf(pid, sizeof pid, "%d", (int)entry->pid);
    const char *const fields[COLUMNS] = {
        pid,
        process_state_word(entry->state),
        units_bytes(heap, sizeof heap, entry->measured ? entry->heap : unknown, unit),
        units_bytes(peak, sizeof peak, entry->measured ? entry->heap_peak : unknown,
                    unit),
        units_bytes(rss, sizeof rss, entry->rss > 0 ? entry->rss : unknown, unit),
        units_duration(age, sizeof age, entry->run_ns),
    };
    write_line(out, fields,
               text_sanitise(program, sizeof program, entry->command,
                             strlen(entry->command)),
               entry->measured ? NULL : entry->why_not);
}

bool
listing_text(FILE *out, const struct process_list *process_list, enum unit unit)
{
    const char *const headings[COLUMNS] = {_("pid"),  _("state"), _("heap"),
                                           _("peak"), _("RSS"),   _("time")};

    write_line(out, headings, _("program"), NULL);
    for (size_t i = 0; i < process_list_count(process_list); i++)
        write_entry(out, process_list_at(process_list, i), unit);
    return fflush(out) == 0;
}

bool
listing_json(FILE *out, const struct process_list *process_list)
{
    bool written = true;

    for (size_t i = 0; written && i < process_list_count(process_list); i++) {
        const struct process_entry *entry = process_list_at(process_list, i);
        const char *state = process_state_json(entry->state);
        struct object object = object_new();

        object_set_text(&object, "type", "process", 16);
        object_set_number(&object, "pid", (uint64_t)entry->pid);
        object_set_number(&object, "parent", (uint64_t)entry->parent);
        object_set_text(&object, "command", entry->command, sizeof entry->command);
        object_set_text(&object, "state", state, strlen(state));
        object_set(&object, "measured", json_boolean(entry->measured));
        object_set_number(&object, "age_ns", (uint64_t)entry->run_ns);
        if (!entry->measured && entry->why_not != NULL)
            object_set_text(&object, "why_not", entry->why_not, strlen(entry->why_not));
        if (entry->measured) {
            object_set_number(&object, "heap", entry->heap);
            object_set_number(&object, "heap_peak", entry->heap_peak);
        }
        if (entry->rss > 0)
            object_set_number(&object, "rss", entry->rss);
        written = object_write(out, object);
    }
    return fflush(out) == 0 && written;
}
