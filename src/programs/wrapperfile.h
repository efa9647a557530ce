/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The user's list of wrappers (monitor/wrappers.h). */
#ifndef MEMTOP_WRAPPERFILE_H
#define MEMTOP_WRAPPERFILE_H

/* Reads memtop/wrappers in $XDG_CONFIG_HOME, or in ~/.config.  If there is none, nothing
   happens; says what cannot be read or understood. */
void wrapperfile_read(void);

#endif
