/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop for tests of the display: it also plays made-up processes (--source=script:FILE,
   see script.h). */
#include "config.h"

#include "programs/run.h"
#include "support/script.h"

__attribute__((constructor)) static void
play_scripts(void)
{
    run_open_source = script_open;
}
