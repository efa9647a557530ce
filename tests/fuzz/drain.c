/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Event rings of a program that writes anything into its segment. */
#include "config.h"

#include "segment.h"
#include "segment/drain.h"

#define CAPACITY RING_CAPACITY_MIN

static void
take(void *context, const struct drained *events, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        REQUIRE(events[i].ring < SHARD_COUNT);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct drain *drain;

    segment_of(CAPACITY, data, size);
    if (drain_open(segment_path, getuid(), geteuid(), &drain) == 0) {
        drain_round(drain, false, take, NULL);
        drain_round(drain, true, take, NULL);
        drain_lost(drain);
        drain_close(drain);
    }
    return 0;
}
