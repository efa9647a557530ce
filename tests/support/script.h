/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A made-up process from a file, for tests of everything behind the session:
 * the same file and the same clock give the same screen.
 *
 *   # a comment, or an empty line
 *   program ./prog --size 100000
 *   pid 24817
 *   0     heap=10M blocks=200 stack=4K malloc=200 malloc.bytes=10M
 *   1000  heap=12M malloc=250 calloc.failed=1 size.32=50
 *   1500  say the rest of the line is a message
 *   2000  exit=3
 *
 * A line takes effect its number of milliseconds after the first poll; times
 * must not decrease.  What it does not name stays as it was.  Numbers may end
 * in K, M or G (powers of 1024).
 *
 *   heap peak usable total blocks stack stack_peak threads unmatched free_null custom_...
 *   FUNCTION FUNCTION.bytes FUNCTION.failed FUNCTION.failed_bytes
 *   size.BYTES      blocks of that size, ever and alive
 *   rss rss_anon rss_peak touched children children_seen generations
 *   band.NAME       resident bytes of a part of the RSS (rss-breakdown.h; name in JSON);
 *                   also pss swap mappings absent unsure, and reserve=1: with_reserve.
 *                   Parts that are not named are unknown
 *   state           name in JSON of a living state: running, stopped, ...
 *   exit signal     the end
 *   why, say        text to the end of the line: why it is not measured; a message
 *   process PID PARENT [WORD=VALUE]... : COMMAND
 *                   to the end of the line: another process of the tree, words being
 *                   heap peak rss allocations start (ms after the root's) state
 *                   before (names joined by >); state is any state's name;
 *                   heap means that it is measured
 *   sites [WORD=VALUE]...   from now on allocations are sampled: every (bytes between
 *                   samples on average), unwinder (enum site_unwinder), lost and
 *                   lost_bytes (not followed), known (number of places with names)
 *   site [WORD=VALUE]... : FUNCTION[@FILE:LINE] < FUNCTION...
 *                   to the end of the line: a call stack, innermost first, and what it
 *                   has allocated of one size: size, and how many blocks were sampled:
 *                   made live peak gone.CLASS (freed, by lifetime); born (ms)
 *
 * peak and stack_peak never fall below heap and stack, rss_peak never below
 * rss.  heap means that the process is measured, why that it is not.
 */
#ifndef MEMTOP_TESTS_SCRIPT_H
#define MEMTOP_TESTS_SCRIPT_H

#include <stdbool.h>

#include "monitor/session.h"
#include "monitor/source.h"

/* name may begin with "script:".  False and errno, EINVAL for what does not parse. */
bool script_open(const char *name, struct session_source *out);

/* A session of it; NULL and errno as script_open(), or ENOMEM. */
struct session *script_session(const char *name);

#endif
