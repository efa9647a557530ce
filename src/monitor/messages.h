/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The latest messages of a session. */
#ifndef MEMTOP_MESSAGES_H
#define MEMTOP_MESSAGES_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of message: a lasting state, the answer to a key, ... */
enum severity { SEVERITY_STATE, SEVERITY_ACK, SEVERITY_WARNING, SEVERITY_ERROR };

/* A message for the display's message line and log. */
struct message {
    int64_t run_ns;
    enum severity severity;
    char text[256];               /* translated; may hold untrusted bytes */
};

struct messages;

/* Keeps the latest limit messages.  NULL if memory is short. */
struct messages *messages_new(size_t limit);
void messages_free(struct messages *messages);

/* Adds a message; a text that is too long is cut. */
void messages_add(struct messages *messages, int64_t run_ns, enum severity severity,
                  const char *format, va_list arguments)
    __attribute__((format(printf, 4, 0)));

/* Index 0 is the oldest kept; total includes those dropped. */
size_t messages_count(const struct messages *messages);
uint64_t messages_total(const struct messages *messages);
const struct message *messages_get(const struct messages *messages, size_t index);

#endif
