/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives the process its segment: adopts the one memtop has prepared, or creates one, maps
 * it, and fills in the header.  The descriptor is closed at once; only the mapping is
 * kept.
 */
#include "config.h"

#include "preload/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "preload/baseline.h"
#include "preload/clock.h"
#include "preload/options.h"
#include "preload/real.h"
#include "preload/state.h"
#include "preload/ticks.h"
#include "preload/windows.h"
#include "base/clock.h"
#include "segment/names.h"
#include "segment/seqlock.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* A process that ends by _exit leaves its segment, and processes that start later remove
   it.  Forked children take part, or a pre-forking server would fill the memory, but they
   look at fewer.  Under a memtop nobody sweeps: memtop removes what it keeps, and looking
   through the segments it has not removed yet would cost each new process more than
   everything else. */
#define SWEEP_LIMIT       16u
#define CHILD_SWEEP_LIMIT 4u

/* Path of the segment's file, for unlinking it at exit. */
static char segment_path[SEGMENT_PATH_MAX + 24];

static bool populate_works;

bool
mt_present_later(void)
{
    return populate_works;
}

static bool
populate(void *address, size_t size)
{
    return syscall(SYS_madvise, address, size, MADV_POPULATE_WRITE) == 0;
}

bool
mt_make_present(void *address, size_t size)
{
    unsigned char *start = address;
    int saved_errno = errno;
    bool present;

    if (!populate_works)
        return start >= mt_windows[0] && start + size <= mt_windows[0] + WINDOW_SIZE;
    present = populate(address, size);
    errno = saved_errno;
    return present;
}

/* ---- the file ---- */

/* Whether the file has space for sampled allocations. */
static bool sites_part;

static enum segment_reason
reason_of(int error)
{
    switch (error) {
    case -EFBIG:
        return REASON_FILE_LIMIT;
    case -ENOSPC:
    case -EDQUOT:
    case -ENOMEM:
        return REASON_NO_ROOM;
    default:
        return REASON_NO_MEMORY_FS;
    }
}

/* Opens the segment memtop prepared for this very process image.  Returns -1 if there is
   none or an earlier image took it. */
