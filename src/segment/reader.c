/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The only reader of segments.
 *
 * The mapping is read-only and belongs to a process we do not trust: it may
 * scribble on it or cut the file short at any moment.  So every index is
 * bounded by constants of this version, never by what the segment says, every
 * value is copied before it is judged, and each visit runs under a SIGBUS
 * handler of its own (visit()).
 */
#include "config.h"

#include "segment/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "i18n.h"
#include "segment/seqlock.h"

/* An update takes a few ns, so a thread found inside one is nearly always out
   again after some tries; one that lost the CPU there stays for milliseconds,
   and waiting for it would be waiting for the scheduler. */
#define SEQLOCK_TRIES 200

#define HOT_WORDS (sizeof(struct shard_hot) / sizeof(uint64_t))

struct reader {
    const unsigned char *base;
    uint64_t odd_sequence[SHARD_COUNT]; /* seen at the last poll, 0: it was even */
};

/* ---- surviving a file cut short ---- */

static sigjmp_buf visit_escape;

static void
on_sigbus(int signal_number)
{
    (void)signal_number;
    siglongjmp(visit_escape, 1);
}

/* Runs body(reader, out), which touches the mapping.  0, or -EMSGSIZE if the
   file ended before the mapping did. */
static int
visit(struct reader *reader, void (*body)(struct reader *, void *), void *out)
{
    struct sigaction action = {.sa_handler = on_sigbus, .sa_flags = SA_NODEFER};
    struct sigaction before;
    int result = 0;

    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
    if (sigsetjmp(visit_escape, 0) == 0)
        body(reader, out);
    else
        result = -EMSGSIZE;
    sigaction(SIGBUS, &before, NULL);
    return result;
}

/* ---- the parts of a segment ---- */

static const struct segment_header *
header_of(const struct reader *reader)
{
    return (const void *)reader->base;
}

static const struct segment_process *
process_of(const struct reader *reader)
{
    return (const void *)(reader->base + PROCESS_OFFSET);
}

static const struct shard *
shard_of(const struct reader *reader, unsigned index)
{
    return (const void *)(reader->base + SHARDS_OFFSET + (size_t)index * SHARD_SIZE);
}

static const struct recorder_slot *
level_of(const struct reader *reader, unsigned level)
{
    return (const void *)(reader->base + RECORDER_OFFSET
                          + (size_t)level * RECORDER_LEVEL_SIZE);
}

static uint32_t
load32(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Shards that may hold sums, SHARD_UNUSED ones excluded: those have no pages
   and reading them would make some. */
static bool
shard_counts(const struct reader *reader, unsigned index)
{
    const uint32_t *directory = (const void *)(reader->base + DIRECTORY_OFFSET);
    uint32_t state = load32(&directory[index]);

    return state == SHARD_FREE || state == SHARD_OWNED;
}

static bool
shard_owned(const struct reader *reader, unsigned index)
{
    const uint32_t *directory = (const void *)(reader->base + DIRECTORY_OFFSET);

    return load32(&directory[index]) == SHARD_OWNED;
}

static unsigned
shards_used(const struct reader *reader)
{
    uint32_t used = load32(&process_of(reader)->shards_used);

    return used < SHARD_COUNT ? used : SHARD_COUNT;
}

/* ---- opening ---- */

static int
check_header(const struct segment_header *header)
{
    if (header->magic != SEGMENT_MAGIC || header->byte_order != SEGMENT_BYTE_ORDER)
        return -EPROTO;
    if (header->version != SEGMENT_VERSION)
        return -EPROTONOSUPPORT;
    if (header->total_size != SEGMENT_SIZE || header->header_size != sizeof *header
        || header->control_offset != CONTROL_OFFSET
        || header->process_offset != PROCESS_OFFSET
        || header->directory_offset != DIRECTORY_OFFSET
        || header->recorder_offset != RECORDER_OFFSET
        || header->shards_offset != SHARDS_OFFSET || header->shard_size != SHARD_SIZE
        || header->shard_count != SHARD_COUNT
        || header->recorder_levels != RECORDER_LEVELS
        || header->recorder_slots != RECORDER_SLOTS
        || header->recorder_slot_ns != RECORDER_SLOT_NS)
        return -EPROTO;
    return 0;
}

static int
check_file(int fd, uid_t owner_real, uid_t owner_effective)
{
    struct segment_header header;
    struct stat st;
    ssize_t got;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EPROTO;
    if (st.st_uid != owner_real && st.st_uid != owner_effective)
        return -EPERM;
    got = pread(fd, &header, sizeof header, 0);
    if (got < 0)
        return -errno;
    if (got < (ssize_t)sizeof header)
        return -EMSGSIZE;
    int error = check_header(&header);
    if (error < 0)
        return error;
    return st.st_size == (off_t)SEGMENT_SIZE ? 0 : -EMSGSIZE;
}

static int
map_file(int fd, struct reader **out)
{
    struct reader *reader = calloc(1, sizeof *reader);
    void *base;

    if (reader == NULL)
        return -ENOMEM;
    base = mmap(NULL, SEGMENT_SIZE, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        int error = -errno;
        free(reader);
        return error;
    }
    reader->base = base;
    *out = reader;
    return 0;
}

int
reader_open(const char *path, uid_t owner_real, uid_t owner_effective,
            struct reader **out)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int error;

    if (fd < 0)
        return -errno;
    error = check_file(fd, owner_real, owner_effective);
    if (error == 0)
        error = map_file(fd, out);
    close(fd);
    return error;
}

