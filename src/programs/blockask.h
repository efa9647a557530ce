/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports of a program that is being recorded, for another memtop: who records
 * listens, who asks says what he wants, gets the text, and the recording goes on.
 * Only the same user is answered, and only he is believed.
 */
#ifndef MEMTOP_BLOCKASK_H
#define MEMTOP_BLOCKASK_H

#include "programs/options.h"

struct run;

/* The recorder's end: a descriptor to be handed to blockask_serve() now and then; -1 if
   nobody can ask. */
int blockask_listen(void);
void blockask_serve(struct run *run);

/* Asks for the report of process pid, and writes it as the options say; the exit
   status. */
int blockask(const struct options *options, pid_t pid);

#endif
