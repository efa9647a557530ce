/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A ring of messages; all memory is allocated at the start. */
#include "config.h"

#include "monitor/messages.h"

#include <stdio.h>
#include <stdlib.h>

struct messages {
    size_t limit;
    uint64_t total;
    struct message ring[];
};

struct messages *
messages_new(size_t limit)
{
    struct messages *messages =
        calloc(1, sizeof *messages + limit * sizeof *messages->ring);

    if (messages != NULL)
        messages->limit = limit;
    return messages;
}

void
messages_free(struct messages *messages)
{
    free(messages);
}

void
messages_add(struct messages *messages, int64_t run_ns, enum severity severity,
             const char *format, va_list arguments)
{
    struct message *message = &messages->ring[messages->total++ % messages->limit];

    message->run_ns = run_ns;
    message->severity = severity;
    vsnprintf(message->text, sizeof message->text, format, arguments);
}

size_t
messages_count(const struct messages *messages)
{
    return messages->total < messages->limit ? (size_t)messages->total : messages->limit;
}

uint64_t
messages_total(const struct messages *messages)
{
    return messages->total;
}

const struct message *
messages_get(const struct messages *messages, size_t index)
{
    uint64_t oldest = messages->total - messages_count(messages);

    return &messages->ring[(oldest + index) % messages->limit];
}
