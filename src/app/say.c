/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One line, written at once: the program may be writing to the same terminal.
 * File names in it are the user's or a stranger's, never memtop's.
 */
#include "config.h"

#include "app/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/textwidth.h"

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
    fprintf(stderr, "%s\n", text);
}
