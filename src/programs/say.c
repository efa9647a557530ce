/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages are one line, written at once, because the program may write to the same
 * terminal.  They may quote names of files, which are untrusted.
 */
#include "config.h"

#include "programs/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/textwidth.h"
#include "base/i18n.h"
#include "base/clock.h"

static FILE *held; /* NULL: messages are written directly */
static char *held_text;
static size_t held_size;
static void (*show_held)(void *context, const char *text);
static void *show_context;

void
say(const char *format, ...)
{
    char raw[2048], text[2 * sizeof raw];
    va_list arguments;
    size_t used = (size_t)snprintf(raw, sizeof raw, "%.255s: ",
                                   program_invocation_short_name);

    va_start(arguments, format);
    vsnprintf(raw + used, sizeof raw - used, format, arguments);
    va_end(arguments);
    text_sanitise(text, sizeof text, raw, strlen(raw));
    fprintf(held != NULL ? held : stderr, "%s\n", text);
    if (held != NULL)
        show_held(show_context, strstr(text, ": ") + 2);
}

void
say_hold(void (*show)(void *context, const char *text), void *context)
{
    show_held = show;
    show_context = context;
    held = open_memstream(&held_text, &held_size);
}

void
say_release(void)
{
    if (held == NULL)
        return;
    fclose(held);
    held = NULL;
    fwrite(held_text, 1, held_size, stderr);
    free(held_text);
    held_text = NULL;
}

/* ---- progress: a line that overwrites itself and is removed at the end ---- */

#define QUIET_NS INT64_C(300000000) /* shorter waits show no progress */

void
progress_begin(struct progress *progress, const char *path)
{
    *progress = (struct progress){
        path, isatty(STDERR_FILENO) ? clock_ns(CLOCK_MONOTONIC) : -1, -1};
}

void
progress_tell(void *context, uint64_t done, uint64_t all)
{
    struct progress *progress = context;
    int percent = all > 0 ? (int)((double)done * 100 / (double)all) : 0;
    char name[256];

    if (progress->since_ns < 0 || percent == progress->shown
        || clock_ns(CLOCK_MONOTONIC) - progress->since_ns < QUIET_NS)
        return;
    progress->shown = percent;
    fputc('\r', stderr);
    /* TRANSLATORS: a file, and how much of it is read. */
    fprintf(stderr, _("Loading %s %d %%"),
            text_sanitise(name, sizeof name, progress->path, strlen(progress->path)),
            percent);
    fflush(stderr);
}

void
progress_end(const struct progress *progress)
{
    if (progress->shown >= 0)
        fputs("\r\033[K", stderr);
}