static int
adopt(pid_t pid)
{
    struct segment_header header;
    struct stat st;
    int fd;

    if (mt_options.segment[0] != '/')
        return -1;
    fd = (int)syscall(SYS_openat, AT_FDCWD, mt_options.segment,
                      O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (syscall(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode)
        && st.st_uid == (uid_t)syscall(SYS_geteuid)
        && syscall(SYS_pread64, fd, &header, sizeof header, (off_t)0) == sizeof header
        && st.st_size
               == (off_t)segment_size(mt_options.ring_capacity, header.sites_offset != 0)
        && header.magic == SEGMENT_MAGIC && header.version == SEGMENT_VERSION
        && header.state == SEGMENT_PREPARED
        && header.ring_capacity == mt_options.ring_capacity
        && header.pid == (uint32_t)pid) {
        sites_part = header.sites_offset != 0;
        memcpy(segment_path, mt_options.segment, sizeof mt_options.segment);
        return fd;
    }
    syscall(SYS_close, fd);
    return -1;
}

/* Unlinks the segments of earlier images of this process, unless a memtop keeps them for
   its report.  A free generation is used again, so an earlier image may have a higher
   one. */
static void
unlink_earlier(int directory, pid_t pid, uint32_t generation, uint64_t pid_namespace)
{
    uint32_t other;

    for (other = 0; other < generation; other++)
        segment_unlink_abandoned(directory, pid, other, pid_namespace);
    do
        other++;
    while (segment_unlink_abandoned(directory, pid, other, pid_namespace));
}

/* The values of MEMTOP_DIR and XDG_RUNTIME_DIR at the start: children need them, and
   programs overwrite their environment (setproctitle). */
static char memtop_dir[SEGMENT_PATH_MAX];
static char runtime_dir[SEGMENT_PATH_MAX];

/* MEMTOP_DIR is set but could not be used. */
static bool moved;

/* Creates the segment and opens it; returns -errno on failure. */
static int
create(enum segment_origin origin, pid_t pid, uint64_t pid_namespace,
       uint32_t *generation)
{
    int directory = segment_directory(memtop_dir, runtime_dir, segment_path);
    int fd;

    if (directory < 0)
        return directory;
    moved = memtop_dir[0] != '\0' && strcmp(memtop_dir, segment_path) != 0;
    sites_part = mt_options.sites;
    fd = segment_create_empty(directory, pid, mt_options.ring_capacity, sites_part,
                              generation);
    if (fd == -EFBIG && sites_part) {
        sites_part = false;
        fd = segment_create_empty(directory, pid, mt_options.ring_capacity, false,
                                  generation);
    }
    if (fd >= 0) {
        size_t length = strlen(segment_path);
        segment_path[length] = '/';
        segment_name(segment_path + length + 1, pid, *generation);
        unlink_earlier(directory, pid, *generation, pid_namespace);
    }
    if (mt_options.keeper == 0 || !segment_pid_exists((pid_t)mt_options.keeper))
        segment_sweep(directory, pid_namespace,
                      origin == ORIGIN_EXEC ? SWEEP_LIMIT : CHILD_SWEEP_LIMIT, false);
    syscall(SYS_close, directory);
    return fd;
}

/* Without MADV_POPULATE_WRITE nothing can be made present later, because the descriptor
   is closed: so what may be needed is allocated at the start.  That would be much for a
   process that may never sample, so there sites are only for those who ask. */
static bool
allocate_ahead(int fd)
{
    const uint64_t tables[] = {0, SITES_MODULES_AT, SITES_POOL_AT, SITES_RECORDS_AT,
                               SITES_BLOCKS_AT};
    uint64_t sites = segment_rings_end(mt_options.ring_capacity);
    bool with_sites = sites_part && mt_options.sites_asked;

    if (segment_allocate(fd, SEGMENT_FIRST_SHARDS, mt_options.ring_capacity) < 0
        || syscall(SYS_fallocate, fd, 0, (off_t)0, (off_t)(SHARDS_OFFSET + WINDOW_SIZE))
               != 0)
        return false;
    for (size_t i = 0; with_sites && i < sizeof tables / sizeof tables[0]; i++)
        if (syscall(SYS_fallocate, fd, 0, (off_t)(sites + tables[i]),
                    (off_t)(i == 0 ? SITES_HEAD_SIZE : SITES_AHEAD))
            != 0)
            return false;
    return true;
}

/* The two parts that are mapped from the start: everything up to the first shards, and
   the rings' state with the events of the first. */
#define FIRST_SIZE (SHARDS_OFFSET + WINDOW_SIZE)

static size_t
rings_size(void)
{
    return EVENTS_OFFSET - RINGS_OFFSET + mt_options.ring_capacity * sizeof(struct event);
}

static unsigned char *
map_part(int fd, uint64_t offset, size_t size)
{
    unsigned char *part = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                                          MAP_SHARED, fd, (off_t)offset);

    if (part == MAP_FAILED)
        return NULL;
    syscall(SYS_madvise, part, size, MADV_DONTDUMP);
    return part;
}

static bool
map_parts(int fd, struct mt_segment *made)
{
    unsigned char *base = map_part(fd, 0, FIRST_SIZE);
    uint64_t capacity = mt_options.ring_capacity;

    if (base == NULL)
        return false;
    made->header = (void *)base;
    made->process = (void *)(base + PROCESS_OFFSET);
    made->directory = (void *)(base + DIRECTORY_OFFSET);
    made->recorder = base + RECORDER_OFFSET;
    made->rings = capacity > 0 ? map_part(fd, RINGS_OFFSET, rings_size()) : NULL;
    return made->rings != NULL || capacity == 0;
}

static bool
populate_first(const struct mt_segment *made)
{
    unsigned char *base = (void *)made->header;

    return populate(base, SEGMENT_HEAD_SIZE)
           && (made->rings == NULL
               || (populate(base + CONTROL_OFFSET, CONTROL_SIZE)
                   && populate(made->rings, rings_size())));
}

