/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The only reader of segments.
 *
 * The mapping is read-only and belongs to a process that is not trusted: it may overwrite
 * anything at any time.  So every index is bounded by constants of this version, never by
 * what the segment says, and every value is copied before it is checked.
 */
#include "config.h"

#include "segment/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/figures.h"
#include "segment/live.h"
#include "segment/reader-private.h"
#include "segment/seqlock.h"

/* An update takes a few ns, so a thread found inside one has nearly always left it after
   some tries.  A thread that lost the CPU there stays for milliseconds; waiting for it
   would be waiting for the scheduler. */
#define SEQLOCK_TRIES 512

/* ---- opening ---- */

int
reader_open(const char *path, uid_t owner_real, uid_t owner_effective,
            struct reader **out)
{
    struct reader *reader = calloc(1, sizeof *reader);
    int error;

    if (reader == NULL)
        return -ENOMEM;
    error = mapping_open(path, owner_real, owner_effective, false, &reader->mapping);
    if (error < 0) {
        free(reader);
        return error;
    }
    *out = reader;
    return 0;
}

void
reader_close(struct reader *reader)
{
    if (reader == NULL)
        return;
    mapping_close(&reader->mapping);
    free(reader);
}

/* ---- identity ---- */

/* Copies a string field that may lack its NUL. */
static void
copy_text(char *to, const char *from, size_t size)
{
    memcpy(to, from, size - 1);
    to[size - 1] = '\0';
}

static void
visit_identity(void *context, void *out)
{
    struct reader *reader = context;
    const struct segment_header *header = mapping_header(&reader->mapping);
    struct identity *identity = out;
    uint32_t args_size = mapping_load32(&header->args_size);

    identity->state = mapping_load32(&header->state);
    identity->origin = header->origin;
    identity->accounting = header->accounting;
    identity->reason = header->reason;
    identity->flags = header->flags;
    identity->sites_state =
        header->sites_state <= SITES_CUT_OFF ? (enum sites_state)header->sites_state
                                             : SITES_OFF;
    identity->pid = (pid_t)header->pid;
    identity->parent = (pid_t)header->parent;
    identity->keeper = (pid_t)header->keeper;
    identity->pid_namespace = header->pid_namespace;
    identity->generation = header->generation;
    identity->created_ns = header->created_ns;
    identity->created_boottime_ns = header->created_boottime_ns;
    copy_text(identity->allocator, header->allocator, sizeof header->allocator);
    copy_text(identity->program, header->program, sizeof header->program);
    copy_text(identity->options, header->options, sizeof header->options);
    identity->args_size = args_size < SEGMENT_ARGS_LEN ? args_size : SEGMENT_ARGS_LEN;
    identity->args_cut = header->args_cut != 0;
    memcpy(identity->args, header->args, SEGMENT_ARGS_LEN);
    identity->args[identity->args_size > 0 ? identity->args_size - 1 : 0] = '\0';
}

/* Checks the values that callers act upon, by switch or by kill. */
static bool
identity_makes_sense(const struct identity *identity)
{
    return identity->state <= SEGMENT_EXITED && identity->origin <= ORIGIN_RAW_CLONE
           && identity->accounting <= ACCOUNTING_USABLE && identity->pid > 0
           && identity->parent >= 0 && identity->keeper >= 0;
}

int
reader_identity(struct reader *reader, struct identity *identity)
{
    int error;

    memset(identity, 0, sizeof *identity);
    error = mapping_visit(visit_identity, reader, identity);
    return error == 0 && !identity_makes_sense(identity) ? -EPROTO : error;
}

static void
visit_state(void *context, void *out)
{
    struct reader *reader = context;
    *(enum segment_state *)out = mapping_load32(&mapping_header(&reader->mapping)->state);
}

int
reader_state(struct reader *reader, enum segment_state *state)
{
    int error = mapping_visit(visit_state, reader, state);

    return error == 0 && *state > SEGMENT_EXITED ? -EPROTO : error;
}

static void
visit_life(void *context, void *out)
{
    struct reader *reader = context;
    const struct segment_process *process = mapping_process(&reader->mapping);
    uint64_t until_ns = word_load(&process->exited_ns);

    if (until_ns == 0)
        until_ns = word_load(&process->recorder_end);
    if (until_ns == UINT64_MAX) /* it is asleep */
        until_ns = 0;
    *(uint64_t *)out = subtract_floor(
        until_ns, word_load(&mapping_header(&reader->mapping)->created_ns));
}