void
reader_close(struct reader *reader)
{
    if (reader == NULL)
        return;
    munmap((void *)reader->base, SEGMENT_SIZE);
    free(reader);
}

/* ---- identity ---- */

/* Copies a string field that need not end where it should. */
static void
copy_text(char *to, const char *from, size_t size)
{
    memcpy(to, from, size - 1);
    to[size - 1] = '\0';
}

static void
visit_identity(struct reader *reader, void *out)
{
    const struct segment_header *header = header_of(reader);
    struct identity *identity = out;
    uint32_t args_size = load32(&header->args_size);

    identity->state = load32(&header->state);
    identity->origin = header->origin;
    identity->accounting = header->accounting;
    identity->reason = header->reason;
    identity->flags = header->flags;
    identity->pid = (pid_t)header->pid;
    identity->parent = (pid_t)header->parent;
    identity->keeper = (pid_t)header->keeper;
    identity->generation = header->generation;
    identity->created_ns = header->created_ns;
    identity->created_boottime_ns = header->created_boottime_ns;
    copy_text(identity->allocator, header->allocator, sizeof header->allocator);
    copy_text(identity->program, header->program, sizeof header->program);
    copy_text(identity->options, header->options, sizeof header->options);
    identity->args_size = args_size < SEGMENT_ARGS_LEN ? args_size : SEGMENT_ARGS_LEN;
    identity->args_cut = header->args_cut != 0;
    memcpy(identity->args, header->args, SEGMENT_ARGS_LEN);
    identity->args[identity->args_size] = '\0';
}

int
reader_identity(struct reader *reader, struct identity *identity)
{
    int error;

    memset(identity, 0, sizeof *identity);
    error = visit(reader, visit_identity, identity);
    if (error == 0 && identity->state > SEGMENT_EXITED)
        error = -EPROTO;
    return error;
}

static void
visit_state(struct reader *reader, void *out)
{
    *(enum segment_state *)out = load32(&header_of(reader)->state);
}

int
reader_state(struct reader *reader, enum segment_state *state)
{
    int error = visit(reader, visit_state, state);

    return error == 0 && *state > SEGMENT_EXITED ? -EPROTO : error;
}

/* ---- counters ---- */

static uint64_t
add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void
raise_to(uint64_t *sum, uint64_t value)
{
    if (*sum < value)
        *sum = value;
}

