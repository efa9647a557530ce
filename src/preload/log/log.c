/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text log.
 *
 * A line is one write(2), which the kernel keeps whole in files, pipes and terminals
 * however many threads and processes write: no lock is needed, and nothing to do after
 * fork.  A process that cannot write ends the log for itself, identified by its pid: a
 * vfork child shares our memory but not our descriptors.
 *
 * realloc frees its old block inside the call and can be logged only after it.  Until its
 * line is written the old address stands in a table, and another thread that gets that
 * address waits with its own line.  There are no cycles: a realloc has its new block
 * before it frees the old one.
 */
#include "config.h"

#include "preload/log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/clock.h"
#include "preload/hooks.h"
#include "preload/internal.h"
#include "segment/logline.h"

/* The log's descriptor is at least the first of these that the limit allows: above what
   programs open and what shells keep. */
static const int lowest_descriptors[] = {960, 240, 60, 3};

/* How long to wait for space in a full non-blocking pipe, and for another thread's
   realloc. */
#define ROOM_WAIT_NS   UINT64_C(10000000000)
#define RESIZE_WAIT_NS UINT64_C(1000000000)

static int log_descriptor;

static dev_t device; /* of the file the descriptor was opened for */
static ino_t inode;
static bool is_regular; /* a file on a disk */
static bool is_minimal;
static uint32_t ended_pid; /* pid of the process in which the log has ended */

/* The process and thread that write a line. */
struct log_writer {
    uint32_t pid, tid;
};

/* Tells memtop, which reports it; the program does not notice. */
static void
note_end(int error)
{
    if (mt_segment.process != NULL)
        __atomic_store_n(&mt_segment.process->log_error, (uint32_t)error,
                         __ATOMIC_RELAXED);
}

/* True for internal allocations, which are not the program's, and in a sandbox, where a
   write may kill the program. */
static bool
is_silenced(void)
{
    if (mt_is_ours())
        return true;
    if (likely(!mt_sandboxed))
        return false;
    note_end(EPERM);
    return true;
}

/* Takes the ids from the segment if it can, because system calls are most of a line's
   cost. */
static struct log_writer
this_thread(void)
{
    if ((mt_guard.mode & MODE_LOGGED) && mt_thread.state == THREAD_COUNTED)
        return (struct log_writer){mt_segment.header->pid, mt_thread.shard->thread};
    return (struct log_writer){
        .pid = (uint32_t)syscall(SYS_getpid),
        .tid = (uint32_t)syscall(SYS_gettid),
    };
}

/* ---- start ---- */

static int
duplicate(int fd)
{
    for (size_t i = 0; i < sizeof lowest_descriptors / sizeof *lowest_descriptors; i++) {
        long moved = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest_descriptors[i]);
        if (moved >= 0)
            return (int)moved;
    }
    return -1;
}

static int
open_log(const char *name)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, name,
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
    int moved = fd >= 0 ? duplicate(fd) : -1;

    if (moved < 0)
        return fd;
    syscall(SYS_close, fd);
    return moved;
}

/* ---- writing ---- */

/* The program may have closed our descriptor and opened another file with its number. */
static bool
is_still_ours(void)
{
    struct stat st;

    return syscall(SYS_fstat, log_descriptor, &st) == 0 && st.st_dev == device
           && st.st_ino == inode;
}

/* Sets of signals in the kernel's representation. */
#define BIT(signal)   (UINT64_C(1) << ((signal)-1))
#define RAISED        (BIT(SIGPIPE) | BIT(SIGXFSZ))
#define HELD          (RAISED | BIT(SIGTTOU)) /* a blocked SIGTTOU is not raised */
#define SIGNALS_BYTES 8

/* A write to a regular file raises a signal only at the file size limit, which few
   processes have. */
static bool
may_raise(void)
{
    struct rlimit limit;

    return !is_regular || syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) < 0
           || limit.rlim_cur != RLIM_INFINITY;
}

/* Blocks the signals that a write may raise in this thread; returns those of RAISED that
   are pending already.  *before is the set that was blocked before. */
static uint64_t
hold_signals(uint64_t *before)
{
    const uint64_t held = HELD;
    uint64_t pending = 0;

    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &held, before, SIGNALS_BYTES);
    if (unlikely((*before & RAISED) != 0))
        syscall(SYS_rt_sigpending, &pending, SIGNALS_BYTES);
    return pending;
}

