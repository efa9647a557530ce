/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A block stands for its slot.  Live, it is in its process's table by address;
 * left, it waits in the queue of free slots, and is used again from there.
 *
 *     free slots: first left -> ... -> last left          (take, leave)
 *     live:       address -> block -> overdue block       (find, settle, forget)
 *
 * An address that is handed out twice has missed a call that freed it: an
 * allocator never does that.  Either no log line will come, or it is a realloc()
 * that another thread was slower to record than the one that got the address.
 * The older block is kept as overdue until the address is named again, which
 * decides it.  So nothing has to be held back, and no more than one block an
 * address waits.
 */
#include "config.h"

#include "trace/munge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* Keys are single numbers, so their hash may be simple: Fibonacci hashing, with
   the upper bits, which are the good ones, brought down. */
#define HASH_FUNCTION(key, length, hash)                                                 \
    do {                                                                                 \
        uint64_t mixed;                                                                  \
        memcpy(&mixed, key, sizeof mixed);                                               \
        (void)(length);                                                                  \
        mixed *= UINT64_C(0x9e3779b97f4a7c15);                                           \
        (hash) = (unsigned)(mixed >> 32);                                                \
    } while (0)
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct block {
    uint64_t address, slot;
    uint64_t tid;          /* of the thread it was handed to */
    struct block *overdue; /* had this address before and was never freed */
    STAILQ_ENTRY(block) next;
    UT_hash_handle hh;
};

struct thread {
    uint64_t tid, number;
    UT_hash_handle hh;
};

struct process {
    uint64_t pid, number;
    struct thread *threads;
    struct block *live;
    STAILQ_HEAD(, block) left;
    uint64_t slots;
    struct block *null; /* with the original's rules NULL gets a slot for ever */
    UT_hash_handle hh;
};

struct munge {
    struct munge_options options;
    struct process *processes;
};

/* After an addition: uthash could not get memory for its table. */
#define NOT_ADDED(element) ((element)->hh.tbl == NULL)

/* ---- processes and threads ---- */

static struct process *
find_process(struct munge *munge, uint64_t pid)
{
    struct process *process;

    HASH_FIND(hh, munge->processes, &pid, sizeof pid, process);
    if (process != NULL || (process = calloc(1, sizeof *process)) == NULL)
        return process;
    process->pid = pid;
    process->number = HASH_COUNT(munge->processes) + 1;
    STAILQ_INIT(&process->left);
    HASH_ADD(hh, munge->processes, pid, sizeof pid, process);
    if (!NOT_ADDED(process))
        return process;
    free(process);
    return NULL;
}

/* The thread's number, or 0 if memory is short. */
static uint64_t
find_thread(struct process *process, uint64_t tid)
{
    struct thread *thread;

    HASH_FIND(hh, process->threads, &tid, sizeof tid, thread);
    if (thread != NULL)
        return thread->number;
    thread = calloc(1, sizeof *thread);
    if (thread == NULL)
        return 0;
    thread->tid = tid;
    thread->number = HASH_COUNT(process->threads) + 1;
    HASH_ADD(hh, process->threads, tid, sizeof tid, thread);
    if (!NOT_ADDED(thread))
        return thread->number;
    free(thread);
    return 0;
}

/* ---- blocks and slots ---- */

static struct block *
find(struct process *process, uint64_t address)
{
    struct block *block;

    HASH_FIND(hh, process->live, &address, sizeof address, block);
    return block;
}

/* The slot that was left longest ago, or a new one.  NULL if memory is short. */
static struct block *
take(struct process *process)
{
    struct block *block = STAILQ_FIRST(&process->left);

    if (block != NULL) {
        STAILQ_REMOVE_HEAD(&process->left, next);
        return block;
    }
    block = malloc(sizeof *block);
    if (block != NULL)
        block->slot = ++process->slots;
    return block;
}

static void
leave(struct process *process, struct block *block)
{
    STAILQ_INSERT_TAIL(&process->left, block, next);
}

/* Takes a slot for an address that is not live. */
static struct block *
settle(struct process *process, uint64_t address)
{
    struct block *block = take(process);

    if (block == NULL)
        return NULL;
    block->address = address;
    block->overdue = NULL;
    HASH_ADD(hh, process->live, address, sizeof address, block);
    if (!NOT_ADDED(block))
        return block;
    leave(process, block);
    return NULL;
}

static void
forget(struct process *process, struct block *block)
{
    HASH_DELETE(hh, process->live, block);
}

/* ---- what becomes of a line ---- */

static void
put(const struct munge *munge, const struct logalloc_line *line)
{
    munge->options.put(munge->options.context, line);
}

/* The call that freed it is missing: here it is. */
static void
free_overdue(struct munge *munge, struct process *process, struct block *overdue,
             const struct logalloc_line *line)
{
    const struct logalloc_line freed = {
        .pid = line->pid, .tid = line->tid, .call = LOGALLOC_FREE,
        .block = overdue->slot,
    };

    put(munge, &freed);
    leave(process, overdue);
}

