/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Figures of all observed processes, whoever started them, for as long as memtop runs. */
#ifndef MEMTOP_APP_FLEET_H
#define MEMTOP_APP_FLEET_H

#include "programs/options.h"

/* Writes the file of figures at each interval, for options->iterations times or until a
   signal asks for the end.  The exit status. */
int fleet_run(const struct options *options);

#endif