/* Discards the signals that our write raised. */
static void
release_signals(uint64_t before, uint64_t pending, bool failed)
{
    const uint64_t ours = RAISED & ~pending;
    const struct timespec at_once = {0, 0};

    if (failed)
        while (syscall(SYS_rt_sigtimedwait, &ours, NULL, &at_once, SIGNALS_BYTES) > 0)
            ;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, SIGNALS_BYTES);
}

/* Waits until a non-blocking pipe or socket has space. */
static bool
wait_for_room(uint64_t until)
{
    struct pollfd room = {.fd = log_descriptor, .events = POLLOUT};
    const struct timespec second = {1, 0};

    if (mt_now_coarse() >= until)
        return false;
    syscall(SYS_ppoll, &room, 1, &second, NULL, 0);
    return true;
}

/* Returns 0 or an errno. */
static int
write_whole(const char *text, size_t length)
{
    uint64_t until = 0;

    while (length > 0) {
        long written = syscall(SYS_write, log_descriptor, text, length);
        if (written > 0) {
            text += written;
            length -= (size_t)written;
            continue;
        }
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0 || errno != EAGAIN)
            return written == 0 ? EIO : errno;
        if (until == 0)
            until = mt_now_coarse() + ROOM_WAIT_NS;
        if (!wait_for_room(until))
            return EAGAIN;
    }
    return 0;
}

static int
write_quietly(const char *text, size_t length)
{
    uint64_t before = 0, pending;
    int error;

    if (likely(!may_raise()))
        return write_whole(text, length);
    pending = hold_signals(&before);
    error = write_whole(text, length);
    release_signals(before, pending, error != 0);
    return error;
}

static void
write_line(struct log_writer writer, struct logalloc_line *line)
{
    char text[LOGALLOC_LINE_MAX];
    size_t length;
    int error;

    if (writer.pid == __atomic_load_n(&ended_pid, __ATOMIC_RELAXED))
        return;
    line->pid = writer.pid;
    line->tid = writer.tid;
    length = logalloc_format(text, LOGALLOC_RAW, line);
    error = is_still_ours() ? write_quietly(text, length) : EBADF;
    /* The child of a vfork must not end its parent's log. */
    if (likely(error == 0) || (uint32_t)syscall(SYS_getpid) != writer.pid)
        return;
    __atomic_store_n(&ended_pid, writer.pid, __ATOMIC_RELAXED);
    note_end(error);
}

/* ---- blocks inside a realloc ---- */

/* A hash table of SETS sets, by address.  If a set is full, the next realloc gets no
   entry and its order in the log is not guaranteed. */
#define SETS      64u
#define SET_WAYS  8u

struct log_resize {
    uint64_t owner; /* pid and tid; 0: free */
    const void *block;
};

static struct log_resize resizes[SETS][SET_WAYS];

static uint64_t
owner_word(struct log_writer writer)
{
    return (uint64_t)writer.pid << 32 | writer.tid;
}

