/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lets the user choose a process from the system-wide list on the terminal. */
#ifndef MEMTOP_TUI_PICKER_H
#define MEMTOP_TUI_PICKER_H

#include <stdbool.h>

#include "monitor/system-list.h"
#include "base/units.h"

struct picker_options {
    bool colour;
    bool ascii;
    enum unit unit;
};

/*
 * Returns the pid chosen, 0 if the user left without choosing or the terminal went away,
 * -1 and errno if the display cannot start.  Call signals_open() before.
 */
pid_t picker_run(struct system_list *systemwide, const struct picker_options *options);

struct canvas;
struct processes;

/* Draws the picker's whole screen (view-picker.c). */
void picker_draw(struct canvas *canvas, const struct processes *list);

#endif