static enum segment_reason
map(int fd)
{
    struct mt_segment made = {.header = NULL};

    if (!map_parts(fd, &made)) {
        mt_unmap(&made);
        return REASON_MAP_FAILED;
    }
    populate_works = !mt_options.old_kernel && populate_first(&made);
    if (!populate_works && !allocate_ahead(fd)) {
        mt_unmap(&made);
        return REASON_NO_ROOM;
    }
    mt_windows_start((unsigned char *)made.header + SHARDS_OFFSET,
                     made.rings != NULL ? made.rings + (EVENTS_OFFSET - RINGS_OFFSET)
                                        : NULL);
    mt_segment = made;
    return REASON_NONE;
}

void
mt_unmap(const struct mt_segment *segment)
{
    if (segment->header != NULL)
        syscall(SYS_munmap, segment->header, (size_t)FIRST_SIZE);
    if (segment->rings != NULL)
        syscall(SYS_munmap, segment->rings, rings_size());
}

/* ---- the header ---- */

static void
copy_text(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);

    if (length >= size)
        length = size - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

/* A system call, because the vdso reads the TSC, which a parent may have forbidden. */
static uint64_t
asked_ns(clockid_t clock)
{
    struct timespec now = {0, 0};

    syscall(SYS_clock_gettime, clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static enum sites_state
sites_state(void)
{
    if (!mt_options.sites)
        return SITES_OFF;
    if (!sites_part)
        return SITES_FILE_LIMIT;
    return populate_works || mt_options.sites_asked ? SITES_WAITING : SITES_OLD_KERNEL;
}

static void
fill_identity(struct segment_header *header, enum segment_origin origin, pid_t pid)
{
    header->origin = origin;
    header->pid = (uint32_t)pid;
    header->parent = (uint32_t)syscall(SYS_getppid);
    header->uid = (uint32_t)syscall(SYS_geteuid);
    header->created_boottime_ns = asked_ns(CLOCK_BOOTTIME);
    if (mt_options.ring_capacity > 0)
        header->created_ticks = mt_ticks();
    header->created_ns = asked_ns(CLOCK_MONOTONIC);
    header->flags = (mt_options.mappings ? SEGMENT_FLAG_MMAP : 0)
                    | (mt_options.exact ? SEGMENT_FLAG_EXACT : 0)
                    | (mt_options.output_ignored ? SEGMENT_FLAG_OUTPUT : 0)
                    | (mt_options.dormant ? SEGMENT_FLAG_DORMANT : 0)
                    | (moved ? SEGMENT_FLAG_MOVED : 0)
                    | (getauxval(AT_SYSINFO_EHDR) == 0 ? SEGMENT_FLAG_NO_CLOCK : 0);
    if (mt_options.ring_capacity > 0 && mt_ticks_are_tsc())
        header->flags |= SEGMENT_FLAG_TICKS;
    header->sites_state = sites_state();
    copy_text(header->allocator, sizeof header->allocator, mt_real_allocator());
    copy_text(header->options, sizeof header->options, mt_options.words);
}

static void
fill_program(struct segment_header *header)
{
    long length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", header->program,
                          sizeof header->program - 1);

    header->program[length > 0 ? length : 0] = '\0';
}

/* Returns the keeper's pid, or 0 if that process is gone. */
static uint32_t
living_keeper(uint32_t keeper)
{
    if (keeper == 0 || (syscall(SYS_kill, keeper, 0) < 0 && errno == ESRCH))
        return 0;
    return keeper;
}

static void
fill_baseline(struct segment_process *process, const struct mt_baseline *baseline)
{
    process->baseline_bytes = baseline->bytes;
    process->baseline_blocks = baseline->blocks;
    process->baseline_usable = baseline->usable;
    process->mapped = baseline->mapped;
    process->custom_carried = baseline->custom;
    process->custom_carried_bytes = baseline->custom_bytes;
    memcpy(process->baseline_sizes, baseline->sizes, sizeof baseline->sizes);
    process->current = (int64_t)baseline->bytes;
    process->peak = baseline->bytes;
}

/* A process sees its parent's pid only if both are in the same pid namespace. */
static bool
is_child_of(const struct segment_header *parent)
{
    return (uint32_t)syscall(SYS_getppid) == parent->pid;
}

/* Bytes of the file system, when the segment was made. */
static uint64_t free_bytes;

uint64_t
mt_publish_free(void)
{
    return free_bytes;
}

static uint64_t
free_space(int fd)
{
    struct statfs fs;

    if (syscall(SYS_fstatfs, fd, &fs) != 0)
        return 0;
    return (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
}

enum segment_reason
mt_publish(enum segment_origin origin, const struct segment_header *parent,
           const struct mt_baseline *baseline)
{
    enum segment_reason reason;
    uint64_t pid_namespace = 0;
    uint32_t generation = 0;
    pid_t pid = (pid_t)syscall(SYS_getpid);
    bool adopted;
    int fd = origin == ORIGIN_EXEC ? adopt(pid) : -1;

    adopted = fd >= 0;
    if (!adopted) {
        pid_namespace = parent != NULL && is_child_of(parent)
                            ? parent->pid_namespace
                            : segment_pid_namespace();
        fd = create(origin, pid, pid_namespace, &generation);
    }
    if (fd < 0)
        return reason_of(fd);
    reason = map(fd);
    if (reason == REASON_NONE && sites_part)
        free_bytes = free_space(fd);
    syscall(SYS_close, fd);
    if (reason != REASON_NONE) {
        if (!adopted)
            syscall(SYS_unlinkat, AT_FDCWD, segment_path, 0);
        return reason;
    }
    if (!adopted) {
        mt_segment.header->generation = generation;
        mt_segment.header->pid_namespace = pid_namespace;
        mt_segment.header->keeper = living_keeper(mt_options.keeper);
        /* This comes last: it sets the magic, and a sweep trusts the rest from then
           on. */
        segment_header_init(mt_segment.header, mt_options.ring_capacity, sites_part);
    }
    fill_identity(mt_segment.header, origin, pid);
    if (origin == ORIGIN_EXEC)
        fill_program(mt_segment.header);
    if (baseline != NULL)
        fill_baseline(mt_segment.process, baseline);
    return REASON_NONE;
}

void
mt_publish_directories(const char *wanted, const char *runtime)
{
    copy_text(memtop_dir, sizeof memtop_dir, wanted != NULL ? wanted : "");
    copy_text(runtime_dir, sizeof runtime_dir, runtime != NULL ? runtime : "");
}

void
mt_publish_arguments(int argc, char *const *argv)
{
    struct segment_header *header = mt_segment.header;
    uint32_t used = 0;

    for (int i = 0; i < argc && argv[i] != NULL; i++) {
        size_t size = strlen(argv[i]) + 1;
        if (size > SEGMENT_ARGS_LEN - used) {
            header->args_cut = 1;
            break;
        }
        memcpy(header->args + used, argv[i], size);
        used += (uint32_t)size;
    }
    __atomic_store_n(&header->args_size, used, __ATOMIC_RELEASE);
}

void
mt_publish_inherited(const struct mt_segment *from)
{
    struct segment_header *header = mt_segment.header;
    const struct segment_header *parent = from->header;

    memcpy(header->program, parent->program, sizeof header->program);
    memcpy(header->args, parent->args, sizeof header->args);
    header->args_cut = parent->args_cut;
    __atomic_store_n(&header->args_size, parent->args_size, __ATOMIC_RELEASE);
}

bool
mt_started_here(void)
{
    return mt_segment.header != NULL
           && mt_segment.header->pid == (uint32_t)syscall(SYS_getpid);
}

void
mt_publish_exit(void)
{
    struct segment_header *header = mt_segment.header;

    if (header == NULL
        || (!mt_sandboxed && !mt_started_here())) /* a vfork child that calls exit */
        return;
    if (!(header->flags & SEGMENT_FLAG_NO_CLOCK))
        word_store(&mt_segment.process->exited_ns,
                   mt_sandboxed ? mt_now_coarse() : asked_ns(CLOCK_MONOTONIC));
    __atomic_store_n(&header->state, SEGMENT_EXITED, __ATOMIC_RELEASE);
    if (mt_sandboxed)
        return;
    if (living_keeper(header->keeper) == 0)
        syscall(SYS_unlinkat, AT_FDCWD, segment_path, 0);
}
