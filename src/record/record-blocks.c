/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passes events on to be counted, separately for the program's own pools. */
#include "config.h"

#include "record/record-parts.h"

#include <string.h>

#include "base/clock.h"

#define AHEAD 12 /* look-ahead in events, for prefetching table slots */

static struct blocksizes *
make(const struct record_options *options, pid_t pid, enum record_blocks which)
{
    return options->blocks != NULL ? options->blocks(options->context, pid, which) : NULL;
}

void
blocks_files_open(struct blocks_files *files, const struct record_options *options)
{
    *files = (struct blocks_files){.options = options};
    files->all = make(options, 0, RECORD_BLOCKS_MALLOC);
}

void
blocks_files_image(struct blocks_files *files, struct process_blocks *process, pid_t pid,
                   bool first, const struct drain_image *about)
{
    if (files->began_ns == 0)
        files->began_ns = about->created_ns;
    process->created_ns = about->created_ns > files->began_ns
                              ? about->created_ns - files->began_ns
                              : 0;
    if (first) {
        process->pid = pid;
        process->number = files->processes++;
        process->of[RECORD_BLOCKS_MALLOC] =
            make(files->options, pid, RECORD_BLOCKS_MALLOC);
        if (process->of[RECORD_BLOCKS_MALLOC] != NULL)
            blocksizes_begin(process->of[RECORD_BLOCKS_MALLOC], about->baseline_bytes);
        if (files->all != NULL)
            blocksizes_begin(files->all, about->baseline_bytes);
        return;
    }
    for (int i = 0; i < RECORD_BLOCKS; i++)
        if (process->of[i] != NULL)
            blocksizes_forget(process->of[i], 0, process->created_ns);
    if (files->all != NULL)
        blocksizes_forget(files->all, process->number, process->created_ns);
}

static void
take_pool(struct blocks_files *files, struct process_blocks *process,
          struct block_call call, uint8_t kind)
{
    struct blocksizes **pool = &process->of[RECORD_BLOCKS_POOL];

    if (*pool == NULL && !process->refused[RECORD_BLOCKS_POOL]) {
        *pool = make(files->options, process->pid, RECORD_BLOCKS_POOL);
        process->refused[RECORD_BLOCKS_POOL] = *pool == NULL;
    }
    call.kind = kind;
    if (*pool != NULL)
        blocksizes_call(*pool, &call);
}

/* True after the time limit: later calls are not counted. */
static bool
is_late(const struct blocks_files *files, struct process_blocks *process,
        const struct block_call *call)
{
    uint64_t until_ns = files->options->blocks_until_ns;

    if (until_ns == 0 || call->time_ns <= until_ns)
        return false;
    for (int i = 0; i < RECORD_BLOCKS; i++)
        if (process->of[i] != NULL)
            blocksizes_pass(process->of[i], until_ns);
    if (files->all != NULL)
        blocksizes_pass(files->all, until_ns);
    return true;
}

void
blocks_files_take(struct blocks_files *files, struct process_blocks *process,
                  const struct drained *events, size_t count)
{
    struct blocksizes *mine = process->of[RECORD_BLOCKS_MALLOC];

    if (mine == NULL && files->all == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        struct block_call call = {.time_ns = process->created_ns + events[i].time_ns,
                                  .address = events[i].address,
                                  .size = events[i].size,
                                  .thread = events[i].ring,
                                  .kind = events[i].kind};

        if (is_late(files, process, &call))
            continue;
        if (mine != NULL && i + AHEAD < count) {
            const struct block_call later = {.address = events[i + AHEAD].address,
                                             .size = events[i + AHEAD].size,
                                             .kind = events[i + AHEAD].kind};

            blocksizes_expect(mine, &later);
        }
        if (call.kind == EVENT_CUSTOM_MADE)
            take_pool(files, process, call, FN_MALLOC);
        else if (call.kind == EVENT_CUSTOM_FREED)
            take_pool(files, process, call, FN_FREE);
        else if (mine != NULL)
            blocksizes_call(mine, &call);
        call.process = process->number;
        if (files->all != NULL)
            blocksizes_call(files->all, &call);
    }
}

void
blocks_files_ended(struct blocks_files *files, struct process_blocks *process,
                   bool root)
{
    process->ended_ns = blocks_files_now(files, process);
    if (files->all != NULL && !root)
        blocksizes_forget(files->all, process->number,
                          blocksizes_total(files->all).end);
}

uint64_t
blocks_files_now(const struct blocks_files *files, const struct process_blocks *process)
{
    uint64_t began_ns = files->began_ns, now_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC);
    uint64_t until_ns = files->options->blocks_until_ns;

    if (process->ended_ns > 0)
        return process->ended_ns;
    now_ns = began_ns > 0 && now_ns > began_ns ? now_ns - began_ns : 0;
    return until_ns > 0 && now_ns > until_ns ? until_ns : now_ns;
}

void
process_blocks_free(struct process_blocks *process)
{
    for (int i = 0; i < RECORD_BLOCKS; i++)
        blocksizes_free(process->of[i]);
    *process = (struct process_blocks){0};
}

void
blocks_files_free(struct blocks_files *files)
{
    blocksizes_free(files->all);
    files->all = NULL;
}
