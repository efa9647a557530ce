/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The user's language and character set. */
#ifndef MEMTOP_LANGUAGE_H
#define MEMTOP_LANGUAGE_H

/* To be called first: sets the locale and finds the catalogues, those of the build
   tree or of the tree that the running executable was installed in. */
void language_start(void);

#endif
