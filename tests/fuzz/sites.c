/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sampled allocations of a program that writes anything into its segment. */
#include "config.h"

#define SEGMENT_SITES true
#include "segment.h"
#include "segment/sites.h"

static void
check_figures(const struct site_figures *figures)
{
    REQUIRE(figures->bytes >= 0 && figures->objects >= 0);
}

/* Checks what callers rely on. */
static void
check(const struct sites_reading *reading)
{
    unsigned depth;

    REQUIRE(reading->rate >= 0 && reading->rate <= 1 && reading->live_bytes >= 0
            && reading->depth <= SITES_DEPTH_MAX && reading->unwinder <= UNWIND_LAST);
    for (size_t i = 0; i < reading->site_count; i++) {
        const struct site *site = &reading->sites[i];
        const uint64_t *pcs = sites_stack(reading, site->stack, &depth);

        REQUIRE((pcs != NULL) == (site->stack != 0));
        REQUIRE(pcs == NULL || pcs + depth <= reading->pool + reading->pool_count);
        REQUIRE(site->bucket < HISTOGRAM_COARSE || site->bucket == SITE_ANY_SIZE);
        check_figures(&site->live);
        check_figures(&site->at_peak);
        for (unsigned frame = 0; frame < depth; frame++)
            sites_module(reading, pcs[frame], site->first_ns);
    }
    for (size_t i = 0; i < reading->block_count; i++)
        REQUIRE(reading->blocks[i].site < reading->site_count
                && reading->blocks[i].function < FN_COUNT);
    for (size_t i = 0; i < reading->module_count; i++)
        REQUIRE(reading->modules[i].start < reading->modules[i].end
                && strlen(reading->modules[i].path) <= SITE_PATH_LEN
                && reading->modules[i].build_id_size <= SITE_BUILD_ID_LEN);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sites_reading reading = {0};
    struct reader *reader;

    segment_of(0, data, size);
    if (reader_open(segment_path, getuid(), geteuid(), &reader) != 0)
        return 0;
    for (int times = 0; times < 2; times++)
        if (sites_read(reader, &reading) == 0)
            check(&reading);
    sites_free(&reading);
    reader_close(reader);
    return 0;
}
