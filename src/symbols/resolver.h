/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds functions in files, in the helper alone: it may take long, and on a file that
 * is made to it may crash.  Two make the same promise: dwarf.c (libdw: inlined
 * functions, files and lines, separate files with debugging information) and, where
 * memtop was built without that library, table.c (names from symbol tables).
 */
#ifndef MEMTOP_RESOLVER_H
#define MEMTOP_RESOLVER_H

#include "symbols/question.h"

/* Answers the question.  What it has read of the file is kept for the next one. */
void resolver_answer(const struct question *question, struct answer *out);

#endif
