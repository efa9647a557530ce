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

/*
 * Opens the map of generated code that a process writes, /tmp/perf-PID.map (perfmap.h):
 * in the /tmp that the process sees, otherwise in ours.  Only a regular file of the
 * process's user or of root is taken.  Returns the descriptor or -errno.  Also for memtop
 * itself, to see whether the file has grown.
 */
int images_open_map(const struct question_file *file);

/* Finds the user and the own pid of the process; what is not known stays. */
void images_find_owner(struct question_file *file);

/* ---- inside the helper ---- */

/* Forgets the descriptors that memtop had. */
void images_forget(void);

/*
 * Opens a file of the program, exactly the one that it has mapped: as the process sees
 * it, otherwise as memtop does.  Returns the descriptor, -ENOENT if there is none,
 * -ESTALE if another file is there now, or another -errno.
 */
int images_open(const struct question_file *file);

/*
 * Answers a question about generated code, from the map that its process writes.  What
 * was read of that is kept; when it has grown the rest is read.
 */
void generated_answer(const struct symbol_question *question, struct answer *out);

/*
 * Answers the question.  What was read of the file is kept for the next one.  Runs only
 * in the helper, because it may take long, and may crash on a malicious file.  There are
 * two implementations: dwarf.c (libdw: inlined functions, files and lines, separate files
 * with debugging information) and, if memtop was built without that library, table.c
 * (names from symbol tables).
 */
void resolver_answer(const struct symbol_question *question, struct answer *out);

#endif
