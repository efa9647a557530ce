/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of messages: facts on the program and on how it is measured, then what
 * happened, oldest first.  Long messages take several lines.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>

#include "base/i18n.h"

#define TIME_COLS 11

static const char *
accounting_text(const struct process *process)
{
    switch (process->identity.accounting) {
    case ACCOUNTING_REQUESTED:
        return _("sizes as requested by the program");
    case ACCOUNTING_USABLE:
        return _("usable sizes, as the allocator reports them");
    default:
        return _("not measured");
    }
}

/* The fact on a line: its label and value; false after the last. */
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

/* Width of the labels, which depends on the language. */
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

/* Width of the text after the time. */
static size_t
text_cols(const struct rect *rect)
{
    return rect->cols > 1 + TIME_COLS ? (size_t)(rect->cols - 1 - TIME_COLS) : 1;
}

static int
message_lines(const struct message *message, size_t cols)
{
    const char *text = message->text;
    int lines = 0;

    do {
        text += text_line(NULL, 0, text, cols);
        lines++;
    } while (*text != '\0');
    return lines;
}

static int
count_lines(const struct screen *screen, const struct view *view,
            const struct scene *scene)
{
    const struct rect rest = view_page_rest(screen);
    size_t count = session_message_count(scene->session);
    int lines = ABOUT_LINES + 1;

    (void)view;
    for (size_t i = 0; i < count; i++)
        lines += message_lines(session_message(scene->session, i), text_cols(&rest));
    return lines;
}

static enum role
severity_role(enum severity severity)
{
    return severity == SEVERITY_ERROR     ? ROLE_BAD
           : severity == SEVERITY_WARNING ? ROLE_WARN
                                          : ROLE_NORMAL;
}

static void
draw_about(struct screen *screen, const struct scene *scene, const struct rect *rect,
           int line, int index)
{
    char value[SEGMENT_ARGS_LEN];
    int width = label_cols(scene);
    const char *label;

    if (!about(scene, index, &label, value, sizeof value))
        return;
    canvas_field(&screen->canvas, rect->row + line, rect->col + 1, width, TEXT_LEFT,
                 ROLE_DIM, label);
    canvas_put(&screen->canvas, rect->row + line, rect->col + 2 + width,
               rect->cols - 2 - width, ROLE_NORMAL, value);
}

/* Draws a message from `line` on, which may be above the page; returns the next line. */
static int
draw_message(struct screen *screen, const struct scene *scene, const struct rect *rect,
             int line, const struct message *message)
{
    const char *text = message->text;
    char part[1024], time[UNITS_MAX];

    view_time(time, sizeof time, scene->process, message->run_ns);
    if (line >= 0 && line < rect->rows)
        canvas_put(&screen->canvas, rect->row + line, rect->col + 1, TIME_COLS, ROLE_DIM,
                   time);
    do {
        text += text_line(part, sizeof part, text, text_cols(rect));
        if (line >= 0 && line < rect->rows)
            canvas_put(&screen->canvas, rect->row + line, rect->col + 1 + TIME_COLS,
                       rect->cols - 1 - TIME_COLS, severity_role(message->severity),
                       part);
        line++;
    } while (*text != '\0');
    return line;
}

static void
draw(struct screen *screen, const struct view *view, const struct scene *scene)
{
    struct rect rest = view_page_title(screen, pages_title(PAGE_MESSAGES), "");
    size_t count = session_message_count(scene->session);
    int lines = count_lines(screen, view, scene);
    int first = lines > rest.rows ? lines - rest.rows - view->scroll : 0;
    int line;

    if (first < 0)
        first = 0;
    for (int index = first; index < ABOUT_LINES && index - first < rest.rows; index++)
        draw_about(screen, scene, &rest, index - first, index);
    line = ABOUT_LINES + 1 - first;
    for (size_t i = 0; i < count && line < rest.rows; i++)
        line =
            draw_message(screen, scene, &rest, line, session_message(scene->session, i));
}

const struct page_def page_messages = {
    .title = N_("Messages"),
    .draw = draw,
    .lines = count_lines,
    .at_end = true,
};
