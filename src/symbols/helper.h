/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The process that reads files of the program for memtop.  It is forked, not executed, so
 * there is nothing to install or to find.  It ends when memtop ends or closes the socket,
 * and can be killed at any time, whatever it is reading.
 */
#ifndef MEMTOP_HELPER_H
#define MEMTOP_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "symbols/question.h"

struct helper {
    pid_t pid;
    int socket;    /* readable if there is an answer, or it has ended */
};

/* Starts a helper; returns 0 or -errno.  debuginfod: servers may be asked. */
int helper_start(struct helper *helper, bool debuginfod);

/* Kills it at once and reaps it. */
void helper_stop(struct helper *helper);

/* Sends a question; false if there is no space now, or the helper has ended. */
bool helper_ask(struct helper *helper, const struct symbol_question *question);

/* Receives the next answer: returns 1, 0 if there is none yet, -errno if it has ended. */
int helper_receive(struct helper *helper, struct answer *out);

/* ---- inside the helper ---- */

/*
 * Opens a file of the program, exactly the one that it has mapped: as the process sees
 * it, otherwise as memtop does.  Returns the descriptor, -ENOENT if there is none,
 * -ESTALE if another file is there now, or another -errno.
 */
int images_open(const struct question_file *file);

/*
 * Answers the question.  What was read of the file is kept for the next one.  Runs only
 * in the helper, because it may take long, and may crash on a malicious file.  There are
 * two implementations: dwarf.c (libdw: inlined functions, files and lines, separate files
 * with debugging information) and, if memtop was built without that library, table.c
 * (names from symbol tables).
 */
void resolver_answer(const struct symbol_question *question, struct answer *out);

#endif
