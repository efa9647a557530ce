/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds and opens the program's files in the helper: exactly those it has mapped, or
   none. */
#ifndef MEMTOP_IMAGES_H
#define MEMTOP_IMAGES_H

#include "symbols/question.h"

/*
 * Opens the file for reading: as the process sees it, otherwise as memtop does.  Returns
 * the descriptor, -ENOENT if there is none, -ESTALE if another file is there now, or
 * another -errno.
 */
int images_open(const struct question_file *file);

#endif
