/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collects the parts of a saved session; knows no file format. */
#include "config.h"

#include "monitor/saved.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 500

struct saved *
saved_new(void)
{
    struct saved *saved = calloc(1, sizeof *saved);

    if (saved == NULL)
        return NULL;
    saved->messages = messages_new(MESSAGES);
    if (!tracked_init(&saved->root) || saved->messages == NULL) {
        saved_free(saved);
        return NULL;
    }
    return saved;
}

static void
forget_reason(void *context, const struct process_entry *entry)
{
    (void)context;
    free((char *)(uintptr_t)entry->why_not);
}

void
saved_free(struct saved *saved)
{
    if (saved == NULL)
        return;
    if (saved->process_list != NULL)
        process_list_each(saved->process_list, forget_reason, NULL);
    process_list_free(saved->process_list);
    for (size_t i = 0; i < saved->other_count; i++) {
        tracked_free(saved->others[i]);
        free(saved->others[i]);
    }
    tracked_free(&saved->root);
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

/* ---- processes ---- */

bool
saved_add_process(struct saved *saved, const struct process_entry *entry,
                  const char *why_not)
{
    struct process_entry *copy;

    if (saved->process_list == NULL)
        saved->process_list = process_list_new(true);
    if (saved->process_list == NULL)
        return false;
    if (saved->process_count == SAVED_PROCESSES
        || process_list_find_image(saved->process_list, entry->pid, 0) != NULL)
        return true;
    copy = process_list_add(saved->process_list, entry->pid);
    if (copy == NULL)
        return false;
    saved->process_count++;
    *copy = *entry;
    copy->why_not = *why_not ? strdup(why_not) : NULL;
    return copy->why_not != NULL || !*why_not;
}

struct tracked *
saved_other(struct saved *saved, pid_t pid)
{
    struct tracked *other;

    for (size_t i = 0; i < saved->other_count; i++)
        if (saved->others[i]->process.pid == pid)
            return saved->others[i];
    if (saved->other_count == SAVED_OTHERS)
        return NULL;
    other = calloc(1, sizeof *other);
    if (other == NULL)
        return NULL;
    other->process.pid = pid;
    saved->others[saved->other_count++] = other;
    return other;
}

/* The time at which the times of living processes were taken, on the clock of start_ns.
 */
static void
note_time(void *context, const struct process_entry *entry)
{
    uint64_t *now_ns = context;

    if (!entry->ended && entry->start_ns > 0)
        *now_ns = entry->start_ns + (uint64_t)entry->run_ns;
}

void
saved_arrange_processes(struct saved *saved)
{
    uint64_t now_ns = 0;

    if (saved->process_list == NULL)
        return;
    process_list_each(saved->process_list, note_time, &now_ns);
    process_list_arrange(saved->process_list, now_ns);
}
