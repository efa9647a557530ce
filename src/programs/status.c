/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop's own failures are 125, as in env(1), nohup(1) and timeout(1).  The filters and
   memtopstat follow grep(1), and argp for wrong options.  A program called by the name
   of an original, or in its compatible mode, has the original's statuses. */
#include "config.h"

#include "programs/status.h"

#include <argp.h>

static const unsigned char statuses[STATUS_ROWS][STATUS_COLUMNS] = {
    /*                   memtop memusage stat memusagestat munge --compat replay */
    [STATUS_USAGE]   = {    125,       1,  64,          64,   64,      64,    64 },
    [STATUS_FILES]   = {    125,       1,  64,           1,   64,      64,    64 },
    [STATUS_INPUT]   = {    125,     125,   2,           1,    2,       2,     2 },
    [STATUS_REFUSED] = {      0,       0,   1,           1,    1,       0,     1 },
    [STATUS_OUTPUT]  = {    125,     125,   1,           1,    2,       2,     2 },
    [STATUS_FAILED]  = {    125,     125,   1,           1,    2,       2,     2 },
    [STATUS_LIMIT]   = {    124,     124,   0,           0,    0,       0,     0 },
    [STATUS_CANNOT]  = {    126,     126,   0,           0,    0,       0,     0 },
    [STATUS_MISSING] = {    127,     127,   0,           0,    0,       0,     0 },
};

static enum status_column chosen = AS_MEMTOP;

void
status_as(enum status_column column)
{
    chosen = column;
    argp_err_exit_status = status_of(STATUS_USAGE);
}

int
status_of(enum status_row row)
{
    return statuses[row][chosen];
}
