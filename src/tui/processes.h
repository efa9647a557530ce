/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of processes as a tree: on its page and in the picker. */
#ifndef MEMTOP_TUI_PROCESSES_H
#define MEMTOP_TUI_PROCESSES_H

#include "monitor/roster.h"
#include "report/units.h"
#include "tui/canvas.h"

struct processes {
    const struct roster *roster;
    pid_t selected;   /* 0: the first */
    pid_t followed;   /* marked; 0 none */
    int scroll;
    enum unit unit;
};

/* Heading and lines within rect.  The selected one is always among them. */
void processes_draw(struct canvas *canvas, const struct rect *rect,
                    const struct processes *processes);

/* How many processes so many rows have. */
int processes_lines(int rows);

/* Where the selected one stands in the roster: 0 if it is not there. */
size_t processes_index(const struct roster *roster, pid_t selected);

/* So many lines further (< 0: back), as far as there are; its pid, 0 if the roster is
   empty.  *scroll follows, lines being how many there is room for. */
pid_t processes_step(const struct roster *roster, pid_t selected, int steps, int lines,
                     int *scroll);

/* "3 running, 2 ended; heap together 12.3 MiB", as long as fits the columns. */
void processes_sum(char *text, size_t size, const struct roster *roster, int cols,
                   enum unit unit);

#endif
