/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exports of allocation sites, as the command line asks for them. */
#ifndef MEMTOP_EXPORTS_H
#define MEMTOP_EXPORTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "monitor/session.h"
#include "report/site-choice.h"
#include "report/siteexport.h"

/*
 * Writes what the process that is shown has of a choice, by default of the living, into a new file; NULL or "-" is the
 * standard output, which is no terminal if the format is binary.  False, having said
 * why.
 */
bool exports_write(struct session *session, enum siteexport_format format,
                   const struct site_choice *choice, const char *file);

/* Of a session in a file, and there of the process pid or of the one it was saved for if
   that is 0: the exit status, 0 or 1. */
int exports_file(const char *path, enum siteexport_format format,
                 const struct site_choice *choice, pid_t pid, const char *file);

#endif