int
reader_life(struct reader *reader, uint64_t *life_ns)
{
    *life_ns = 0;
    return mapping_visit(visit_life, reader, life_ns);
}

static void
visit_executed(void *context, void *out)
{
    struct reader *reader = context;
    const struct segment_exec *exec = &mapping_process(&reader->mapping)->exec;
    struct executed *executed = out;

    executed->replaced = mapping_load32(&exec->executing) != 0;
    executed->preload_removed =
        (mapping_load32(&exec->flags) & EXEC_PRELOAD_REMOVED) != 0;
    copy_text(executed->path, exec->path, sizeof exec->path);
    executed->spawned =
        subtract_floor(word_load(&exec->spawned), word_load(&exec->spawn_failed));
    for (unsigned i = 0; i < EXEC_RECENT; i++) {
        pid_t pid = (pid_t)mapping_load32(&exec->recent[i].pid);

        executed->recent[i].pid = pid > 0 ? pid : 0;
        copy_text(executed->recent[i].name, exec->recent[i].name, EXEC_NAME_LEN);
    }
}

int
reader_executed(struct reader *reader, struct executed *executed)
{
    memset(executed, 0, sizeof *executed);
    return mapping_visit(visit_executed, reader, executed);
}

static void
visit_log_error(void *context, void *out)
{
    struct reader *reader = context;

    *(int *)out = (int)mapping_load32(&mapping_process(&reader->mapping)->log_error);
}

int
reader_log_error(struct reader *reader, int *error)
{
    *error = 0;
    return mapping_visit(visit_log_error, reader, error);
}

/* ---- counters ---- */

static void
accumulate(uint64_t *sum, uint64_t value)
{
    *sum = add_saturating(*sum, value);
}

/* What was freed, of one shard.  It is read for all shards before what was made
   (sum_allocated), so that a block made by one thread and freed by another never appears
   freed but not made. */
struct gone {
    uint64_t bytes;
    uint64_t blocks;
};

static void
sum_freed(const struct shard_hot *hot, struct snapshot *snapshot, struct gone *gone)
{
    accumulate(&snapshot->calls[FN_FREE], hot->calls[FN_FREE]);
    accumulate(&snapshot->bytes[FN_FREE], hot->bytes[FN_FREE]);
    accumulate(&snapshot->free_null, hot->free_null);
    accumulate(&snapshot->realloc_freed, hot->realloc_freed);
    accumulate(&snapshot->realloc_dec, hot->realloc_dec);
    accumulate(&gone->bytes, hot_bytes_gone(hot));
    accumulate(&gone->blocks, hot_blocks_gone(hot));
}

