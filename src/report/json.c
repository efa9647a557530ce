/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON lines for programs.  fields.h defines names and contents.
 */
#include "config.h"

#include "report/json.h"

#include "files/fields.h"

#define FIGURES                                                                          \
    (1u << FIELDS_SYSTEM | 1u << FIELDS_HEAP | 1u << FIELDS_STACK                        \
     | 1u << FIELDS_COUNTERS | 1u << FIELDS_USABLE | 1u << FIELDS_VAIN                   \
     | 1u << FIELDS_TOUCHED | 1u << FIELDS_CUSTOM)

/* The fields that all objects share. */
static struct object
process_object(const char *type, const struct process *process)
{
    struct object object = object_new();
    int coverage = process_coverage(process);

    fields_put_head(&object, type, process);
    fields_put(&object, FIGURES, process);
    if (process->measured && coverage >= 0)
        object_set_number(&object, "coverage", (uint64_t)coverage);
    fields_put_mappings(&object, process);
    return object;
}

static bool
write_line(FILE *out, struct object object)
{
    return object_write(out, object) && fflush(out) == 0;
}

bool
report_json_sample(FILE *out, const struct process *process)
{
    return write_line(out, process_object("sample", process));
}

/* Writes everything that is known. */
static bool
write_whole(FILE *out, const char *type, const struct process *process)
{
    struct object object = process_object(type, process);

    fields_put_end(&object, process);
    fields_put_rss(&object, process);
    fields_put_identity(&object, process);
    fields_put_sizes(&object, process);
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
