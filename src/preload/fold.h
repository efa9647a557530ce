/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the words of a thread's shard to the process's live bytes and peak. */
#ifndef MEMTOP_FOLD_H
#define MEMTOP_FOLD_H

#include <stdint.h>

#include "segment/layout.h"

#define QUANTUM_MIN 4096u
#define QUANTUM_MAX 65536u

/* A thread that is alone could keep its changes to itself; but then they would be missing
   in the peak of a second one. */
#define QUANTUM_ALONE 131072u

/* Folds the shard's packed words into its totals, and its delta into the process's live
   bytes and peak.  Call it inside an update. */
void mt_fold(struct shard *shard);

/* Folds the packed words into the shard's totals only. */
void mt_fold_packed(struct shard *shard);

/* Adds to the process's live bytes and raises the peak; meanwhile the sum has been high
   above what it was. */
void mt_fold_bytes(int64_t change, int64_t high);

/* Makes something due once blocks that occupy so many bytes have come, or gone, by the
   packed way.  Call them inside an update. */
void mt_due_in(struct shard *shard, uint64_t bytes);
void mt_due_gone_in(struct shard *shard, uint64_t bytes);

/* Ends an update of the thread's own shard that will not go on, if one is open: part of
   what it was to count may be missing.  The segment says how many there were. */
void mt_update_cut(struct shard *shard);

/* Folds what lies in a shard that the thread has just got, or got back, and makes the
   next block that comes or goes by the packed way read the clock, whatever its size. */
void mt_count_anew(struct shard *shard);

#endif
