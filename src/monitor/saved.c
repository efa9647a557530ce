/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holds what a session is made of until it is one; knows no file. */
#include "config.h"

#include "monitor/saved.h"

#include <stdarg.h>
#include <stdlib.h>

#define MESSAGES 500

struct saved *
saved_new(void)
{
    struct saved *saved = calloc(1, sizeof *saved);

    if (!saved)
        return NULL;
    saved->messages = messages_new(MESSAGES);
    if (!subject_init(&saved->root) || !saved->messages) {
        saved_free(saved);
        return NULL;
    }
    return saved;
}

void
saved_free(struct saved *saved)
{
    if (!saved)
        return;
    subject_free(&saved->root);
    messages_free(saved->messages);
    capture_free(saved->capture);
    free(saved);
}

static void
add(struct saved *saved, int64_t run_ns, enum severity severity, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    messages_add(saved->messages, run_ns, severity, format, arguments);
    va_end(arguments);
}

void
saved_add_message(struct saved *saved, int64_t run_ns, enum severity severity,
                  const char *text)
{
    add(saved, run_ns, severity, "%s", text);
}