static uint64_t
subtract_floor(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void
accumulate(uint64_t *sum, uint64_t value)
{
    *sum = add_saturating(*sum, value);
}

/* Counters that only free, or give back, memory. */
static const enum segment_function freeing[] = {FN_FREE};
static const enum segment_function allocating[] = {
    FN_MALLOC,        FN_REALLOC,  FN_CALLOC, FN_POSIX_MEMALIGN,
    FN_ALIGNED_ALLOC, FN_MEMALIGN, FN_VALLOC, FN_PVALLOC,
};
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* What has gone, of one shard.  Read for all shards before what has come
   (sum_allocated), so that a block made by one thread and freed by another is
   never seen freed but not made. */
struct gone {
    uint64_t bytes;
    uint64_t blocks;
};

static void
sum_freed(const struct shard_hot *hot, struct snapshot *snapshot, struct gone *gone)
{
    for (size_t i = 0; i < LENGTH(freeing); i++) {
        accumulate(&snapshot->calls[freeing[i]], hot->calls[freeing[i]]);
        accumulate(&snapshot->bytes[freeing[i]], hot->bytes[freeing[i]]);
    }
    accumulate(&snapshot->free_null, hot->free_null);
    accumulate(&snapshot->realloc_freed, hot->realloc_freed);
    accumulate(&snapshot->realloc_dec, hot->realloc_dec);
    accumulate(&gone->bytes, hot->bytes[FN_FREE]);
    accumulate(&gone->bytes, hot->realloc_shrunk);
    accumulate(&gone->blocks, subtract_floor(hot->calls[FN_FREE], hot->free_null));
    accumulate(&gone->blocks, hot->realloc_freed);
}

static void
sum_allocated(const struct shard_hot *hot, struct snapshot *snapshot, uint64_t *blocks)
{
    uint64_t made = hot->realloc_fresh;

    for (size_t i = 0; i < LENGTH(allocating); i++) {
        enum segment_function fn = allocating[i];
        accumulate(&snapshot->calls[fn], hot->calls[fn]);
        accumulate(&snapshot->bytes[fn], hot->bytes[fn]);
        accumulate(&snapshot->total_bytes, hot->bytes[fn]);
        if (fn != FN_REALLOC)
            accumulate(&made, hot->calls[fn]);
    }
    accumulate(blocks, subtract_floor(made, hot->failed_new));
    accumulate(&snapshot->realloc_inplace, hot->realloc_inplace);
    accumulate(&snapshot->unmatched, hot->unmatched);
    snapshot->usable_bytes += hot->usable; /* modulo 2^64 on purpose */
    raise_to(&snapshot->stack_peak, hot->stack_peak);
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
}

/* Copies a hot block; remembers whether it was found inside an update. */
static void
copy_hot(struct reader *reader, unsigned index, struct shard_hot *hot)
{
    const struct shard *shard = shard_of(reader, index);

    seqlock_read((const uint64_t *)&shard->hot, (uint64_t *)hot, HOT_WORDS,
                 SEQLOCK_TRIES);
}

/* A thread killed inside an update leaves its sequence odd for good: torn is
   odd and the same at two polls. */
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
    const struct segment_process *process = process_of(reader);

    snapshot->threads = load32(&process->threads);
    snapshot->threads_started = word_load(&process->threads_started);
    snapshot->threads_merged = word_load(&process->threads_merged);
    raise_to(&snapshot->stack_peak, word_load(&process->stack_peak));
    snapshot->peak_bytes = word_load(&process->peak);
}

static void
finish_sums(const struct reader *reader, struct snapshot *snapshot,
            const struct gone *gone, uint64_t blocks)
{
    const struct segment_process *process = process_of(reader);
    uint64_t bytes = add_saturating(word_load(&process->baseline_bytes),
                                    snapshot->total_bytes);

    snapshot->live_bytes = subtract_floor(bytes, gone->bytes);
    accumulate(&blocks, word_load(&process->baseline_blocks));
    snapshot->live_blocks = subtract_floor(blocks, gone->blocks);
    snapshot->usable_bytes += word_load(&process->baseline_usable);
    if (snapshot->usable_bytes > INT64_MAX)
        snapshot->usable_bytes = 0;
    raise_to(&snapshot->peak_bytes, snapshot->live_bytes);
}

/* Depth at a thread's last call; 0 if that was on another stack. */
static uint64_t
depth_now(const struct shard *shard, const struct shard_hot *hot)
{
    uint64_t depth = word_load(&shard->stack_base) - hot->stack_pointer;

    return depth <= word_load(&shard->stack_limit) ? depth : 0;
}

static void
visit_snapshot(struct reader *reader, void *out)
{
    struct snapshot *snapshot = out;
    struct gone gone = {0, 0};
    struct shard_hot hot;
    unsigned used = shards_used(reader);
    unsigned single = used == 2 ? 1 : 0; /* one thread: one copy serves both */
    uint64_t blocks = 0;

    for (unsigned i = 0; i < used; i++)
        if (i != single || single == 0)
            if (shard_counts(reader, i)) {
                copy_hot(reader, i, &hot);
                sum_freed(&hot, snapshot, &gone);
            }
    for (unsigned i = 0; i < used; i++) {
        if (!shard_counts(reader, i))
            continue;
        copy_hot(reader, i, &hot);
        if (i == single && single != 0)
            sum_freed(&hot, snapshot, &gone);
        sum_allocated(&hot, snapshot, &blocks);
        sum_cold(shard_of(reader, i), snapshot);
        note_torn(reader, i, hot.sequence, snapshot);
        if (shard_owned(reader, i))
            raise_to(&snapshot->stack_now, depth_now(shard_of(reader, i), &hot));
    }
    read_process(reader, snapshot);
    finish_sums(reader, snapshot, &gone, blocks);
}

int
reader_snapshot(struct reader *reader, struct snapshot *snapshot)
{
    memset(snapshot, 0, sizeof *snapshot);
    return visit(reader, visit_snapshot, snapshot);
}

