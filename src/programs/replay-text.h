/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a replay says: records, its summary, and tables of several. */
#ifndef MEMTOP_REPLAY_TEXT_H
#define MEMTOP_REPLAY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "programs/replay-run.h"

/* Any text below fits; each function writes at most size bytes, and returns text. */
#define REPLAY_TEXT_MAX 16384

/* Looks up what records say in the user's language, which allocates. */
void replay_text_prepare(void);

/* An empty line, then a line a figure.  slop: three more, of what is wasted inside
   of blocks.  Does not allocate, once prepared; unprepared it is in English. */
char *replay_text_record(char *text, size_t size, const struct replay_record *record,
                         bool slop);

/* touched: the blocks were written to, so that the RSS is that of their memory. */
char *replay_text_summary(char *text, size_t size, const struct replay_result *result,
                          bool touched);

/* One line a replay of the same log; at most so many. */
#define REPLAY_TABLE_MAX 32
char *replay_text_table(char *text, size_t size, const struct replay_result *results,
                        size_t count, bool touched);

/* Why a line was refused, translated. */
const char *replay_text_reason(enum replay_verdict why);

#endif
