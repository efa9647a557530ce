/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of the observed processes on the terminal, to choose one of. */
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
 * The pid chosen, 0 if the user left without one or the terminal went away, -1 and
 * errno if the display cannot start.  signals_open() must have been called.
 */
pid_t picker_run(struct system_list *systemwide, const struct picker_options *options);

struct canvas;
struct processes;

/* The whole picture of it (view-picker.c). */
void picker_draw(struct canvas *canvas, const struct processes *list);

#endif