/* A recorded result becomes a slot.  False if memory is short. */
static bool
hand_out(struct munge *munge, struct process *process, struct logalloc_line *line)
{
    struct block *older = find(process, line->result), *block;

    if (older != NULL) {
        if (older->overdue != NULL)
            free_overdue(munge, process, older->overdue, line);
        forget(process, older);
    }
    block = settle(process, line->result);
    if (block == NULL) {
        if (older != NULL)
            leave(process, older);
        return false;
    }
    block->overdue = older;
    block->tid = line->tid;
    line->result = block->slot;
    return true;
}

static enum munge_verdict
munge_mended(struct munge *munge, struct process *process, struct logalloc_line *line)
{
    bool given = logalloc_takes_block(line->call) && line->block != 0;
    struct block *block = given ? find(process, line->block) : NULL;
    struct block *overdue = NULL;

    if (logalloc_returns_block(line->call) && !line->has_result)
        return MUNGE_NO_RESULT;
    if (given && block == NULL)
        return MUNGE_UNSEEN;
    if (given && line->has_result && line->result == 0 && line->size == 0) {
        line->call = LOGALLOC_FREE;
        line->has_result = false;
    }
    if (line->has_result && line->result == 0)
        return MUNGE_FAILED;

    if (block != NULL) {
        overdue = block->overdue;
        block->overdue = NULL;
        if (overdue != NULL && line->tid != block->tid &&
            line->call == LOGALLOC_REALLOC) {
            block = overdue; /* which is not in the table any more */
            overdue = NULL;
        } else {
            forget(process, block);
        }
        line->block = block->slot;
        leave(process, block);
    }
    if (overdue != NULL)
        free_overdue(munge, process, overdue, line);
    if (line->has_result && !hand_out(munge, process, line))
        return MUNGE_NO_MEMORY;
    put(munge, line);
    return MUNGE_GOOD;
}

/* The slot that the original gives NULL, which never gets free again. */
static struct block *
settle_null(struct process *process)
{
    if (process->null == NULL)
        process->null = take(process);
    return process->null;
}

static enum munge_verdict
munge_original(struct munge *munge, struct process *process, struct logalloc_line *line)
{
    struct block *block;

    if (logalloc_takes_block(line->call)) {
        block = line->block == 0 ? settle_null(process) : find(process, line->block);
        if (block == NULL)
            return line->block == 0 ? MUNGE_NO_MEMORY : MUNGE_UNSEEN;
        if (line->block != 0) {
            forget(process, block);
            leave(process, block);
        }
        line->block = block->slot;
    }
    if (line->has_result) {
        if (line->result == 0)
            return MUNGE_FAILED;
        block = find(process, line->result);
        if (block == NULL && (block = settle(process, line->result)) == NULL)
            return MUNGE_NO_MEMORY;
        line->result = block->slot;
    }
    put(munge, line);
    return MUNGE_GOOD;
}

enum munge_verdict
munge_line(struct munge *munge, const char *text, size_t length)
{
    struct logalloc_line line;
    enum logalloc_verdict verdict = logalloc_parse(text, length, LOGALLOC_RAW, &line);
    struct process *process;

    if (verdict == LOGALLOC_MALFORMED)
        return MUNGE_MALFORMED;
    /* A line that is refused from here on has been counted. */
    process = find_process(munge, line.pid);
    if (process == NULL)
        return MUNGE_NO_MEMORY;
    line.pid = process->number;
    line.tid = find_thread(process, line.tid);
    if (line.tid == 0)
        return MUNGE_NO_MEMORY;
    if (verdict == LOGALLOC_UNKNOWN)
        return MUNGE_UNKNOWN;
    if (verdict == LOGALLOC_MISFIT)
        return MUNGE_MALFORMED;
    return munge->options.original ? munge_original(munge, process, &line)
                                   : munge_mended(munge, process, &line);
}

/* ---- the whole ---- */

struct munge *
munge_new(const struct munge_options *options)
{
    struct munge *munge = calloc(1, sizeof *munge);

    if (munge != NULL)
        munge->options = *options;
    return munge;
}

static void
free_process(struct process *process)
{
    struct block *block, *next_block;
    struct thread *thread, *next_thread;

    HASH_ITER(hh, process->live, block, next_block) {
        HASH_DELETE(hh, process->live, block);
        free(block->overdue);
        free(block);
    }
    while ((block = STAILQ_FIRST(&process->left)) != NULL) {
        STAILQ_REMOVE_HEAD(&process->left, next);
        free(block);
    }
    HASH_ITER(hh, process->threads, thread, next_thread) {
        HASH_DELETE(hh, process->threads, thread);
        free(thread);
    }
    free(process->null);
    free(process);
}

void
munge_free(struct munge *munge)
{
    struct process *process, *next;

    if (munge == NULL)
        return;
    HASH_ITER(hh, munge->processes, process, next) {
        HASH_DELETE(hh, munge->processes, process);
        free_process(process);
    }
    free(munge);
}
