/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The user's language and character set. */
#ifndef MEMTOP_LANGUAGE_H
#define MEMTOP_LANGUAGE_H

/* Sets the locale and finds the message catalogues: those of the build tree, or of the
   tree in which the running executable is installed.  Call it first. */
void language_start(void);

#endif
