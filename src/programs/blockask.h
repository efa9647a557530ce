/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports on a program that another memtop records.  The recording memtop listens on a
 * socket; the asking one sends a request and gets the text, while the recording goes on.
 * Both ends trust only the same user and root.
 */
#ifndef MEMTOP_BLOCKASK_H
#define MEMTOP_BLOCKASK_H

#include "programs/options.h"

struct run;

/* The recording side. blockask_listen() returns a descriptor that blockask_serve()
   checks for requests, to be called now and then; -1 if nobody can ask. */
int blockask_listen(void);
void blockask_serve(struct run *run);

/* Asks for the report on process pid and writes it as the options say; returns the exit
   status. */
int blockask(const struct options *options, pid_t pid);

#endif
