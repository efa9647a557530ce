/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is shared (state.h), before anything has started. */
#include "config.h"

#include "preload/state.h"

/* Common symbols come last, so its page is the last one: giving a page in the middle
   other properties would make three mappings of the library's data and not two, which
   every fork copies. */
__attribute__((common)) struct mt_guard mt_guard;

struct mt_segment mt_segment;

struct shard_hot mt_no_shard = MT_NO_SHARD_INIT;

__thread struct mt_thread mt_thread = {.shard = MT_NO_SHARD};

bool mt_sandboxed, mt_tsc_forbidden;
