/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rings, attached to the core. */
#ifndef MEMTOP_RECORDED_H
#define MEMTOP_RECORDED_H

/* Called once in a process that is to write events, after its segment is mapped. */
void mt_recorded_start(void);

#endif