/* Called before what was made is read, as for everything freed. */
static void
sum_custom_freed(const struct shard *shard, struct snapshot *snapshot)
{
    accumulate(&snapshot->custom_freed, word_load(&shard->custom_freed));
    accumulate(&snapshot->custom_freed_bytes, word_load(&shard->custom_freed_bytes));
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static void
sum_allocated(const struct shard_hot *hot, struct snapshot *snapshot, uint64_t *blocks)
{
    for (unsigned fn = 0; fn < FN_COUNT; fn++) {
        if (fn == FN_FREE)
            continue;
        accumulate(&snapshot->calls[fn], hot->calls[fn]);
        accumulate(&snapshot->bytes[fn], hot->bytes[fn]);
    }
    accumulate(&snapshot->total_bytes, hot_bytes_made(hot));
    accumulate(blocks, hot_blocks_made(hot));
    accumulate(&snapshot->realloc_inplace, hot->realloc_inplace);
    accumulate(&snapshot->unmatched, hot->unmatched);
    snapshot->usable_bytes += hot_usable(hot); /* modulo 2^64 on purpose */
    raise_to(&snapshot->stack_peak, hot->stack_peak);
}

/* How high the thread has been since the process's sum was changed, which was current. */
static void
raise_peak(const struct shard_hot *hot, int64_t current, struct snapshot *snapshot)
{
    int64_t high;

    if (!__builtin_add_overflow(current, hot_high(hot), &high) && high > 0)
        raise_to(&snapshot->peak_bytes, (uint64_t)high);
}

static void
sum_cold(const struct shard *shard, struct snapshot *snapshot)
{
    for (unsigned i = 0; i < FN_COUNT; i++) {
        accumulate(&snapshot->failed[i], word_load(&shard->failed[i]));
        accumulate(&snapshot->failed_bytes[i], word_load(&shard->failed_bytes[i]));
    }
    for (unsigned i = 0; i < MAPPING_COUNT; i++) {
        accumulate(&snapshot->mapping_calls[i], word_load(&shard->mapping_calls[i]));
        accumulate(&snapshot->mapping_bytes[i], word_load(&shard->mapping_bytes[i]));
        accumulate(&snapshot->mapping_failed[i], word_load(&shard->mapping_failed[i]));
    }
    accumulate(&snapshot->mremap_inplace, word_load(&shard->mremap_inplace));
    accumulate(&snapshot->mremap_dec, word_load(&shard->mremap_dec));
    accumulate(&snapshot->custom_made, word_load(&shard->custom_made));
    accumulate(&snapshot->custom_made_bytes, word_load(&shard->custom_made_bytes));
}

/* Copies a hot block, which may be inside an update even after all tries. */
static bool
copy_hot(struct reader *reader, unsigned index, struct shard_hot *hot)
{
    const struct shard *shard = mapping_shard(&reader->mapping, index);

    return hot_read(&shard->hot, hot, SEQLOCK_TRIES);
}

/* A thread killed inside an update leaves its sequence odd for good: a shard is torn if
   its sequence is odd and the same at two polls. */
static void
note_torn(struct reader *reader, unsigned index, uint64_t sequence,
          struct snapshot *snapshot)
{
    if ((sequence & 1) && reader->odd_sequence[index] == sequence)
        snapshot->torn++;
    reader->odd_sequence[index] = sequence & 1 ? sequence : 0;
}

static void
read_process(const struct reader *reader, struct snapshot *snapshot)
{
    const struct segment_process *process = mapping_process(&reader->mapping);

    snapshot->threads = mapping_load32(&process->threads);
    snapshot->threads_started = word_load(&process->threads_started);
    snapshot->threads_merged = word_load(&process->threads_merged);
    snapshot->not_counted = word_load(&process->not_counted);
    snapshot->updates_left = word_load(&process->updates_left);
    raise_to(&snapshot->stack_peak, word_load(&process->stack_peak));
    raise_to(&snapshot->peak_bytes, word_load(&process->peak));
}

/* Carried and made minus freed, or 0 if the segment's numbers make no sense. */
static uint64_t
custom_live(uint64_t carried, uint64_t made, uint64_t freed)
{
    uint64_t live = carried + made - freed;

    return live > INT64_MAX ? 0 : live;
}

static void
read_custom(const struct reader *reader, struct snapshot *snapshot)
{
    const struct segment_process *process = mapping_process(&reader->mapping);

    snapshot->custom_unmatched = word_load(&process->custom_unmatched);
    snapshot->profile_lost = word_load(&process->profile_lost);
    snapshot->custom_live =
        custom_live(word_load(&process->custom_carried), snapshot->custom_made,
                    snapshot->custom_freed);
    snapshot->custom_live_bytes =
        custom_live(word_load(&process->custom_carried_bytes),
                    snapshot->custom_made_bytes, snapshot->custom_freed_bytes);
}

static void
finish_sums(const struct reader *reader, struct snapshot *snapshot,
            const struct gone *gone, uint64_t blocks)
{
    const struct segment_process *process = mapping_process(&reader->mapping);
    uint64_t bytes = add_saturating(word_load(&process->baseline_bytes),
                                    snapshot->total_bytes);

    snapshot->live_bytes =
        subtract_floor(bytes, add_saturating(gone->bytes,
                                             word_load(&process->forgotten_bytes)));
    accumulate(&blocks, word_load(&process->baseline_blocks));
    snapshot->live_blocks =
        subtract_floor(blocks, add_saturating(gone->blocks,
                                              word_load(&process->forgotten_blocks)));
    snapshot->usable_bytes += word_load(&process->baseline_usable)
                              - word_load(&process->forgotten_usable);
    if (snapshot->usable_bytes > INT64_MAX)
        snapshot->usable_bytes = 0;
    snapshot->mapped_bytes = word_load(&process->mapped);
    if (snapshot->mapped_bytes > snapshot->usable_bytes)
        snapshot->mapped_bytes =
            snapshot->mapped_bytes > INT64_MAX ? 0 : snapshot->usable_bytes;
    raise_to(&snapshot->peak_bytes, snapshot->live_bytes);
}

/* Stack depth at a thread's last call; 0 if that was on another stack. */
static uint64_t
depth_now(const struct shard *shard, const struct shard_hot *hot)
{
    uint64_t depth = word_load(&shard->stack_base) - hot->stack_pointer;

    return depth <= word_load(&shard->stack_limit) ? depth : 0;
}

/* Adds all of a shard except what was freed; hot is its copy. */
static void
sum_made(struct reader *reader, unsigned index, const struct shard_hot *hot,
         struct snapshot *snapshot, uint64_t *blocks)
{
    const struct shard *shard = mapping_shard(&reader->mapping, index);

    sum_allocated(hot, snapshot, blocks);
    sum_cold(shard, snapshot);
    note_torn(reader, index, hot->sequence, snapshot);
    if (mapping_shard_state(&reader->mapping, index) == SHARD_OWNED)
        raise_to(&snapshot->stack_now, depth_now(shard, hot));
}

static void
read_sleep(const struct reader *reader, struct snapshot *snapshot)
{
    const struct segment_process *process = mapping_process(&reader->mapping);
    const struct segment_header *header = mapping_header(&reader->mapping);
    uint64_t since = word_load(&process->awake_since_ns);

    if ((header->flags & SEGMENT_FLAG_DORMANT) == 0)
        return;
    snapshot->wakes = mapping_load32(&process->wakes);
    snapshot->asleep = snapshot->wakes == 0 || word_load(&process->asleep_since_ns) != 0;
    snapshot->awake_since_ns = subtract_floor(since, word_load(&header->created_ns));
}

static void
sum_up(struct reader *reader, struct snapshot *snapshot)
{
    /* Read first: a shard that is folded meanwhile must not count twice. */
    int64_t current = __atomic_load_n(&mapping_process(&reader->mapping)->current,
                                      __ATOMIC_ACQUIRE);
    struct gone gone = {0, 0};
    struct shard_hot hot;
    unsigned used = mapping_shards_used(&reader->mapping);
    bool single = used == 2; /* one thread: one copy of its shard serves both passes */
    uint64_t blocks = 0;

    for (unsigned i = 0; i < used; i++)
        if (mapping_shard_counts(&reader->mapping, i) && !(single && i == 1)) {
            copy_hot(reader, i, &hot);
            sum_freed(&hot, snapshot, &gone);
            sum_custom_freed(mapping_shard(&reader->mapping, i), snapshot);
        }
    if (single && mapping_shard_counts(&reader->mapping, 1)) {
        snapshot->inconsistent += !copy_hot(reader, 1, &hot);
        sum_freed(&hot, snapshot, &gone);
        sum_custom_freed(mapping_shard(&reader->mapping, 1), snapshot);
        sum_made(reader, 1, &hot, snapshot, &blocks);
        raise_peak(&hot, current, snapshot);
    }
    /* The number is read again: what a new thread made may be among what was freed. */
    used = mapping_shards_used(&reader->mapping);
    for (unsigned i = 0; i < used; i++)
        if (mapping_shard_counts(&reader->mapping, i) && !(single && i == 1)) {
            snapshot->inconsistent += !copy_hot(reader, i, &hot);
            sum_made(reader, i, &hot, snapshot, &blocks);
            raise_peak(&hot, current, snapshot);
        }
    read_process(reader, snapshot);
    read_custom(reader, snapshot);
    read_sleep(reader, snapshot);
    finish_sums(reader, snapshot, &gone, blocks);
}

/* Reads again if the process has just woken up, because that changes what is live. */
static void
visit_snapshot(void *context, void *out)
{
    struct reader *reader = context;
    const uint32_t *sequence = &mapping_process(&reader->mapping)->wake_sequence;

    for (int tries = 0; tries < 3; tries++) {
        uint32_t before = mapping_load32(sequence);

        memset(out, 0, sizeof(struct snapshot));
        sum_up(reader, out);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(before & 1) && mapping_load32(sequence) == before)
            return;
    }
}

