/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reports for programs.  JSON: a line {"type":"blocks"} with the sums, then one
 * {"type":"blocksize"} for each size.  CSV: one line per size, one column for each
 * interval that any size was in.  Times are in ns, whatever a tick is; if "clock" is
 * false, in events.
 */
#include "config.h"

#include "report/blockreport.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "files/fields.h"

static uint64_t
nanoseconds(const struct blocksizes *blocks, uint64_t ticks)
{
    uint64_t ns;

    if (blocksizes_tick_ns(blocks) == BLOCKSIZES_NO_CLOCK)
        return ticks;
    return __builtin_mul_overflow(ticks, blocksizes_tick_ns(blocks), &ns) ? UINT64_MAX
                                                                          : ns;
}

static uint64_t
bytes_of(const struct blocksize *size)
{
    uint64_t bytes;

    return __builtin_mul_overflow(size->size, size->allocations, &bytes) ? UINT64_MAX
                                                                         : bytes;
}

/* ---- JSON ---- */

static bool
write_sum(FILE *out, const struct blockreport *report)
{
    const struct blocksizes_sum sum = blocksizes_total(report->blocks);
    struct object object = object_new();

    object_set_number(&object, "v", 1);
    object_set_text(&object, "type", "blocks", SIZE_MAX);
    object_set_text(&object, "caption", report->caption, strlen(report->caption));
    object_set(&object, "clock",
               json_boolean(blocksizes_tick_ns(report->blocks) != BLOCKSIZES_NO_CLOCK));
    object_set_text(&object, "blocks", report->pool ? "pool" : "malloc", SIZE_MAX);
    object_set_number(&object, "sizes", blocksizes_count(report->blocks));
    object_set_number(&object, "allocations", sum.allocations);
    object_set_number(&object, "bytes", sum.bytes);
    object_set_number(&object, "peak", sum.peak_bytes);
    object_set_number(&object, "peak_ns", nanoseconds(report->blocks, sum.peak_time));
    object_set_number(&object, "live", sum.live_blocks);
    object_set_number(&object, "live_bytes", sum.live_bytes);
    object_set_number(&object, "before", sum.before);
    object_set_number(&object, "unknown", sum.unknown);
    object_set_number(&object, "replaced", sum.replaced);
    object_set_number(&object, "full_ns", nanoseconds(report->blocks, sum.end));
    return object_write(out, object);
}

static json_t *
intervals(const struct blocksizes *blocks, const struct blocksize *size, bool *complete)
{
    uint64_t end = blocksizes_total(blocks).end, lo, hi, spent;
    json_t *array = json_array();

    for (uint32_t level = 1; level <= blocksize_levels(size); level++) {
        struct object object;

        spent = blocksize_spent(size, level, end);
        if (spent == 0)
            continue;
        counts_bounds(blocksizes_counts(blocks), level, &lo, &hi);
        object = object_new();
        object_set_number(&object, "above", lo);
        object_set_number(&object, "to", hi);
        object_set_number(&object, "ns", nanoseconds(blocks, spent));
        *complete = object.complete && *complete;
        if (json_array_append_new(array, object.json) != 0)
            *complete = false;
    }
    return array;
}

static bool
write_size(FILE *out, const struct blocksizes *blocks, const struct blocksize *size)
{
    struct object object = object_new();
    bool complete = true;

    object_set_number(&object, "v", 1);
    object_set_text(&object, "type", "blocksize", SIZE_MAX);
    object_set_number(&object, "size", size->size);
    object_set_number(&object, "allocations", size->allocations);
    object_set_number(&object, "bytes", bytes_of(size));
    object_set_number(&object, "live", size->live);
    object_set_number(&object, "peak", size->peak);
    object_set(&object, "intervals", intervals(blocks, size, &complete));
    object.complete = object.complete && complete;
    return object_write(out, object);
}

bool
blockreport_json(FILE *out, const struct blockreport *report)
{
    uint32_t *order = blockreport_order(report->blocks, report->params->sort, false);
    bool complete = order != NULL && write_sum(out, report);

    for (size_t i = 0; complete && i < blocksizes_count(report->blocks); i++)
        complete = write_size(out, report->blocks,
                              blocksizes_at(report->blocks, order[i]));
    free(order);
    return fflush(out) == 0 && !ferror(out) && complete;
}

/* ---- CSV ---- */

/* Finds which intervals any size was in, from 1 to the highest; NULL if memory is
   short. */
static bool *
intervals_used(const struct blocksizes *blocks, uint32_t *highest)
{
    uint64_t end = blocksizes_total(blocks).end;
    bool *used;

    *highest = 0;
    for (size_t i = 0; i < blocksizes_count(blocks); i++)
        if (blocksize_levels(blocksizes_at(blocks, i)) > *highest)
            *highest = blocksize_levels(blocksizes_at(blocks, i));
    used = calloc((size_t)*highest + 1, sizeof *used);
    for (size_t i = 0; used != NULL && i < blocksizes_count(blocks); i++) {
        const struct blocksize *size = blocksizes_at(blocks, i);

        for (uint32_t level = 1; level <= blocksize_levels(size); level++)
            used[level] |= blocksize_spent(size, level, end) > 0;
    }
    return used;
}

static void
write_head(FILE *out, const struct blocksizes *blocks, const bool *used, uint32_t highest)
{
    uint64_t lo, hi;

    fputs("size,allocations,bytes,live,peak", out);
    for (uint32_t level = 1; level <= highest; level++)
        if (used[level]) {
            counts_bounds(blocksizes_counts(blocks), level, &lo, &hi);
            fprintf(out, ",ns_%" PRIu64 "_%" PRIu64, lo + 1, hi);
        }
    fputc('\n', out);
}

static void
write_row(FILE *out, const struct blocksizes *blocks, const struct blocksize *size,
          const bool *used, uint32_t highest)
{
    uint64_t end = blocksizes_total(blocks).end;

    fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, size->size,
            size->allocations, bytes_of(size), size->live, size->peak);
    for (uint32_t level = 1; level <= highest; level++)
        if (used[level])
            fprintf(out, ",%" PRIu64,
                    nanoseconds(blocks, blocksize_spent(size, level, end)));
    fputc('\n', out);
}

bool
blockreport_csv(FILE *out, const struct blockreport *report)
{
    const struct blocksizes *blocks = report->blocks;
    uint32_t *order = blockreport_order(blocks, report->params->sort, false);
    uint32_t highest;
    bool *used = intervals_used(blocks, &highest);
    bool complete = order != NULL && used != NULL;

    if (complete) {
        write_head(out, blocks, used, highest);
        for (size_t i = 0; i < blocksizes_count(blocks); i++)
            write_row(out, blocks, blocksizes_at(blocks, order[i]), used, highest);
    }
    free(order);
    free(used);
    return fflush(out) == 0 && !ferror(out) && complete;
}
