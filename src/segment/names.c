/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the directory of segments; creates and sweeps segments.
 *
 * Runs inside the watched process as well.  So only raw system calls are made, and no
 * other interposer (fakeroot, eatmydata, ...) and no libc lock comes between; nothing is
 * allocated, and no descriptor is kept except the one returned.
 */
#include "config.h"

#include "segment/names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "segment/layout.h"

#ifndef RAMFS_MAGIC
#define RAMFS_MAGIC 0x858458f6
#endif

#define MAX_GENERATION 9999u

/* A quick sweep looks at no more directory entries than this, so that starting a program
   does not become slow because many others run. */
#define MAX_SWEPT_ENTRIES 256u

/* For /proc/PID/stat; the kernel's USER_HZ is 100 on all supported machines. */
#define TICKS_PER_SECOND 100u

/* A process starts before its segment is made, and its start time is cut to ticks, never
   rounded up.  After a resume in between, the clocks may differ a bit. */
#define START_SLACK_NS UINT64_C(1000000000)

/* A segment without a header after this time will never get one. */
#define UNFINISHED_SECONDS 60

static long
fail_code(long result)
{
    return result < 0 ? -errno : result;
}

/* Appends text to a path under construction; returns the new end, or NULL if
   it does not fit. */
static char *
path_append(char *end, const char *limit, const char *text)
{
    size_t length = strlen(text);

    if (end == NULL || length >= (size_t)(limit - end))
        return NULL;
    memcpy(end, text, length + 1);
    return end + length;
}

/* Writes number in decimal at end, which must have space for 21 bytes. */
static char *
decimal(char *end, uint64_t number)
{
    char digits[20];
    unsigned count = 0;

    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count > 0)
        *end++ = digits[--count];
    *end = '\0';
    return end;
}

void
segment_name(char *buffer, pid_t pid, uint32_t generation)
{
    char *end = decimal(buffer, (uint64_t)pid);

    *end++ = '.';
    decimal(end, generation);
}

/* Reads a decimal number without sign or leading zero, at most limit. */
static const char *
parse_decimal(const char *text, uint64_t limit, uint64_t *number)
{
    uint64_t value = 0;

    if (*text < '0' || *text > '9' || (*text == '0' && text[1] >= '0' && text[1] <= '9'))
        return NULL;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint64_t)(*text - '0');
        if (value > limit)
            return NULL;
    }
    *number = value;
    return text;
}

bool
segment_name_parse(const char *name, pid_t *pid, uint32_t *generation)
{
    uint64_t first, second;

    name = parse_decimal(name, INT32_MAX, &first);
    if (name == NULL || *name++ != '.' || first == 0)
        return false;
    name = parse_decimal(name, MAX_GENERATION, &second);
    if (name == NULL || *name != '\0')
        return false;
    *pid = (pid_t)first;
    *generation = (uint32_t)second;
    return true;
}

static bool
is_in_memory(const struct statfs *fs)
{
    return (unsigned long)fs->f_type == TMPFS_MAGIC
           || (unsigned long)fs->f_type == RAMFS_MAGIC;
}

/* Is the directory on tmpfs or ramfs, owned by us, mode 0700 and not a link (the caller
   used O_NOFOLLOW)? */
static int
check_directory(int fd)
{
    struct statfs fs;
    struct stat st;

    if (syscall(SYS_fstatfs, fd, &fs) < 0 || syscall(SYS_fstat, fd, &st) < 0)
        return -errno;
    if (!is_in_memory(&fs))
        return -EMEDIUMTYPE;
    if (st.st_uid != (uid_t)syscall(SYS_geteuid) || (st.st_mode & 077) != 0)
        return -EPERM;
    return 0;
}

/* Makes a directory if its parent is on a memory file system; nothing is changed on a
   disk.  Returns 0 or -errno. */
static int
make_directory(const char *path)
{
    char parent[SEGMENT_PATH_MAX];
    size_t length = strlen(path);
    struct statfs fs;

    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 1 && path[length - 1] != '/')
        length--;
    memcpy(parent, path, length);
    parent[length] = '\0';
    if (syscall(SYS_statfs, parent, &fs) < 0)
        return -errno;
    if (!is_in_memory(&fs))
        return -EMEDIUMTYPE;
    if (syscall(SYS_mkdirat, AT_FDCWD, path, 0700) < 0)
        return errno == EEXIST ? 0 : -errno; /* another process was faster */
    syscall(SYS_fchmodat, AT_FDCWD, path, 0700); /* whatever the umask */
    return 0;
}