int
reader_snapshot(struct reader *reader, struct snapshot *snapshot)
{
    memset(snapshot, 0, sizeof *snapshot); /* in case the file is cut short */
    return mapping_visit(visit_snapshot, reader, snapshot);
}

/* ---- threads ---- */

struct thread_list {
    struct thread_counters *out;
    size_t capacity, count;
};

static void
count_thread(const struct shard *shard, const struct shard_hot *hot,
             struct thread_counters *thread)
{
    *thread = (struct thread_counters){
        .tid = (pid_t)mapping_load32(&shard->thread),
        .owners = mapping_load32(&shard->owners),
        .allocated = hot_bytes_made(hot),
        .freed = hot_bytes_gone(hot),
        .stack_now = depth_now(shard, hot),
        .stack_peak = hot->stack_peak,
        .stack_limit = word_load(&shard->stack_limit),
        .stack_base = word_load(&shard->stack_base),
    };
    for (unsigned i = 0; i < FN_COUNT; i++)
        accumulate(&thread->calls, hot->calls[i]);
}

static void
visit_threads(void *context, void *out)
{
    struct reader *reader = context;
    struct thread_list *list = out;
    unsigned used = mapping_shards_used(&reader->mapping);
    struct shard_hot hot;

    list->count = 0;
    /* No thread owns shard 0. */
    for (unsigned i = 1; i < used; i++) {
        if (mapping_shard_state(&reader->mapping, i) != SHARD_OWNED)
            continue;
        if (list->count < list->capacity) {
            copy_hot(reader, i, &hot);
            count_thread(mapping_shard(&reader->mapping, i), &hot,
                         &list->out[list->count]);
            list->out[list->count].place = i;
        }
        list->count++;
    }
}

