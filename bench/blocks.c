/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blocks FILE EVENTS SIZES LIVE
 *
 * Writes a trace for reports by block size: blocks of SIZES distinct sizes come and go in
 * random order, about LIVE of them at once, with an event every 25 ns or so.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "files/native.h"

#define AT_ONCE 4096

static uint64_t
random_number(void)
{
    static uint64_t state = 88172645463325252u; /* xorshift64 (Marsaglia, 2003) */

    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* The next event.  There are twice as many places as blocks that are to live; a random
   place gets a block, or loses the one it has. */
static struct trace_event
next_event(uint64_t number, uint64_t *sizes, size_t live, size_t distinct)
{
    struct trace_event event = {.time_ns = number * 25};
    size_t place = random_number() % (2 * live);

    event.address = UINT64_C(0x7f0000000000) + place * 48;
    if (sizes[place] != 0) {
        event.kind = FN_FREE;
        event.size = sizes[place];
        sizes[place] = 0;
    } else {
        event.kind = FN_MALLOC;
        event.size = sizes[place] = 16 + random_number() % distinct * 8;
    }
    return event;
}

int
main(int argc, char **argv)
{
    static struct trace_event events[AT_ONCE];
    const struct trace_process about = {.pid = 1};
    struct native_writer *writer;
    uint64_t count, number = 0, *sizes;
    size_t distinct, live;

    if (argc != 5)
        return 2;
    count = strtoull(argv[2], NULL, 10);
    distinct = strtoul(argv[3], NULL, 10);
    live = strtoul(argv[4], NULL, 10);
    sizes = calloc(2 * live + 1, sizeof *sizes);
    if (sizes == NULL || distinct == 0 || live == 0
        || native_create(argv[1], true, 0, &writer) != 0
        || native_process(writer, &about) != 0 || native_thread(writer, 0, 1) != 0)
        return 1;
    while (number < count) {
        size_t made = 0;

        for (; made < AT_ONCE && number < count; made++, number++)
            events[made] = next_event(number, sizes, live, distinct);
        if (native_events(writer, 0, events, made) != 0
            || native_tick(writer, number * 25) != 0)
            return 1;
    }
    free(sizes);
    return native_close(writer, number * 25) == 0 ? 0 : 1;
}