static int
open_directory(const char *path, bool make)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    long fd = fail_code(syscall(SYS_openat, AT_FDCWD, path, flags, 0));
    int error;

    if (make && fd == -ENOENT) {
        error = make_directory(path);
        if (error < 0)
            return error;
        fd = fail_code(syscall(SYS_openat, AT_FDCWD, path, flags, 0));
    }
    if (fd < 0)
        return (int)fd;
    error = check_directory((int)fd);
    if (error < 0) {
        syscall(SYS_close, (int)fd);
        return error;
    }
    return (int)fd;
}

int
segment_directory_path(unsigned which, const char *memtop_dir, const char *runtime_dir,
                       char buffer[SEGMENT_PATH_MAX])
{
    const struct {
        const char *base, *rest;
        bool with_uid;
    } places[DIRECTORIES] = {
        {memtop_dir, "", false},
        {"/dev/shm", "/memtop-", true},
        {runtime_dir, "/memtop", false},
        {"/tmp", "/memtop-", true},
    };
    const char *limit = buffer + SEGMENT_PATH_MAX;
    char uid[21];
    char *end;

    if (which >= DIRECTORIES || places[which].base == NULL
        || places[which].base[0] != '/')
        return -ENOENT;
    end = path_append(buffer, limit, places[which].base);
    end = path_append(end, limit, places[which].rest);
    if (places[which].with_uid) {
        decimal(uid, (uint64_t)syscall(SYS_geteuid));
        end = path_append(end, limit, uid);
    }
    return end == NULL ? -ENAMETOOLONG : 0;
}

/* Opens candidate directory number which. */
static int
try_directory(unsigned which, const char *memtop_dir, const char *runtime_dir, bool make,
              char buffer[SEGMENT_PATH_MAX])
{
    int error = segment_directory_path(which, memtop_dir, runtime_dir, buffer);

    return error < 0 ? error : open_directory(buffer, make);
}

int
segment_directory(const char *memtop_dir, const char *runtime_dir,
                  char buffer[SEGMENT_PATH_MAX])
{
    int fd = -ENOENT;

    for (unsigned which = 0; fd < 0 && which < DIRECTORIES; which++)
        fd = try_directory(which, memtop_dir, runtime_dir, true, buffer);
    return fd;
}

int
segment_directory_refused(const char *memtop_dir)
{
    char path[SEGMENT_PATH_MAX];
    int fd;

    if (memtop_dir == NULL || memtop_dir[0] == '\0')
        return 0;
    if (memtop_dir[0] != '/')
        return -EINVAL;
    fd = try_directory(0, memtop_dir, NULL, true, path);
    if (fd >= 0)
        syscall(SYS_close, fd);
    return fd < 0 ? fd : 0;
}

int
segment_directory_next(unsigned *which, const char *memtop_dir, const char *runtime_dir,
                       char buffer[SEGMENT_PATH_MAX])
{
    while (*which < DIRECTORIES) {
        int fd = try_directory((*which)++, memtop_dir, runtime_dir, false, buffer);

        if (fd >= 0)
            return fd;
    }
    return -ENOENT;
}

/* Extending a file beyond the limit would send the process a SIGXFSZ. */
static bool
file_limit_allows(uint64_t size)
{
    struct rlimit limit;

    return syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) < 0
           || limit.rlim_cur >= size;
}

static bool
give_pages(int fd, uint64_t offset, uint64_t size)
{
    return size == 0 || syscall(SYS_fallocate, fd, 0, (off_t)offset, (off_t)size) == 0;
}

static bool
give_shards(int fd, unsigned shards)
{
    for (unsigned i = 0; i < shards; i++)
        if (!give_pages(fd, SHARDS_OFFSET + (uint64_t)i * SHARD_SIZE, SHARD_NEAR_SIZE))
            return false;
    return true;
}

