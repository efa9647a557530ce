/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exports of allocation sites, as the command line asks for them. */
#ifndef MEMTOP_EXPORTS_H
#define MEMTOP_EXPORTS_H

#include <stddef.h>
#include <sys/types.h>

#include "programs/sites-options.h"
#include "monitor/session.h"
#include "monitor/tracked.h"
#include "report/site-filter.h"
#include "report/siteexport.h"

/* What is exported. */
struct exports {
    struct session *session;
    const struct site_choice *choice;  /* by default the live blocks */
    /* Finds names for the functions of a process before its export.  NULL: names are
       known already. */
    void (*name)(void *context, struct session *session, const struct tracked *tracked);
    void *context;
};

/* Call it before the program starts.  Checks whether the files can be created.  Reports
   an error and returns false if one cannot. */
bool exports_check(const struct exports_request *requests, size_t count);

/*
 * Writes the requested exports to new files, "-" being the standard output: the sum of
 * all processes of the session; of the one shown alone if it is of what has changed since
 * the mark.  If a file's name contains %p, it is written for each process that has
 * samples, with the pid in place of %p.  Reports errors.
 */
void exports_write(const struct exports *exports, const struct exports_request *requests,
                   size_t count);

/* Exports from the session file path. pid: the process to export; 0: the sum of all, or
   every process if the name of file contains %p. file NULL is the standard
   output.  Returns the exit status. */
int exports_file(const char *path, enum siteexport_format format,
                 const struct site_choice *choice, pid_t pid, const char *file);

#endif
