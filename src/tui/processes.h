/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of processes, on its page and in the picker.  It is a tree, or flat if it is
   sorted or filtered. */
#ifndef MEMTOP_TUI_PROCESSES_H
#define MEMTOP_TUI_PROCESSES_H

#include "monitor/process-list.h"
#include "base/units.h"
#include "tui/canvas.h"
#include "tui/sort.h"
#include "tui/table.h"

struct processes {
    const struct process_list *process_list;
    pid_t selected;   /* 0: the first */
    pid_t followed;   /* marked with a '*'; 0: none */
    int scroll;
    enum unit unit;
    struct sort sort;     /* column of the table; 0: the tree's order */
    const char *filter;   /* lists only commands that contain this; NULL or "": all */
};

extern const struct table processes_table;

/* What the page of processes lists. */
struct view;
struct scene;
struct processes processes_of(const struct view *view, const struct scene *scene);

/* Draws headings and rows within rect, so that the selected process is visible. */
void processes_draw(struct canvas *canvas, const struct rect *rect,
                    const struct processes *processes);

/* The pid `steps` after the selected process (< 0: before it), or the last or first one;
   0 if the list is empty. lines is the number of rows shown; *scroll is changed so that
   the process is visible. */
pid_t processes_step(const struct processes *processes, int steps, int lines,
                     int *scroll);

/* Number of processes listed. */
size_t processes_count(const struct processes *processes);

/* Writes a summary, "3 running, 2 ended; heap together 12.3 MiB"; if it does not fit
   cols, only the heap. */
void processes_sum(char *text, size_t size, const struct process_list *process_list,
                   int cols, enum unit unit);

#endif
