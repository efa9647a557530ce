/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A block stands for its slot.  A live one is in its process's table by address; a free
 * one waits in the queue of free slots (left), and is reused from there.
 *
 *     left:     first left -> ... -> last left             (take, leave)
 *     live:     address -> block -> older block -> ...     (find, push, pull)
 *     overdue:  all those older blocks, in the order they became it
 *
 * If an address is handed out while it is live, a call that freed the older block is
 * missing: an allocator never does that.  Often the call is a realloc() whose thread was
 * slower to record it than another thread was to get the address, use it and even free it
 * again.  So the older block stays where it is, under the newer one, until that realloc()
 * comes, or until PATIENCE lines have shown that none will.  So no line has to be held
 * back.
 */
#include "config.h"

#include "replay/munge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* Keys are single numbers: MurmurHash3's finaliser.  With one multiplication less the
   evenly spaced addresses that allocators hand out form long chains. */
#define HASH_FUNCTION(key, length, hash)                                                 \
    do {                                                                                 \
        uint64_t mixed;                                                                  \
        memcpy(&mixed, key, sizeof mixed);                                               \
        (void)(length);                                                                  \
        mixed = (mixed ^ mixed >> 33) * UINT64_C(0xff51afd7ed558ccd);                    \
        mixed = (mixed ^ mixed >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);                    \
        (hash) = (unsigned)(mixed >> 32);                                                \
    } while (0)
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A tenth of a second at a million lines a second: no thread waits longer than that to be
   scheduled. */
#define PATIENCE 100000u

/* Late threads cannot explain more older blocks than this at one address. */
#define OLDER_MAX 4

struct munge_block {
    uint64_t address, slot;
    uint64_t tid;         /* the thread that got it */
    uint64_t overdue;     /* the line at which it became overdue; 0: it is not */
    struct munge_block *older;      /* with the same address */
    TAILQ_ENTRY(munge_block) queue; /* left or overdue */
    UT_hash_handle hh;
};

TAILQ_HEAD(munge_blocks, munge_block);

struct munge_thread {
    uint64_t tid, number;
    UT_hash_handle hh;
};

struct munge_process {
    uint64_t pid, number;
    struct munge_thread *threads;
    struct munge_block *live;
    struct munge_blocks left, overdue;
    uint64_t slots;
    uint64_t lines;
    uint64_t unseen;    /* refused because no allocation was seen */
    struct munge_block *null; /* by the original's rules NULL keeps a slot forever */
    UT_hash_handle hh;
};

struct munge {
    struct munge_options options;
    struct munge_process *processes;
};

/* True after an addition if uthash could not get memory for its table. */
#define NOT_ADDED(element) ((element)->hh.tbl == NULL)

/* ---- processes and threads ---- */

static struct munge_process *
find_process(struct munge *munge, uint64_t pid)
{
    struct munge_process *process;

    HASH_FIND(hh, munge->processes, &pid, sizeof pid, process);
    if (process != NULL || (process = calloc(1, sizeof *process)) == NULL)
        return process;
    process->pid = pid;
    process->number = HASH_COUNT(munge->processes) + 1;
    TAILQ_INIT(&process->left);
    TAILQ_INIT(&process->overdue);
    HASH_ADD(hh, munge->processes, pid, sizeof pid, process);
    if (!NOT_ADDED(process))
        return process;
    free(process);
    return NULL;
}