static struct log_resize *
set_of(const void *block)
{
    return resizes[((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}
_Static_assert(SETS == 1u << (64 - 58), "the upper bits of the product");

static struct log_resize *
enter(struct log_writer writer, const void *block)
{
    struct log_resize *set = set_of(block);

    for (unsigned way = 0; way < SET_WAYS; way++) {
        uint64_t nobody = 0;
        if (__atomic_compare_exchange_n(&set[way].owner, &nobody, owner_word(writer),
                                        false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            __atomic_store_n(&set[way].block, block, __ATOMIC_RELEASE);
            return &set[way];
        }
    }
    return NULL;
}

static void
leave(struct log_resize *resize)
{
    __atomic_store_n(&resize->block, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&resize->owner, 0, __ATOMIC_RELEASE);
}

/* Does another thread hold the block?  Its own realloc does not count (a signal handler
   asks then), nor does one of another process (copied by fork). */
static bool
is_held(const struct log_resize *resize, struct log_writer writer, const void *block)
{
    uint64_t owner;

    if (likely(__atomic_load_n(&resize->block, __ATOMIC_ACQUIRE) != block))
        return false;
    owner = __atomic_load_n(&resize->owner, __ATOMIC_ACQUIRE);
    return owner >> 32 == writer.pid && owner != owner_word(writer);
}

static void
give_up(struct log_resize *resize, const void *block)
{
    __atomic_compare_exchange_n(&resize->block, &block, NULL, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

/* Usually the other thread is just writing.  If its signal handler has left realloc for
   good, the wait times out and nobody waits for it again. */
static void
wait_for(struct log_resize *resize, struct log_writer writer, const void *block)
{
    const struct timespec step = {0, 50000};
    uint64_t until = mt_now_coarse() + RESIZE_WAIT_NS;

    for (unsigned steps = 0; is_held(resize, writer, block); steps++) {
        if (steps < 32) {
            syscall(SYS_sched_yield);
            continue;
        }
        syscall(SYS_nanosleep, &step, NULL);
        if (mt_now_coarse() >= until)
            give_up(resize, block);
    }
}

/* Called when a block was handed out: waits until a realloc that freed it is logged. */
static void
await_turn(struct log_writer writer, const void *block)
{
    struct log_resize *set = set_of(block);

    if (block == NULL)
        return;
    for (unsigned way = 0; way < SET_WAYS; way++)
        if (unlikely(is_held(&set[way], writer, block)))
            wait_for(&set[way], writer, block);
}

/* ---- the calls ---- */

/* Replaces a call by the memalign it amounts to, for MALLOC_LOG_MINIMAL. */
static void
reduce(struct logalloc_line *line)
{
    if (line->call == LOGALLOC_VALLOC)
        line->other = (uint64_t)getpagesize();
    if (line->call == LOGALLOC_VALLOC || line->call == LOGALLOC_POSIX_MEMALIGN
        || line->call == LOGALLOC_ALIGNED_ALLOC)
        line->call = LOGALLOC_MEMALIGN;
}

static void
log_made(enum logalloc_call call, size_t other, size_t size, const void *block)
{
    struct logalloc_line line = {
        .call = call,
        .other = other,
        .size = size,
        .has_result = true,
        .result = (uintptr_t)block,
    };
    int saved_errno = errno;
    struct log_writer writer;

    if (is_silenced())
        return;
    writer = this_thread();
    if (is_minimal)
        reduce(&line);
    await_turn(writer, block);
    write_line(writer, &line);
    errno = saved_errno;
}

static void
log_freed(const void *block)
{
    struct logalloc_line line = {.call = LOGALLOC_FREE, .block = (uintptr_t)block};
    int saved_errno = errno;

    if (is_silenced())
        return;
    write_line(this_thread(), &line);
    errno = saved_errno;
}

static struct log_resize *
log_resize_begin(const void *block)
{
    return block != NULL && !mt_sandboxed ? enter(this_thread(), block) : NULL;
}

static void
log_resize_end(struct log_resize *resize, const void *block, size_t size,
                  const void *result)
{
    struct logalloc_line line = {
        .call = LOGALLOC_REALLOC,
        .block = (uintptr_t)block,
        .size = size,
        .has_result = true,
        .result = (uintptr_t)result,
    };
    int saved_errno = errno;
    struct log_writer writer;

    if (!is_silenced()) {
        writer = this_thread();
        await_turn(writer, result);
        write_line(writer, &line);
    }
    if (resize != NULL)
        leave(resize);
    errno = saved_errno;
}

static void
log_stats(void)
{
    struct logalloc_line line = {.call = LOGALLOC_STATS};
    int saved_errno = errno;

    if (is_silenced())
        return;
    write_line(this_thread(), &line);
    errno = saved_errno;
}

/* ---- attaching ---- */

static const struct mt_log_hooks hooks = {
    .made = log_made,
    .freed = log_freed,
    .resize_begin = log_resize_begin,
    .resize_end = log_resize_end,
    .stats = log_stats,
};

void
mt_log_start(const char *target, bool minimal)
{
    struct stat st;
    int number, fd;

    if (target == NULL || target[0] == '\0')
        return;
    number = logalloc_descriptor(target);
    if (number == 0)
        return;
    fd = number > 0 ? duplicate(number) : open_log(target);
    if (fd < 0 || syscall(SYS_fstat, fd, &st) < 0) {
        note_end(errno);
        return;
    }
    device = st.st_dev;
    inode = st.st_ino;
    is_regular = S_ISREG(st.st_mode);
    is_minimal = minimal;
    log_descriptor = fd;
    __atomic_store_n(&mt_hooks.log, &hooks, __ATOMIC_RELEASE);
}
