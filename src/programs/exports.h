/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exports of allocation sites, as the command line asks for them. */
#ifndef MEMTOP_EXPORTS_H
#define MEMTOP_EXPORTS_H

#include <stddef.h>
#include <sys/types.h>

#include "programs/sites-options.h"
#include "monitor/session.h"
#include "monitor/tracked.h"
#include "report/site-choice.h"
#include "report/siteexport.h"

/* Whose sites are exported, and which. */
struct exports {
    struct session *session;
    const struct site_choice *choice;  /* by default what is alive */
    /* Finds the names of the functions of another process, whose sites are exported
       next; NULL: they have names already. */
    void (*name)(void *context, struct session *session, const struct tracked *tracked);
    void *context;
};

/* Before the program starts: can the files be created, as far as can be told?  False,
   having said which cannot, and why. */
bool exports_check(const struct exports_request *requests, size_t count);

/*
 * Writes what was requested of the process that is shown into new files, "-" being the
 * standard output; a file whose name has %p in it is written for each process that has
 * something for it, with its number there.  What fails is said, as is that other
 * processes have sites, too, for which there is no file.
 */
void exports_write(const struct exports *exports, const struct exports_request *requests,
                   size_t count);

/* Of a session in a file, and there of the process pid; if that is 0, of the one it was
   saved for, or with %p in the file's name of each: the exit status.  file NULL
   is the standard output, too. */
int exports_file(const char *path, enum siteexport_format format,
                 const struct site_choice *choice, pid_t pid, const char *file);

#endif
