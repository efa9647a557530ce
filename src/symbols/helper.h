/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The process that reads files of the program for memtop.  It is forked, not executed:
 * there is nothing to install or to find.  It ends when memtop does or closes the
 * socket, and can be ended at any moment, whatever it is reading.
 */
#ifndef MEMTOP_HELPER_H
#define MEMTOP_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "symbols/question.h"

struct helper {
    pid_t pid;
    int socket;    /* readable when there is an answer, or it has ended */
};

/* Starts one; 0 or -errno.  debuginfod: servers may be asked. */
int helper_start(struct helper *helper, bool debuginfod);

/* Ends it at once and reaps it. */
void helper_stop(struct helper *helper);

/* Sends a question; false if there is no room now, or nobody to read it. */
bool helper_ask(struct helper *helper, const struct question *question);

/* Receives the next answer: 1, 0 if there is none yet, -errno if it has ended. */
int helper_receive(struct helper *helper, struct answer *out);

#endif
