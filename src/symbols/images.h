/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program's files, found and opened in the helper: the very ones it has mapped, or
   none. */
#ifndef MEMTOP_IMAGES_H
#define MEMTOP_IMAGES_H

#include "symbols/question.h"

/*
 * Opens the file for reading: as the process sees it, else as memtop does.  Returns
 * the descriptor, -ENOENT if there is none, -ESTALE if what is there now is another
 * file, or another -errno.
 */
int images_open(const struct question_file *file);

#endif
