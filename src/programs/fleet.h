/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Figures of all processes with the library, whoever started them, for as long as memtop
   runs. */
#ifndef MEMTOP_APP_FLEET_H
#define MEMTOP_APP_FLEET_H

#include "programs/options.h"

/* Writes the file of figures at each interval, options->iterations times (0: without
   limit) or until a signal asks memtop to end.  Returns the exit status. */
int fleet_run(const struct options *options);

#endif
