/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recorded calls in every form of file (files/trace.h), and block sizes counted from
   them: times do not decrease, processes and threads are known, and the sums agree. */
#include "config.h"

#include "fuzz.h"
#include "monitor/blocksizes.h"
#include "files/trace.h"

#define AT_ONCE 7

static void
check_event(const struct trace_info *about, const struct trace_event *event,
            uint64_t *latest)
{
    REQUIRE(event->time_ns >= *latest);
    REQUIRE(event->process < about->processes);
    REQUIRE(event->kind >= TRACE_LOST
            || event->thread < about->process[event->process].threads);
    *latest = event->time_ns;
}

static void
check_sums(const struct blocksizes *blocks)
{
    const struct blocksizes_sum sum = blocksizes_total(blocks);
    uint64_t live = 0, allocations = 0;

    for (size_t i = 0; i < blocksizes_count(blocks); i++) {
        const struct blocksize *size = blocksizes_at(blocks, i);
        uint64_t spent = 0;

        REQUIRE(size->live <= size->peak && size->peak <= size->allocations);
        for (uint32_t level = 1; level <= blocksize_levels(size); level++)
            spent += blocksize_spent(size, level, sum.end);
        REQUIRE(spent <= sum.end);
        live += size->live;
        allocations += size->allocations;
    }
    REQUIRE(live == sum.live_blocks && allocations == sum.allocations);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_event events[AT_ONCE];
    int fd = fuzz_descriptor(data, size);
    struct counts counts;
    struct blocksizes *blocks;
    struct trace *trace;
    uint64_t latest = 0;
    char path[32];
    long got;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (trace_open(path, NULL, &trace) == 0) {
        counts_default(&counts);
        blocks = blocksizes_new(&counts, 1);
        REQUIRE(blocks != NULL);
        while ((got = trace_read(trace, events, AT_ONCE)) > 0)
            for (long i = 0; i < got; i++) {
                check_event(trace_about(trace), &events[i], &latest);
                const struct block_call call = {
                    events[i].time_ns, events[i].address, events[i].size,
                    events[i].process, events[i].thread,  events[i].kind};
                blocksizes_call(blocks, &call);
            }
        check_sums(blocks);
        blocksizes_free(blocks);
        trace_close(trace);
    }
    close(fd);
    return 0;
}