int
reader_threads(struct reader *reader, struct thread_counters *out, size_t capacity,
               size_t *count)
{
    struct thread_list list = {out, capacity, 0};
    int error = mapping_visit(visit_threads, reader, &list);

    *count = error == 0 ? list.count : 0;
    return error;
}

/* ---- sizes ---- */

/*
 * A shard has 66 KiB of cells, few of which are ever used, and reading them all is most
 * of what many threads would cost memtop.  Once a group of cells has counted something it
 * is known; the others are skipped as long as the known ones hold all calls that the
 * shard has counted (doc/PROTOCOL, Sizes).  Calls counted while the groups are read may
 * hide equally many in an unknown group, until the next poll.
 */
static const struct shard_cell *
group_cells(const struct shard *shard, unsigned group)
{
    return group < FINE_GROUPS ? &shard->cells[group * CELL_GROUP]
                               : &shard->coarse[(group - FINE_GROUPS) * CELL_GROUP];
}

/* Is the group in memory?  Reading another one would allocate its page. */
static bool
group_present(uint32_t pages, unsigned group)
{
    return group < CELLS_A_PAGE / CELL_GROUP || group >= FINE_GROUPS
           || (pages >> group / (CELLS_A_PAGE / CELL_GROUP) & 1);
}

/* The cell of the histogram to which a cell of a shard belongs. */
static unsigned
cell_in_histogram(unsigned group, unsigned cell)
{
    if (group < FINE_GROUPS)
        return group * CELL_GROUP + cell;
    return histogram_cell(
        histogram_coarse_floor((group - FINE_GROUPS) * CELL_GROUP + cell));
}

/* Sum of a group's cells, mod 2^64. */
static struct shard_cell
group_sum(const struct shard *shard, unsigned group)
{
    const struct shard_cell *cells = group_cells(shard, group);
    struct shard_cell sum = {0, 0};

    for (unsigned c = 0; c < CELL_GROUP; c++) {
        sum.gone += word_load(&cells[c].gone);
        sum.came += word_load(&cells[c].came);
    }
    return sum;
}

/* Number of calls that the cells must hold, mod 2^64 like everything compared with it. */
static struct shard_cell
calls_in_cells(struct reader *reader, unsigned index)
{
    const struct shard *shard = mapping_shard(&reader->mapping, index);
    struct shard_cell sum = {0, 0};
    struct shard_hot hot;

    copy_hot(reader, index, &hot);
    for (unsigned fn = 0; fn < FN_COUNT; fn++) {
        if (fn != FN_FREE)
            sum.came += hot.calls[fn];
        if (fn != FN_FREE && fn != FN_REALLOC)
            sum.gone += word_load(&shard->failed[fn]);
    }
    sum.came -= hot.realloc_freed;
    sum.gone += hot.calls[FN_FREE] - hot.free_null;
    sum.gone += hot.calls[FN_REALLOC] - hot.realloc_fresh;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return sum;
}

