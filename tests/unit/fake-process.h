/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process for the tests of reports, and the monitor's functions that reports call, with
   results set by the test.  Include in one file of a test program. */
#ifndef MEMTOP_FAKE_PROCESS_H
#define MEMTOP_FAKE_PROCESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "monitor/session.h"

static int fake_coverage = -1;
static struct process fake;

int
process_coverage(const struct process *process)
{
    (void)process;
    return fake_coverage;
}

const char *
process_state_word(enum process_state state)
{
    static const char *const words[] = {
#define X(id, word, json) word,
        PROCESS_STATES(X)
#undef X
    };

    return words[state];
}

const char *
process_state_json(enum process_state state)
{
    static const char *const names[] = {
#define X(id, word, json) json,
        PROCESS_STATES(X)
#undef X
    };

    return names[state];
}

/* Resets to a measured process that did nothing. */
static inline int
fake_reset(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake_coverage = -1;
    fake.pid = 24817;
    fake.state = STATE_RUNNING;
    fake.measured = true;
    fake.generations = 1;
    fake.identity.accounting = ACCOUNTING_REQUESTED;
    return 0;
}

/* Adds count successful calls that ask for size bytes each. */
static inline void
fake_calls(enum segment_function function, uint64_t size, uint64_t count)
{
    fake.now.calls[function] += count;
    fake.now.bytes[function] += size * count;
    if (function != FN_FREE)
        fake.sizes.allocated[histogram_cell(size)] += count;
}

/* Adds count failed calls that ask for size bytes each. */
static inline void
fake_failures(enum segment_function function, uint64_t size, uint64_t count)
{
    fake.now.calls[function] += count;
    fake.now.failed[function] += count;
    fake.now.failed_bytes[function] += size * count;
    fake.sizes.allocated[histogram_cell(size)] += count;
}

/* What write(out, ...) printed: caller frees. */
#define FAKE_OUTPUT(text, call)                                                \
    do {                                                                       \
        size_t fake_size;                                                      \
        FILE *out = open_memstream(&text, &fake_size);                         \
        assert_non_null(out);                                                  \
        call;                                                                  \
        assert_int_equal(fclose(out), 0);                                      \
    } while (0)

#endif
