/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reports exactly as the article's program writes them, including its spelling.  They
 * are not translated, because programs may read them.
 */
#include "config.h"

#include "report/blockreport.h"

#include <inttypes.h>
#include <stdlib.h>

/* Converts ticks to ms. */
static uint64_t
milliseconds(const struct blocksizes *blocks, uint64_t ticks)
{
    return blocksizes_tick_ns(blocks) == 1 ? ticks / 1000000 : ticks;
}

/* Names may hold any bytes: none may end the line or control a terminal.  Letters stay as
   they are, whatever the locale. */
static void
put_name(FILE *out, const char *name)
{
    for (; *name != '\0'; name++)
        fputc((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name, out);
}

static void
heading(FILE *out, const char *type, const char *what)
{
    fprintf(out, "-------- Report type: '%s' (%s)\n", type, what);
}

static void
write_overview(FILE *out, const struct blocksizes_sum *sum)
{
    heading(out, "Overview",
            "full count, full size and max. peak size for loading memory blocks");
    fprintf(out,
            "   Full count: %" PRIu64 ";   Full size: %" PRIu64
            ";   Average size: %" PRIu64 "\n   Max. peak size: %" PRIu64 "\n",
            sum->allocations, sum->bytes, sum->bytes / sum->allocations, sum->peak_bytes);
}

static bool
write_counts(FILE *out, const struct blockreport *report, bool peaks)
{
    const struct blocksizes *blocks = report->blocks;
    uint32_t *order = blockreport_order(blocks, report->params->sort, peaks);

    if (order == NULL)
        return false;
    if (peaks)
        heading(out, "LoadPeak",
                "peak count for memory blocks loading by different size: max. quantity "
                "of simultaneously loaded bloks of the same size");
    else
        heading(out, "BlockSize",
                "full count for loading memory blocks of the same size");
    for (size_t i = 0; i < blocksizes_count(blocks); i++) {
        const struct blocksize *size = blocksizes_at(blocks, order[i]);

        fprintf(out, "   count: %" PRIu64 ";\tsize: %" PRIu64 ";\n",
                peaks ? size->peak : size->allocations, size->size);
    }
    free(order);
    return true;
}

static void
write_times(FILE *out, const struct blocksizes *blocks, const struct blocksize *size,
            uint64_t end)
{
    uint64_t lo, hi, spent;

    fprintf(out, "   %" PRIu64 " (block size)\n", size->size);
    for (uint32_t level = 1; level <= blocksize_levels(size); level++) {
        spent = blocksize_spent(size, level, end);
        if (spent == 0)
            continue;
        counts_bounds(blocksizes_counts(blocks), level, &lo, &hi);
        fprintf(out,
                "      by count %" PRIu64 " - %" PRIu64 ":\t%" PRIu64
                " ms (%u percent of full time);\n",
                lo, hi, milliseconds(blocks, spent),
                (unsigned)((unsigned __int128)spent * 100 / end));
    }
}

static bool
write_intervals(FILE *out, const struct blockreport *report)
{
    const struct blocksizes *blocks = report->blocks;
    uint32_t *order = blockreport_order(blocks, report->params->sort, false);
    uint64_t end = blocksizes_total(blocks).end;

    if (order == NULL)
        return false;
    heading(out, "TimeInterval",
            "loading time intervals for same size of memory blocks");
    for (size_t i = 0; i < blocksizes_count(blocks); i++)
        write_times(out, blocks, blocksizes_at(blocks, order[i]), end);
    fprintf(out, "   *** Full time: %" PRIu64 " ms ***\n", milliseconds(blocks, end));
    free(order);
    return true;
}

bool
blockreport_compat(FILE *out, const struct blockreport *report)
{
    const struct blocksizes_sum sum = blocksizes_total(report->blocks);
    unsigned reports = report->params->reports;
    bool complete = true;

    put_name(out, report->caption);
    fputc('\n', out);
    if (sum.allocations == 0) {
        fputs("INFO: memory usage statictic array is empty\n", out);
        return fflush(out) == 0 && !ferror(out);
    }
    fputs("INFO: +++++++++++++ begin of memory usage statictic array  +++++++++++++\n",
          out);
    if (reports & BLOCK_OVERVIEW)
        write_overview(out, &sum);
    if (reports & BLOCK_SIZES)
        complete = write_counts(out, report, false);
    if (reports & BLOCK_PEAKS)
        complete = write_counts(out, report, true) && complete;
    if (reports & BLOCK_TIMES)
        complete = write_intervals(out, report) && complete;
    if (report->log_name != NULL) {
        heading(out, "LogFile", "trace memory usage to log-files by block size");
        fputs("   Log-file name: ", out);
        put_name(out, report->log_name);
        fprintf(out, "  %s\n", report->log_error == NULL ? "SUCCEEDED" : "FAILED");
    }
    fputs("INFO: +++++++++++++ end of memory usage statictic array +++++++++++++\n", out);
    return fflush(out) == 0 && !ferror(out) && complete;
}
