/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of processes: on its page and in the picker.  A tree, or flat where it is
   sorted or not all are listed. */
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
    pid_t followed;   /* marked; 0 none */
    int scroll;
    enum unit unit;
    struct sort sort;     /* by the columns of the table */
    const char *filter;   /* only those in whose command it is; NULL or "": all */
};

extern const struct table processes_table;

/* What the page of processes lists. */
struct view;
struct scene;
struct processes processes_of(const struct view *view, const struct scene *scene);

/* Heading and lines within rect.  The selected one is always among them. */
void processes_draw(struct canvas *canvas, const struct rect *rect,
                    const struct processes *processes);

/* So many lines further (< 0: back) than the selected one, as far as there are; its pid,
   0 if the list is empty.  *scroll follows, lines being how many there is room for. */
pid_t processes_step(const struct processes *processes, int steps, int lines,
                     int *scroll);

/* How many are listed. */
size_t processes_count(const struct processes *processes);

/* "3 running, 2 ended; heap together 12.3 MiB", as long as fits the columns. */
void processes_sum(char *text, size_t size, const struct process_list *process_list,
                   int cols, enum unit unit);

#endif