/* ---- sizes ---- */

static void
visit_histogram(struct reader *reader, void *out)
{
    const struct segment_process *process = process_of(reader);
    struct histogram *histogram = out;
    uint64_t freed[HISTOGRAM_COARSE] = {0};
    unsigned used = shards_used(reader);

    for (unsigned i = 0; i < used; i++)
        if (shard_counts(reader, i))
            for (unsigned b = 0; b < HISTOGRAM_COARSE; b++)
                accumulate(&freed[b], word_load(&shard_of(reader, i)->freed[b]));
    for (unsigned i = 0; i < used; i++)
        if (shard_counts(reader, i))
            for (unsigned c = 0; c < HISTOGRAM_CELLS; c++)
                accumulate(&histogram->allocated[c],
                           word_load(&shard_of(reader, i)->allocated[c]));
    for (unsigned c = 0; c < HISTOGRAM_CELLS; c++)
        accumulate(&histogram->live[histogram_cell_coarse(c)], histogram->allocated[c]);
    for (unsigned b = 0; b < HISTOGRAM_COARSE; b++) {
        accumulate(&histogram->live[b], word_load(&process->baseline_sizes[b]));
        histogram->live[b] = subtract_floor(histogram->live[b], freed[b]);
    }
}

int
reader_histogram(struct reader *reader, struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    return visit(reader, visit_histogram, histogram);
}

/* ---- flight recorder ---- */

/* Copies a slot that its writer may be replacing; false if it is empty or was
   caught in between.  The writer clears period first and sets it last. */
static bool
copy_slot(const struct recorder_slot *slot, struct recorder_slot *copy)
{
    copy->period = __atomic_load_n(&slot->period, __ATOMIC_ACQUIRE);
    copy->calls = word_load(&slot->calls);
    copy->heap_last = word_load(&slot->heap_last);
    copy->heap_max = word_load(&slot->heap_max);
    copy->stack_max = word_load(&slot->stack_max);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return copy->period != 0 && copy->period == word_load(&slot->period);
}

struct recording {
    struct recorded *slots; /* newest first while it is gathered */
    size_t capacity;
    size_t count;
    uint64_t since;         /* slots that end before this are not wanted */
    uint64_t now;           /* CLOCK_MONOTONIC */
    uint64_t covered_from;  /* finer levels cover everything from here on */
};

static void
gather_slot(struct recording *recording, const struct recorder_slot *slot,
            uint64_t slot_ns)
{
    struct recorded *added = &recording->slots[recording->count];

    added->begin_ns = (slot->period - 1) * slot_ns;
    added->end_ns = added->begin_ns + slot_ns;
    added->calls = slot->calls;
    added->heap_last = slot->heap_last;
    added->heap_max = slot->heap_max;
    added->stack_max = slot->stack_max;
    recording->count++;
}

/* A coarse slot that reaches into what finer levels cover is cut there, and
   its calls lose those that the finer slots hold. */
static void
trim_slot(struct recording *recording, size_t finer)
{
    struct recorded *slot = &recording->slots[recording->count - 1];

    for (size_t i = finer; i-- > 0 && recording->slots[i].begin_ns < slot->end_ns;)
        slot->calls = subtract_floor(slot->calls, recording->slots[i].calls);
    slot->end_ns = recording->covered_from;
}

/* The newest period of a level, or 0. */
static uint64_t
newest_period(const struct recorder_slot *slots, uint64_t longest)
{
    uint64_t newest = 0;

    for (unsigned i = 0; i < RECORDER_SLOTS; i++) {
        uint64_t period = word_load(&slots[i].period);
        if (period > newest && period <= longest && (period - 1) % RECORDER_SLOTS == i)
            newest = period;
    }
    return newest;
}

static void
gather_level(struct reader *reader, unsigned level, struct recording *recording)
{
    const struct recorder_slot *slots = level_of(reader, level);
    uint64_t slot_ns = RECORDER_SLOT_NS << level;
    uint64_t newest = newest_period(slots, (UINT64_C(1) << 60) / slot_ns);
    uint64_t oldest = newest > RECORDER_SLOTS ? newest - RECORDER_SLOTS + 1 : 1;
    size_t finer = recording->count;
    struct recorder_slot slot;

    for (uint64_t period = newest; period >= oldest && period > 0; period--) {
        if (period * slot_ns <= recording->since
            || recording->count == recording->capacity)
            break;
        if (!copy_slot(&slots[(period - 1) % RECORDER_SLOTS], &slot)
            || slot.period != period
            || (period - 1) * slot_ns >= recording->covered_from)
            continue;
        gather_slot(recording, &slot, slot_ns);
        if (period * slot_ns > recording->covered_from)
            trim_slot(recording, finer);
    }
    if (newest > 0 && (oldest - 1) * slot_ns < recording->covered_from)
        recording->covered_from = (oldest - 1) * slot_ns;
}

