/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of messages: what happened, oldest first, and below the latest one
 * who is measured and how.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>

#include "i18n.h"

#define TIME_COLS 11

static const char *
accounting_text(const struct process *process)
{
    switch (process->identity.accounting) {
    case ACCOUNTING_REQUESTED:
        return _("sizes as requested by the program");
    case ACCOUNTING_USABLE:
        return _("usable sizes, as the allocator tells them");
    default:
        return _("not measured");
    }
}

/* The facts: label and value, in order; false beyond the last. */
static bool
about(const struct scene *scene, int line, const char **label, char *value, size_t size)
{
    const struct process *process = scene->process;
    bool known = process_knows(process, PART_COUNTERS);

    switch (line) {
    case 0:
        *label = _("Version");
        snprintf(value, size, "memtop %s", PACKAGE_VERSION);
        return true;
    case 1:
        *label = _("Command");
        snprintf(value, size, "%s", scene->command);
        return true;
    case 2:
        *label = _("Program");
        snprintf(value, size, "%s", known ? process->identity.program : "-");
        return true;
    case 3:
        *label = _("Allocator");
        snprintf(value, size, "%s",
                 known ? process->identity.allocator : "-");
        return true;
    case 4:
        *label = _("Accounting");
        snprintf(value, size, "%s",
                 known ? accounting_text(process)
                 : process->measured ? _("not recorded")
                 : process->why_not[0] != '\0' ? process->why_not
                                               : _("not measured"));
        return true;
    case 5:
        *label = _("Program images");
        if (process->measured && !known)
            snprintf(value, size, "-");
        else
            snprintf(value, size, "%u", process->generations);
        return true;
    default:
        return false;
    }
}

#define ABOUT_LINES 6
#define LABEL_COLS  15

/* Labels are as long as the language makes them. */
static int
label_cols(const struct scene *scene)
{
    char value[SEGMENT_ARGS_LEN];
    int widest = LABEL_COLS;

    for (int line = 0; line < ABOUT_LINES; line++) {
        const char *label = "";

        about(scene, line, &label, value, sizeof value);
        if ((int)text_columns(label) > widest)
            widest = (int)text_columns(label);
    }
    return widest;
}

int
view_messages_lines(const struct scene *scene)
{
    return ABOUT_LINES + 1 + (int)session_message_count(scene->session);
}

static enum role
severity_role(enum severity severity)
{
    return severity == SEVERITY_ERROR     ? ROLE_BAD
           : severity == SEVERITY_WARNING ? ROLE_WARN
                                          : ROLE_NORMAL;
}

static void
draw_about(struct picture *picture, const struct scene *scene, const struct rect *rect,
           int line, int index)
{
    char value[SEGMENT_ARGS_LEN];
    int width = label_cols(scene);
    const char *label;

    if (!about(scene, index, &label, value, sizeof value))
        return;
    canvas_field(&picture->canvas, rect->row + line, rect->col + 1, width, TEXT_LEFT,
                 ROLE_DIM, label);
    canvas_put(&picture->canvas, rect->row + line, rect->col + 2 + width,
               rect->cols - 2 - width, ROLE_NORMAL, value);
}

static void
draw_message(struct picture *picture, const struct scene *scene, const struct rect *rect,
             int line, size_t index)
{
    const struct message *message = session_message(scene->session, index);
    char time[UNITS_MAX];

    canvas_put(&picture->canvas, rect->row + line, rect->col + 1, TIME_COLS, ROLE_DIM,
               view_time(time, sizeof time, scene->process, message->run_ns));
    canvas_put(&picture->canvas, rect->row + line, rect->col + 1 + TIME_COLS,
               rect->cols - 1 - TIME_COLS, severity_role(message->severity),
               message->text);
}

void
view_messages(struct picture *picture, const struct view *view, const struct scene *scene)
{
    struct rect rest = view_page_title(picture, _("Messages"), "");
    int lines = view_messages_lines(scene);
    int first;

    first = lines > rest.rows ? lines - rest.rows - view->scroll : 0;
    if (first < 0)
        first = 0;
    for (int line = 0; line < rest.rows && first + line < lines; line++) {
        int index = first + line;

        if (index < ABOUT_LINES)
            draw_about(picture, scene, &rest, line, index);
        else if (index > ABOUT_LINES)
            draw_message(picture, scene, &rest, line, (size_t)(index - ABOUT_LINES - 1));
    }
}