static bool
give_rings(int fd, unsigned shards, uint64_t capacity)
{
    if (capacity == 0)
        return true;
    return give_pages(fd, CONTROL_OFFSET, CONTROL_SIZE)
           && give_pages(fd, RINGS_OFFSET,
                         EVENTS_OFFSET - RINGS_OFFSET
                             + shards * capacity * sizeof(struct event));
}

int
segment_allocate(int fd, unsigned shards, uint64_t ring_capacity)
{
    if (!give_pages(fd, 0, SEGMENT_HEAD_SIZE)
        || !give_pages(fd, RECORDER_OFFSET, SEGMENT_PAGE) || !give_shards(fd, shards)
        || !give_rings(fd, shards, ring_capacity))
        return -errno;
    return 0;
}

int
segment_create_empty(int directory, pid_t pid, uint64_t ring_capacity, bool sites,
                     uint32_t *generation)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    uint64_t size = segment_size(ring_capacity, sites);
    char name[24];
    long fd = -EEXIST;
    int error;

    if (!file_limit_allows(size))
        return -EFBIG;
    for (*generation = 0; fd == -EEXIST && *generation <= MAX_GENERATION; ++*generation) {
        segment_name(name, pid, *generation);
        fd = fail_code(syscall(SYS_openat, directory, name, flags, 0600));
    }
    --*generation;
    if (fd < 0)
        return (int)fd;
    syscall(SYS_fchmod, (int)fd, 0600); /* the umask may have removed bits */
    error = (int)fail_code(syscall(SYS_ftruncate, (int)fd, (off_t)size));
    if (error == 0)
        return (int)fd;
    syscall(SYS_unlinkat, directory, name, 0);
    syscall(SYS_close, (int)fd);
    return error;
}

int
segment_create(int directory, pid_t pid, unsigned shards, uint64_t ring_capacity,
               bool sites, uint32_t *generation)
{
    int fd = segment_create_empty(directory, pid, ring_capacity, sites, generation);
    int error = fd < 0 ? fd : segment_allocate(fd, shards, ring_capacity);
    char name[24];

    if (fd < 0 || error == 0)
        return fd;
    segment_name(name, pid, *generation);
    syscall(SYS_unlinkat, directory, name, 0);
    syscall(SYS_close, fd);
    return error;
}

void
segment_header_init(struct segment_header *header, uint64_t ring_capacity, bool sites)
{
    uint64_t rings_end = segment_rings_end(ring_capacity);

    header->version = SEGMENT_VERSION;
    header->byte_order = SEGMENT_BYTE_ORDER;
    header->total_size = segment_size(ring_capacity, sites);
    header->header_size = sizeof *header;
    header->page_size = SEGMENT_PAGE;
    header->control_offset = CONTROL_OFFSET;
    header->process_offset = PROCESS_OFFSET;
    header->directory_offset = DIRECTORY_OFFSET;
    header->recorder_offset = RECORDER_OFFSET;
    header->shards_offset = SHARDS_OFFSET;
    header->shard_size = SHARD_SIZE;
    header->shard_count = SHARD_COUNT;
    header->recorder_levels = RECORDER_LEVELS;
    header->recorder_slots = RECORDER_SLOTS;
    header->recorder_slot_ns = RECORDER_SLOT_NS;
    header->ring_capacity = ring_capacity;
    header->rings_offset = ring_capacity > 0 ? RINGS_OFFSET : 0;
    header->rings_size = rings_end - SEGMENT_SIZE;
    header->sites_offset = sites ? rings_end : 0;
    header->sites_size = sites ? SITES_SIZE : 0;
    header->modules_offset = sites ? rings_end + SITES_MODULES_AT : 0;
    header->modules_size = sites ? SITES_PLACES_AT - SITES_MODULES_AT : 0;
    __atomic_store_n(&header->magic, SEGMENT_MAGIC, __ATOMIC_RELEASE);
}

/* Like segment_header_init, but through the descriptor: the process that prepares a
   segment calls exec next and needs no mapping. */
