/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The texts of a replay: records, a summary, and tables of several replays. */
#ifndef MEMTOP_REPLAY_TEXT_H
#define MEMTOP_REPLAY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "programs/replay-run.h"

/* Large enough for every text below.  Each function writes at most size bytes and
   returns text. */
#define REPLAY_TEXT_MAX 16384

/* Looks up the translations for records, which allocates. */
void replay_text_prepare(void);

/* An empty line, then a line per figure. slop: three more lines about memory wasted
   inside blocks.  Does not allocate; without replay_text_prepare() the text is in
   English. */
char *replay_text_record(char *text, size_t size, const struct replay_record *record,
                         bool slop);

/* touched: the blocks were written to, so the RSS includes their memory. */
char *replay_text_summary(char *text, size_t size, const struct replay_result *result,
                          bool touched);

/* One line per replay of the same log, for at most REPLAY_TABLE_MAX replays. */
#define REPLAY_TABLE_MAX 32
char *replay_text_table(char *text, size_t size, const struct replay_result *results,
                        size_t count, bool touched);

/* Why a line was refused, translated. */
const char *replay_text_reason(enum replay_verdict why);

#endif