static unsigned
levels_present(const struct reader *reader)
{
    uint32_t levels = load32(&process_of(reader)->recorder_levels);

    return levels < RECORDER_LEVELS ? levels : RECORDER_LEVELS;
}

static void
visit_recorded(struct reader *reader, void *out)
{
    for (unsigned level = 0; level < levels_present(reader); level++)
        gather_level(reader, level, out);
}

/* The open slot, once its time is over, as if it were closed. */
static void
gather_open_slot(const struct reader *reader, struct recording *recording)
{
    const struct segment_process *process = process_of(reader);
    uint64_t end = word_load(&process->recorder_end);
    uint64_t start = word_load(&header_of(reader)->created_ns);
    int64_t current = __atomic_load_n(&process->current, __ATOMIC_RELAXED);
    struct recorder_slot slot = {
        .period = (end - start) / RECORDER_SLOT_NS,
        .calls = subtract_floor(word_load(&process->recorder_calls),
                                word_load(&process->recorder_calls_before)),
        .heap_last = current > 0 ? (uint64_t)current : 0,
        .heap_max = word_load(&process->recorder_heap_max),
        .stack_max = word_load(&process->recorder_stack_max),
    };

    if (end <= start || end > recording->now || end - start <= recording->since
        || recording->capacity == 0)
        return;
    raise_to(&slot.heap_max, slot.heap_last);
    gather_slot(recording, &slot, RECORDER_SLOT_NS);
    recording->covered_from = recording->slots[0].begin_ns;
}

static void
visit_recent(struct reader *reader, void *out)
{
    gather_open_slot(reader, out);
    if (levels_present(reader) > 0)
        gather_level(reader, 0, out);
}

static void
turn_oldest_first(struct recording *recording)
{
    for (size_t i = 0, j = recording->count; i + 1 < j; i++) {
        struct recorded slot = recording->slots[i];
        recording->slots[i] = recording->slots[--j];
        recording->slots[j] = slot;
    }
}

int
reader_recorded(struct reader *reader, struct recorded **out, size_t *count)
{
    struct recording recording = {
        .capacity = (size_t)RECORDER_LEVELS * RECORDER_SLOTS,
        .covered_from = UINT64_MAX,
    };
    int error;

    recording.slots = calloc(recording.capacity, sizeof *recording.slots);
    if (recording.slots == NULL)
        return -ENOMEM;
    error = visit(reader, visit_recorded, &recording);
    if (error < 0) {
        free(recording.slots);
        return error;
    }
    turn_oldest_first(&recording);
    *out = recording.slots;
    *count = recording.count;
    return 0;
}

int
reader_recent(struct reader *reader, uint64_t since_ns, uint64_t now_ns,
              struct recorded *out, size_t capacity, size_t *count)
{
    struct recording recording = {
        .slots = out,
        .capacity = capacity,
        .since = since_ns,
        .now = now_ns,
        .covered_from = UINT64_MAX,
    };
    int error = visit(reader, visit_recent, &recording);

    turn_oldest_first(&recording);
    *count = error < 0 ? 0 : recording.count;
    return error;
}

/* ---- words ---- */

const char *
segment_reason_text(enum segment_reason reason)
{
    switch (reason) {
    case REASON_NONE:
        return "";
    case REASON_OWN_MALLOC:
        return _("the program defines its own malloc");
    case REASON_NO_USABLE_SIZE:
        return _("the allocator has no malloc_usable_size");
    case REASON_NO_MEMORY_FS:
        return _("no private directory on a memory file system");
    case REASON_FILE_LIMIT:
        return _("the file size limit (ulimit -f) is below the segment's size");
    case REASON_NO_ROOM:
        return _("the memory file system is full");
    case REASON_MAP_FAILED:
        return _("the segment could not be mapped (address space limit?)");
    case REASON_OTHER_PROGRAM:
        return _("another program was asked for");
    }
    return _("unknown reason");
}

const char *
reader_error_text(int error)
{
    switch (error) {
    case -EPROTO:
        return _("not a segment of libmemtop");
    case -EPROTONOSUPPORT:
        return _("a segment of another version: restart the program under this memtop");
    case -EMSGSIZE:
        return _("the segment was cut short");
    case -EPERM:
        return _("the segment belongs to another user");
    }
    return strerror(-error);
}