static int
write_header(int fd, pid_t pid, uint32_t generation, pid_t keeper, uint64_t ring_capacity,
             bool sites)
{
    struct segment_header header;

    memset(&header, 0, sizeof header);
    segment_header_init(&header, ring_capacity, sites);
    header.state = SEGMENT_PREPARED;
    header.pid = (uint32_t)pid;
    header.generation = generation;
    header.keeper = (uint32_t)keeper;
    header.uid = (uint32_t)syscall(SYS_geteuid);
    header.pid_namespace = segment_pid_namespace();
    if (syscall(SYS_pwrite64, fd, &header, sizeof header, (off_t)0) != sizeof header)
        return -EIO;
    return 0;
}

int
segment_prepare(int directory, const char *directory_path, pid_t keeper,
                uint64_t ring_capacity, bool sites, char path[SEGMENT_PATH_MAX])
{
    const char *limit = path + SEGMENT_PATH_MAX;
    pid_t pid = (pid_t)syscall(SYS_getpid);
    uint32_t generation;
    char name[24];
    int error;
    int fd = segment_create(directory, pid, SEGMENT_FIRST_SHARDS, ring_capacity, sites,
                            &generation);

    if (fd < 0)
        return fd;
    segment_name(name, pid, generation);
    error = write_header(fd, pid, generation, keeper, ring_capacity, sites);
    if (error == 0
        && path_append(path_append(path_append(path, limit, directory_path), limit, "/"),
                       limit, name) == NULL)
        error = -ENAMETOOLONG;
    if (error < 0)
        syscall(SYS_unlinkat, directory, name, 0);
    syscall(SYS_close, fd);
    return error;
}

uint64_t
segment_pid_namespace(void)
{
    char link[64];
    uint64_t inode;
    long length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/ns/pid", link,
                          sizeof link - 1);

    /* "pid:[4026531836]" */
    if (length <= 5)
        return 0;
    link[length] = '\0';
    return parse_decimal(link + 5, INT64_MAX, &inode) != NULL ? inode : 0;
}

bool
segment_pid_exists(pid_t pid)
{
    return syscall(SYS_kill, pid, 0) == 0 || errno != ESRCH;
}

/* ---- is it still the same process? ---- */

/* Reads /proc/PID/NAME, or the target of that link, NUL-terminated; returns 0 on
   failure. */