/* Iterates over the known groups of a shard: *words holds what is left of its
   used_groups.  Returns false after the last. */
static bool
next_group(uint64_t words[GROUP_WORDS], unsigned *word, unsigned *group)
{
    while (*word < GROUP_WORDS && words[*word] == 0)
        ++*word;
    if (*word == GROUP_WORDS)
        return false;
    *group = *word * 64 + (unsigned)__builtin_ctzll(words[*word]);
    words[*word] &= words[*word] - 1;
    return true;
}

static void
learn_groups(struct reader *reader, unsigned index)
{
    const struct shard *shard = mapping_shard(&reader->mapping, index);
    uint64_t *known = reader->used_groups[index], left[GROUP_WORDS];
    struct shard_cell calls = calls_in_cells(reader, index), sum;
    uint32_t pages = mapping_load32(&shard->cell_pages);
    unsigned word = 0, group;

    memcpy(left, known, sizeof left);
    while (next_group(left, &word, &group)) {
        sum = group_sum(shard, group);
        calls.came -= sum.came;
        calls.gone -= sum.gone;
    }
    if ((int64_t)calls.came <= 0 && (int64_t)calls.gone <= 0)
        return;
    for (group = 0; group < CELL_GROUPS; group++) {
        if (!group_present(pages, group))
            continue;
        sum = group_sum(shard, group);
        if ((sum.came | sum.gone) != 0)
            known[group / 64] |= UINT64_C(1) << group % 64;
    }
}

/* Adds the known cells of a shard to sums, by cell: what came, or what is gone. */
static void
add_cells(struct reader *reader, unsigned index, bool gone,
          uint64_t sums[HISTOGRAM_CELLS])
{
    const struct shard *shard = mapping_shard(&reader->mapping, index);
    uint64_t left[GROUP_WORDS];
    unsigned word = 0, group;

    memcpy(left, reader->used_groups[index], sizeof left);
    while (next_group(left, &word, &group))
        for (unsigned c = 0; c < CELL_GROUP; c++) {
            const struct shard_cell *cell = &group_cells(shard, group)[c];

            accumulate(&sums[cell_in_histogram(group, c)],
                       word_load(gone ? &cell->gone : &cell->came));
        }
}

/* Like sum_up(): what is gone is read first, of all shards. */
static void
visit_histogram(void *context, void *out)
{
    struct reader *reader = context;
    const struct segment_process *process = mapping_process(&reader->mapping);
    struct histogram *histogram = out;
    static uint64_t gone[HISTOGRAM_CELLS];
    uint64_t freed[HISTOGRAM_COARSE] = {0};
    unsigned used = mapping_shards_used(&reader->mapping);

    memset(gone, 0, sizeof gone);
    for (unsigned i = 0; i < used; i++)
        if (mapping_shard_counts(&reader->mapping, i)) {
            learn_groups(reader, i);
            add_cells(reader, i, true, gone);
        }
    used = mapping_shards_used(&reader->mapping);
    for (unsigned i = 0; i < used; i++)
        if (mapping_shard_counts(&reader->mapping, i)) {
            learn_groups(reader, i);
            add_cells(reader, i, false, histogram->allocated);
        }
    for (unsigned c = 0; c < HISTOGRAM_CELLS; c++) {
        accumulate(&histogram->live[histogram_cell_coarse(c)], histogram->allocated[c]);
        accumulate(&freed[histogram_cell_coarse(c)], gone[c]);
    }
    for (unsigned b = 0; b < HISTOGRAM_COARSE; b++) {
        accumulate(&histogram->live[b], word_load(&process->baseline_sizes[b]));
        accumulate(&freed[b], word_load(&process->forgotten_sizes[b]));
        histogram->live[b] = subtract_floor(histogram->live[b], freed[b]);
    }
}

int
reader_histogram(struct reader *reader, struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    return mapping_visit(visit_histogram, reader, histogram);
}
