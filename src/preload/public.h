/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PUBLIC marks a definition that programs see.  Also declares those that no other header
   here does. */
#ifndef MEMTOP_PUBLIC_H
#define MEMTOP_PUBLIC_H

#include <stddef.h>

#define PUBLIC __attribute__((visibility("default"), used))

void cfree(void *block);                                    /* glibc < 2.26 */
void free_sized(void *block, size_t size);                  /* C23 */
void free_aligned_sized(void *block, size_t alignment, size_t size);
void jemalloc_stats(void *stats, void *bins);               /* Mozilla's */

#endif
