/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time, as far as the program allows itself to know it. */
#ifndef MEMTOP_PRELOAD_CLOCK_H
#define MEMTOP_PRELOAD_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC now, coarse: a vdso read without a system call. */
uint64_t mt_now_coarse(void);

/* CLOCK_MONOTONIC, exact if the process may read it. */
uint64_t mt_now_exact(void);

#endif
