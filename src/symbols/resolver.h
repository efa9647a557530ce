/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds functions in files; runs only in the helper, because it may take long, and may
 * crash on a malicious file.  There are two implementations: dwarf.c (libdw: inlined
 * functions, files and lines, separate files with debugging information) and, if memtop
 * was built without that library, table.c (names from symbol tables).
 */
#ifndef MEMTOP_RESOLVER_H
#define MEMTOP_RESOLVER_H

#include "symbols/question.h"

/* Answers the question.  What was read of the file is kept for the next one. */
void resolver_answer(const struct symbol_question *question, struct answer *out);

#endif
