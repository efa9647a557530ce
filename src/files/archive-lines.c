/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of session files that belong to a process. */
#include "config.h"

#include "files/archive-lines.h"

#include <limits.h>
#include <string.h>

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
