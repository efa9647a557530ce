/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of figures.  Names never change; new figures get new names. */
#include "config.h"

#include "files/fields.h"

#define FIELD(name, group, kind, member)                                                \
    {                                                                                   \
        name, FIELDS_##group, FIELD_##kind, offsetof(struct process, member)            \
    }

const struct field fields_table[] = {
    FIELD("rss", SYSTEM, NUMBER, os.rss),
    FIELD("rss_anon", SYSTEM, NUMBER, os.rss_anon),
    FIELD("rss_peak", SYSTEM, NUMBER, rss_peak),
    FIELD("rss_file", SYSTEM_MORE, NUMBER, os.rss_file),
    FIELD("rss_shmem", SYSTEM_MORE, NUMBER, os.rss_shmem),
    FIELD("stack_size", SYSTEM_MORE, NUMBER, os.stack_size),
    FIELD("tasks", SYSTEM_MORE, UNSIGNED, os.threads),
    FIELD("task_state", SYSTEM_MORE, LETTER, os.state),
    FIELD("heap", HEAP, NUMBER, now.live_bytes),
    FIELD("peak", HEAP, NUMBER, now.peak_bytes),
    FIELD("total", COUNTERS, NUMBER, now.total_bytes),
    FIELD("live", COUNTERS, NUMBER, now.live_blocks),
    FIELD("usable", USABLE, NUMBER, now.usable_bytes),
    FIELD("stack", STACK, NUMBER, now.stack_now),
    FIELD("stack_peak", STACK, NUMBER, now.stack_peak),
    FIELD("stack_touched", TOUCHED, NUMBER, stack_touched),
    FIELD("threads", COUNTERS, NUMBER, now.threads),
    FIELD("threads_started", COUNTERS, NUMBER, now.threads_started),
    FIELD("calls", COUNTERS, FUNCTIONS, now.calls),
    FIELD("bytes", COUNTERS, FUNCTIONS, now.bytes),
    FIELD("failed", VAIN, FUNCTIONS, now.failed),
    FIELD("failed_bytes", VAIN, FUNCTIONS, now.failed_bytes),
    FIELD("realloc_in_place", COUNTERS, NUMBER, now.realloc_inplace),
    FIELD("realloc_shrunk", COUNTERS, NUMBER, now.realloc_dec),
    FIELD("realloc_freed", COUNTERS, NUMBER, now.realloc_freed),
    FIELD("free_null", VAIN, NUMBER, now.free_null),
    FIELD("unmatched", COUNTERS, NUMBER, now.unmatched),
    FIELD("threads_merged", COUNTERS_MORE, NUMBER, now.threads_merged),
    FIELD("torn", COUNTERS_MORE, UNSIGNED, now.torn),
    FIELD("occupied_peak", COUNTERS_MORE, NUMBER, heap_peak),
    FIELD("rss_anon_peak", COUNTERS_MORE, NUMBER, rss_anon_peak),
    FIELD("custom_allocated", CUSTOM, NUMBER, now.custom_made),
    FIELD("custom_allocated_bytes", CUSTOM, NUMBER, now.custom_made_bytes),
    FIELD("custom_freed", CUSTOM, NUMBER, now.custom_freed),
    FIELD("custom_freed_bytes", CUSTOM, NUMBER, now.custom_freed_bytes),
    FIELD("custom_unmatched", CUSTOM, NUMBER, now.custom_unmatched),
    FIELD("custom_live", CUSTOM, NUMBER, now.custom_live),
    FIELD("custom_live_bytes", CUSTOM, NUMBER, now.custom_live_bytes),
    FIELD("call_rates", RATES, FUNCTION_RATES, rates.calls),
    FIELD("allocated_rate", RATES, REAL, rates.bytes_allocated),
    FIELD("freed_rate", RATES, REAL, rates.bytes_freed),
};

const size_t fields_count = sizeof fields_table / sizeof *fields_table;