/* Returns the thread's number, or 0 if memory is short. */
static uint64_t
find_thread(struct munge_process *process, uint64_t tid)
{
    struct munge_thread *thread;

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

static struct munge_block *
find(struct munge_process *process, uint64_t address)
{
    struct munge_block *block;

    HASH_FIND(hh, process->live, &address, sizeof address, block);
    return block;
}

/* Returns the slot that has been free longest, or a new one.  NULL if memory is short. */
static struct munge_block *
take(struct munge_process *process)
{
    struct munge_block *block = TAILQ_FIRST(&process->left);

    if (block != NULL) {
        TAILQ_REMOVE(&process->left, block, queue);
        return block;
    }
    block = malloc(sizeof *block);
    if (block != NULL)
        block->slot = ++process->slots;
    return block;
}

static void
leave(struct munge_process *process, struct munge_block *block)
{
    TAILQ_INSERT_TAIL(&process->left, block, queue);
}

/* Takes a slot for an address, above an older block that has it.  Returns NULL if memory
   is short. */
static struct munge_block *
push(struct munge_process *process, uint64_t address, uint64_t tid)
{
    struct munge_block *block = take(process), *older = find(process, address);

    if (block == NULL)
        return NULL;
    *block = (struct munge_block){
        .address = address, .slot = block->slot, .tid = tid, .older = older};
    if (older != NULL) {
        HASH_DELETE(hh, process->live, older);
        if (older->overdue == 0) {
            older->overdue = process->lines;
            TAILQ_INSERT_TAIL(&process->overdue, older, queue);
        }
    }
    HASH_ADD(hh, process->live, address, sizeof address, block);
    if (!NOT_ADDED(block))
        return block;
    leave(process, block);
    return NULL;
}

/* Removes a block from its address and frees its slot.  The block under it has the
   address again. */
static bool
pull(struct munge_process *process, struct munge_block *block)
{
    struct munge_block *top = find(process, block->address), *below = block->older;
    bool good = true;

    if (top == block) {
        HASH_DELETE(hh, process->live, block);
        if (below != NULL) {
            HASH_ADD(hh, process->live, address, sizeof below->address, below);
            good = !NOT_ADDED(below);
        }
    } else {
        while (top->older != block)
            top = top->older;
        top->older = below;
    }
    if (block->overdue != 0)
        TAILQ_REMOVE(&process->overdue, block, queue);
    leave(process, block);
    return good;
}

/* ---- handling a line ---- */

static void
put(const struct munge *munge, const struct logalloc_line *line)
{
    munge->options.put(munge->options.context, line);
}

/* Of the blocks with this address, the one that the call is about.  NULL if there is
   none. */
static struct munge_block *
find_given(struct munge_process *process, const struct logalloc_line *line)
{
    struct munge_block *block = find(process, line->block), *oldest = block;

    /* free() is recorded before it is done, so it is never late. */
    if (block == NULL || line->call != LOGALLOC_REALLOC)
        return block;
    for (; block != NULL; block = block->older) {
        if (block->tid == line->tid)
            return block;
        oldest = block;
    }
    return oldest;
}

/* Adds the missing call that frees the block. */
static bool
give_up(struct munge *munge, struct munge_process *process, struct munge_block *block)
{
    const struct logalloc_line freed = {
        .pid = process->number, .tid = block->tid, .call = LOGALLOC_FREE,
        .block = block->slot,
    };

    put(munge, &freed);
    return pull(process, block);
}

/* Frees blocks that have been overdue for too long. */
static bool
lose_patience(struct munge *munge, struct munge_process *process)
{
    struct munge_block *block;

    while ((block = TAILQ_FIRST(&process->overdue)) != NULL &&
           process->lines - block->overdue >= PATIENCE)
        if (!give_up(munge, process, block))
            return false;
    return true;
}

/* Replaces a recorded result by a slot.  Returns false if memory is short. */
static bool
hand_out(struct munge *munge, struct munge_process *process, struct logalloc_line *line)
{
    struct munge_block *block = find(process, line->result), *oldest = block;
    unsigned count = 0;

    for (; block != NULL; block = block->older, count++)
        oldest = block;
    if (count == OLDER_MAX && !give_up(munge, process, oldest))
        return false;
    block = push(process, line->result, line->tid);
    if (block == NULL)
        return false;
    line->result = block->slot;
    return true;
}

static enum munge_verdict
munge_mended(struct munge *munge, struct munge_process *process,
             struct logalloc_line *line)
{
    bool given = logalloc_takes_block(line->call) && line->block != 0;
    struct munge_block *block = given ? find_given(process, line) : NULL;

    if (logalloc_returns_block(line->call) && !line->has_result)
        return MUNGE_NO_RESULT;
    if (given && block == NULL) {
        process->unseen++;
        return MUNGE_UNSEEN;
    }
    if (given && line->has_result && line->result == 0 && line->size == 0) {
        line->call = LOGALLOC_FREE;
        line->has_result = false;
    }
    if (line->has_result && line->result == 0)
        return MUNGE_FAILED;
    if (block != NULL) {
        line->block = block->slot;
        if (!pull(process, block))
            return MUNGE_NO_MEMORY;
    }
    if (line->has_result && !hand_out(munge, process, line))
        return MUNGE_NO_MEMORY;
    put(munge, line);
    return MUNGE_GOOD;
}

/* The slot that the original gives NULL, which never becomes free again. */
static struct munge_block *
slot_of_null(struct munge_process *process)
{
    if (process->null == NULL)
        process->null = take(process);
    return process->null;
}

static enum munge_verdict
munge_original(struct munge *munge, struct munge_process *process,
               struct logalloc_line *line)
{
    struct munge_block *block;

    if (logalloc_takes_block(line->call)) {
        block = line->block == 0 ? slot_of_null(process) : find(process, line->block);
        if (block == NULL)
            return line->block == 0 ? MUNGE_NO_MEMORY : MUNGE_UNSEEN;
        if (line->block != 0)
            pull(process, block);
        line->block = block->slot;
    }
    if (line->has_result) {
        if (line->result == 0)
            return MUNGE_FAILED;
        block = find(process, line->result);
        if (block == NULL && (block = push(process, line->result, line->tid)) == NULL)
            return MUNGE_NO_MEMORY;
        line->result = block->slot;
    }
    put(munge, line);
    return MUNGE_GOOD;
}

/* verdict is that of parsing the line. */
static enum munge_verdict
munge_read(struct munge *munge, struct logalloc_line line, enum logalloc_verdict verdict)
{
    struct munge_process *process = find_process(munge, line.pid);

    /* Even a line that is refused below counts as a line of the process. */
    if (process == NULL)
        return MUNGE_NO_MEMORY;
    line.pid = process->number;
    line.tid = find_thread(process, line.tid);
    if (line.tid == 0)
        return MUNGE_NO_MEMORY;
    process->lines++;
    if (!lose_patience(munge, process))
        return MUNGE_NO_MEMORY;
    if (verdict == LOGALLOC_UNKNOWN)
        return MUNGE_UNKNOWN;
    if (verdict == LOGALLOC_MISFIT)
        return MUNGE_MALFORMED;
    return munge->options.original ? munge_original(munge, process, &line)
                                   : munge_mended(munge, process, &line);
}

enum munge_verdict
munge_line(struct munge *munge, const char *text, size_t length)
{
    struct logalloc_line line;
    enum logalloc_verdict verdict = logalloc_parse(text, length, LOGALLOC_RAW, &line);

    return verdict == LOGALLOC_MALFORMED ? MUNGE_MALFORMED
                                         : munge_read(munge, line, verdict);
}

enum munge_verdict
munge_call(struct munge *munge, const struct logalloc_line *line)
{
    return munge_read(munge, *line, LOGALLOC_GOOD);
}

void
munge_tell_unseen(const struct munge *munge, void (*tell)(uint64_t pid, uint64_t lines))
{
    for (const struct munge_process *process = munge->processes; process != NULL;
         process = process->hh.next)
        if (process->unseen > 0 && process != munge->processes)
            tell(process->pid, process->unseen);
}

/* ---- interface ---- */

struct munge *
munge_new(const struct munge_options *options)
{
    struct munge *munge = calloc(1, sizeof *munge);

    if (munge != NULL)
        munge->options = *options;
    return munge;
}

static void
free_process(struct munge_process *process)
{
    struct munge_block *block, *next_block, *older;
    struct munge_thread *thread, *next_thread;

    HASH_ITER(hh, process->live, block, next_block) {
        HASH_DELETE(hh, process->live, block);
        for (; block != NULL; block = older) {
            older = block->older;
            free(block);
        }
    }
    while ((block = TAILQ_FIRST(&process->left)) != NULL) {
        TAILQ_REMOVE(&process->left, block, queue);
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
    struct munge_process *process, *next;

    if (munge == NULL)
        return;
    HASH_ITER(hh, munge->processes, process, next) {
        HASH_DELETE(hh, munge->processes, process);
        free_process(process);
    }
    free(munge);
}
