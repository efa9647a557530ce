/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop: runs a program and shows live what it does with its memory. */
#include "config.h"

#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>

#include "app/batch.h"
#include "app/options.h"
#include "app/run.h"
#include "i18n.h"
#include "monitor/signals.h"

static struct run run;

/* With a standard descriptor closed, the next file opened would take its place
   and messages would land there.  The program finds it closed as before. */
static void
hold_standard_descriptors(void)
{
    for (int descriptor = 0; descriptor <= 2;)
        if (fcntl(descriptor, F_GETFD) >= 0)
            descriptor++;
        else if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
            return;
}

int
main(int argc, char **argv)
{
    struct options options;

    hold_standard_descriptors();
    setlocale(LC_ALL, "");
    bindtextdomain(PACKAGE, LOCALEDIR);
    textdomain(PACKAGE);

    options_parse(argc, argv, &options);
    int status = run_check(&run, &options);
    if (status != 0)
        return status;

    signals_open();
    status = run_start(&run, 0, 0);
    if (status != 0)
        return status;
    int signal = batch_run(&run);
    run_report(&run);
    status = run_finish(&run);
    return signal != 0 ? 128 + signal : status;
}