static size_t
read_proc(pid_t pid, const char *name, bool link, char *buffer, size_t size)
{
    char path[64] = "/proc/";
    long got, fd;

    path_append(decimal(path + 6, (uint64_t)pid), path + sizeof path, name);
    if (link) {
        got = syscall(SYS_readlinkat, AT_FDCWD, path, buffer, size - 1);
    } else {
        fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
        if (fd < 0)
            return 0;
        got = syscall(SYS_read, fd, buffer, size - 1);
        syscall(SYS_close, fd);
    }
    buffer[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

/* False if the process is in another time namespace: its start time cannot be
   compared. */
static bool
same_clock(pid_t pid)
{
    char ours[64], its[64];

    return read_proc((pid_t)syscall(SYS_getpid), "/ns/time", true, ours, sizeof ours) == 0
           || (read_proc(pid, "/ns/time", true, its, sizeof its) > 0
               && strcmp(ours, its) == 0);
}

/* Reads field 22 of /proc/PID/stat, in ns since boot.  state is behind the name, which
   may hold anything, even a parenthesis. */
static bool
parse_start(const char *state, uint64_t *start_ns)
{
    uint64_t ticks;

    for (int field = 3; field < 22; field++) {
        state = strchr(state, ' ');
        if (state == NULL)
            return false;
        state++;
    }
    if (parse_decimal(state, UINT64_MAX / 10000000 - 1, &ticks) == NULL)
        return false;
    *start_ns = ticks * (UINT64_C(1000000000) / TICKS_PER_SECOND);
    return true;
}

bool
segment_process_lives(pid_t pid, uint64_t created_boottime_ns)
{
    uint64_t start_ns;
    char stat[512];
    const char *state;

    if (!segment_pid_exists(pid))
        return false;
    if (read_proc(pid, "/stat", false, stat, sizeof stat) == 0
        || (state = strrchr(stat, ')')) == NULL || state[1] != ' ')
        return segment_pid_exists(pid); /* /proc is not available */
    state += 2;
    if (*state == 'Z' || *state == 'X')
        return false;
    return created_boottime_ns == 0 || !parse_start(state, &start_ns)
           || start_ns <= created_boottime_ns + START_SLACK_NS || !same_clock(pid);
}

/* The sweep of every version reads these fields in segments of every version. */
_Static_assert(offsetof(struct segment_header, magic) == 0
                   && offsetof(struct segment_header, pid_namespace) == 176
                   && offsetof(struct segment_header, created_boottime_ns) == 184
                   && offsetof(struct segment_header, keeper) == 208,
               "what a sweep reads never moves");

static bool
read_field(long fd, void *value, size_t size, size_t offset)
{
    return syscall(SYS_pread64, fd, value, size, (off_t)offset) == (long)size;
}

/* Has the file not been written to for a while? */
static bool
is_old(long fd)
{
    struct timespec now;
    struct stat st;

    return syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) == 0
           && syscall(SYS_fstat, fd, &st) == 0
           && now.tv_sec - st.st_mtim.tv_sec > UNFINISHED_SECONDS;
}

/* Is the process of a segment alive?  A thorough sweep spends some system calls to tell
   it from a zombie, or from another process with the same pid. */
static bool
lives(pid_t pid, uint64_t created_boottime_ns, bool thorough)
{
    return thorough ? segment_process_lives(pid, created_boottime_ns)
                    : segment_pid_exists(pid);
}

/* Does the segment NAME belong to this pid namespace, to a process that has ended (pid 0:
   the caller knows), and to no keeper?  The namespace matters because containers may
   share the directory: there the same pid is another, living process.  A segment whose
   process was killed while making it has no magic and no namespace yet. */
static bool
is_abandoned(int directory, const char *name, uint64_t pid_namespace, pid_t pid,
             bool thorough)
{
    uint64_t magic = 0, its_namespace = 0, created = 0;
    uint32_t keeper = 0;
    bool abandoned;
    long fd = syscall(SYS_openat, directory, name,
                      O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);

    if (fd < 0)
        return false;
    read_field(fd, &magic, sizeof magic, offsetof(struct segment_header, magic));
    if (magic == 0)
        abandoned = (pid == 0 || !segment_pid_exists(pid)) && is_old(fd);
    else
        abandoned =
            magic == SEGMENT_MAGIC
            && read_field(fd, &its_namespace, sizeof its_namespace,
                          offsetof(struct segment_header, pid_namespace))
            && read_field(fd, &keeper, sizeof keeper,
                          offsetof(struct segment_header, keeper))
            && read_field(fd, &created, sizeof created,
                          offsetof(struct segment_header, created_boottime_ns))
            && its_namespace == pid_namespace
            && (pid == 0 || !lives(pid, created, thorough))
            && (keeper == 0 || !lives((pid_t)keeper, created, thorough));
    syscall(SYS_close, fd);
    return abandoned;
}

bool
segment_unlink_abandoned(int directory, pid_t pid, uint32_t generation,
                         uint64_t pid_namespace)
{
    char name[24];

    segment_name(name, pid, generation);
    return is_abandoned(directory, name, pid_namespace, 0, false)
           && syscall(SYS_unlinkat, directory, name, 0) == 0;
}

/* What getdents64 fills in (the kernel's layout), see getdents(2). */
struct kernel_dirent {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

static bool
sweep_one(int directory, const char *name, uint64_t pid_namespace, bool thorough)
{
    uint32_t generation;
    pid_t pid;

    if (!segment_name_parse(name, &pid, &generation)
        || (!thorough && segment_pid_exists(pid)))
        return false;
    return is_abandoned(directory, name, pid_namespace, pid, thorough)
           && syscall(SYS_unlinkat, directory, name, 0) == 0;
}

void
segment_sweep(int directory, uint64_t pid_namespace, unsigned limit, bool thorough)
{
    _Alignas(8) char buffer[1024];
    unsigned entries = 0;
    long filled;

    if (pid_namespace == 0)
        return;
    syscall(SYS_lseek, directory, (off_t)0, SEEK_SET);
    while (limit > 0 && (thorough || entries < MAX_SWEPT_ENTRIES)
           && (filled = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0) {
        for (long at = 0; at < filled && limit > 0; entries++) {
            const struct kernel_dirent *entry = (const void *)(buffer + at);

            if (sweep_one(directory, entry->name, pid_namespace, thorough))
                limit--;
            at += entry->length;
        }
    }
}
