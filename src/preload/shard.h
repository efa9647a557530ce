/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which thread owns which shard. */
#ifndef MEMTOP_SHARD_H
#define MEMTOP_SHARD_H

#include <stdbool.h>
#include <stdint.h>

/* Once a process, before threads can end: the key that tells of their end. */
void mt_shard_install(void);

/* Gives the calling thread a shard, or marks it as sharing shard 0. */
void mt_shard_claim(void);

/* A depth beyond the limit known: true if the limit has grown meanwhile. */
bool mt_stack_grew(uint64_t depth);

#endif
