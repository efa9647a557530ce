/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads /proc.  A process can vanish between any two steps, give itself any name, and
 * have more lines, groups or children than any buffer holds.  What does not parse is an
 * error or zero, never a crash.
 */
#include "config.h"

#include "system/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "segment/layout.h"

#define NAME_SIZE 64
#define PATH_SIZE (NAME_SIZE + 32)

/* Opens /proc/PID/NAME; returns NULL and errno on failure. */
static FILE *
open_file(pid_t pid, const char *name)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    return fopen(path, "re");
}

/* Parses a decimal number at *text and moves *text behind it.  Returns false if there is
   none or it does not fit. */
static bool
parse_number(const char **text, uint64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* Reads one line, dropping what does not fit.  Returns false at the end. */
static bool
read_line(FILE *file, char *line, int size)
{
    int c = 0;

    if (fgets(line, size, file) == NULL)
        return false;
    if (strchr(line, '\n') == NULL)
        while ((c = getc(file)) != EOF && c != '\n')
            ;
    return true;
}

static const char *
after_key(const char *line, const char *key)
{
    size_t length = strlen(key);

    if (strncmp(line, key, length) != 0 || line[length] != ':')
        return NULL;
    line += length + 1;
    return line + strspn(line, " \t");
}

static bool
parse_kib(const char *line, const char *key, uint64_t *out)
{
    const char *value = after_key(line, key);
    uint64_t kib;

    if (value == NULL || !parse_number(&value, &kib))
        return false;
    *out = kib > UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024;
    return true;
}

int
procfs_parse_status(FILE *file, struct procfs_memory *out)
{
    struct procfs_memory memory = {0};
    const struct {
        const char *key;
        uint64_t *value;
    } sizes[] = {
        {"VmRSS", &memory.rss},        {"RssAnon", &memory.rss_anon},
        {"RssFile", &memory.rss_file}, {"RssShmem", &memory.rss_shmem},
        {"VmHWM", &memory.rss_peak},   {"VmStk", &memory.stack_size},
    };
    char line[256];

    while (read_line(file, line, sizeof line)) {
        const char *value;
        uint64_t threads;

        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (parse_kib(line, sizes[i].key, sizes[i].value))
                break;
        if ((value = after_key(line, "State")) != NULL)
            memory.state = isalpha((unsigned char)*value) ? *value : '\0';
        if ((value = after_key(line, "Threads")) != NULL
            && parse_number(&value, &threads))
            memory.threads = threads > INT32_MAX ? INT32_MAX : (unsigned)threads;
    }
    /* Reading a process that has just gone gives ESRCH or nothing. */
    if (!memory.state)
        return -ESRCH;
    *out = memory;
    return 0;
}

int
procfs_memory(pid_t pid, struct procfs_memory *out)
{
    FILE *file = open_file(pid, "status");
    int result;

    if (file == NULL)
        return -errno;
    result = procfs_parse_status(file, out);
    fclose(file);
    return result;
}

int
procfs_parse_stat(const char *text, struct procfs_stat *out)
{
    struct procfs_stat stat = {0};
    /* The name may hold anything, even ") R 1", so the last parenthesis ends it. */
    const char *field = strrchr(text, ')');
    uint64_t number;

    if (field == NULL || field[1] != ' ' || !isalpha((unsigned char)field[2]))
        return -EPROTO;
    stat.state = field[2];
    field += 3;
    /* Fields 4 to 24 of proc(5), some of them negative. */
    for (int i = 4; i <= 24; i++) {
        bool negative;

        field += strspn(field, " ");
        negative = *field == '-';
        field += negative;
        if (!parse_number(&field, &number))
            return -EPROTO;
        if (i == 4)
            stat.parent = negative || number > INT32_MAX ? 0 : (pid_t)number;
        else if (i == 22)
            stat.start_ticks = number;
        else if (i == 24)
            stat.rss = negative ? 0 : number * (uint64_t)sysconf(_SC_PAGESIZE);
    }
    *out = stat;
    return 0;
}

int
procfs_stat(pid_t pid, struct procfs_stat *out)
{
    FILE *file = open_file(pid, "stat");
    char text[1024];
    size_t length;

    if (file == NULL)
        return -errno;
    length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    if (length == 0)
        return -ESRCH;
    /* The kernel prints no NUL, but one must not hide the rest of the text. */
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = '?';
    text[length] = '\0';
    return procfs_parse_stat(text, out);
}

int
procfs_program(pid_t pid, char *out, size_t size)
{
    char path[PATH_SIZE];
    ssize_t length;

    snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    length = readlink(path, out, size - 1);
    if (length < 0)
        return -errno;
    out[length] = '\0';
    return length > 0 ? 0 : -ENOENT; /* one of the kernel's threads */
}

/* If the file was replaced, exe has more text after a blank. */
static bool
is_same_file(const char *exe, const char *program)
{
    size_t size = strlen(program);

    return strncmp(exe, program, size) == 0 && (exe[size] == '\0' || exe[size] == ' ');
}

int
procfs_executes(pid_t pid, const char *program)
{
    char path[PATH_SIZE], root[SEGMENT_PROGRAM_LEN], exe[SEGMENT_PROGRAM_LEN];
    int result = procfs_program(pid, exe, sizeof exe);
    ssize_t length;

    if (result || is_same_file(exe, program))
        return result ? result : 1;
    snprintf(path, sizeof path, "/proc/%ld/root", (long)pid);
    length = readlink(path, root, sizeof root - 1);
    root[length > 0 ? length : 0] = '\0';
    return strncmp(exe, root, strlen(root)) == 0
           && is_same_file(exe + strlen(root), program);
}

int
procfs_start(pid_t pid, uint64_t *out)
{
    struct procfs_stat stat;
    int result = procfs_stat(pid, &stat);

    if (result == 0)
        *out = stat.start_ticks;
    return result;
}

uint64_t
procfs_boottime_ns(uint64_t ticks)
{
    uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);

    return ticks / per_second * 1000000000
           + ticks % per_second * (1000000000 / per_second);
}

/* Reads a small file completely, NUL-terminated.  Returns its length or -errno. */
static ssize_t
read_small(pid_t pid, const char *name, char *buffer, size_t size)
{
    FILE *file = open_file(pid, name);
    size_t length;

    if (file == NULL)
        return -errno;
    length = fread(buffer, 1, size - 1, file);
    fclose(file);
    buffer[length] = '\0';
    return (ssize_t)length;
}

int
procfs_command(pid_t pid, char *buffer, size_t size)
{
    char text[4096], name[32];
    ssize_t length = read_small(pid, "cmdline", text, sizeof text);
    const char *begin;

    if (length > 0 && text[0] != '\0') {
        for (ssize_t i = 0; i + 1 < length; i++)
            if (text[i] == '\0')
                text[i] = ' ';
        begin = text + strcspn(text, " ");
        while (begin > text && begin[-1] != '/')
            begin--;
        snprintf(buffer, size, "%s", begin);
        return 0;
    }
    length = read_small(pid, "comm", name, sizeof name);
    if (length < 0)
        return (int)length;
    name[strcspn(name, "\n")] = '\0';
    snprintf(buffer, size, "[%s]", name);
    return 0;
}

/* The result of procfs_descendants so far. */
struct gathered {
    pid_t *pids;
    unsigned limit;
    unsigned count;
};

static void
gather(struct gathered *gathered, uint64_t pid)
{
    if (pid == 0 || pid > INT32_MAX)
        return;
    for (unsigned i = 0; i < gathered->count && i < gathered->limit; i++)
        if (gathered->pids[i] == (pid_t)pid)
            return;
    if (gathered->count < gathered->limit)
        gathered->pids[gathered->count] = (pid_t)pid;
    gathered->count++;
}

/* Reads the pids in /proc/PID/task/TID/children. */
static void
gather_children_of_thread(struct gathered *gathered, pid_t pid, const char *tid)
{
    char name[NAME_SIZE];
    FILE *file;
    uint64_t number = 0;
    bool inside = false;
    int c;

    snprintf(name, sizeof name, "task/%.16s/children", tid);
    file = open_file(pid, name);
    if (file == NULL)
        return;
    while ((c = getc(file)) != EOF) {
        if (isdigit(c)) {
            number = number > INT32_MAX ? number : number * 10 + (unsigned)(c - '0');
            inside = true;
        } else if (inside) {
            gather(gathered, number);
            number = 0;
            inside = false;
        }
    }
    fclose(file);
}

static void
gather_children(struct gathered *gathered, pid_t pid)
{
    char path[PATH_SIZE];
    DIR *threads;
    struct dirent *entry;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    threads = opendir(path);
    if (threads == NULL)
        return;
    while ((entry = readdir(threads)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]))
            gather_children_of_thread(gathered, pid, entry->d_name);
    closedir(threads);
}

int
procfs_each(void (*visit)(void *context, pid_t pid), void *context)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;

    if (proc == NULL)
        return -errno;
    while ((entry = readdir(proc)) != NULL) {
        const char *name = entry->d_name;
        uint64_t pid;

        if (parse_number(&name, &pid) && !*name && pid > 0 && pid <= INT32_MAX)
            visit(context, (pid_t)pid);
    }
    closedir(proc);
    return 0;
}

/* For kernels without CONFIG_PROC_CHILDREN: gathers all processes whose parent is PID. */
static void
gather_by_parent(struct gathered *gathered, DIR *proc, pid_t pid)
{
    struct dirent *entry;

    rewinddir(proc);
    while ((entry = readdir(proc)) != NULL) {
        const char *name = entry->d_name;
        struct procfs_stat stat = {0}; /* gcc -flto does not see that it is filled */
        uint64_t child;

        if (!parse_number(&name, &child) || *name || child > INT32_MAX)
            continue;
        if (procfs_stat((pid_t)child, &stat) == 0 && stat.parent == pid)
            gather(gathered, child);
    }
}

static bool
kernel_lists_children(void)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    return access(path, R_OK) == 0;
}

int
procfs_descendants(pid_t pid, pid_t *pids, unsigned limit, unsigned *count)
{
    struct gathered gathered = {.pids = pids, .limit = limit};
    DIR *proc = NULL;

    if (!kernel_lists_children()) {
        proc = opendir("/proc");
        if (proc == NULL)
            return -errno;
    }
    /* Breadth first: pids is also the queue. */
    for (unsigned next = 0; next == 0 || (next <= gathered.count && next <= limit);
         next++) {
        pid_t parent = next == 0 ? pid : pids[next - 1];

        if (proc != NULL)
            gather_by_parent(&gathered, proc, parent);
        else
            gather_children(&gathered, parent);
    }
    if (proc != NULL)
        closedir(proc);
    *count = gathered.count;
    return 0;
}

/* Parses the address range of a line of maps. */
static bool
parse_range(const char *line, uint64_t *low, uint64_t *high)
{
    return sscanf(line, "%" SCNx64 "-%" SCNx64, low, high) == 2 && *low < *high;
}

/* Finds the mapping that the kernel calls [stack]. */
static int
find_stack(pid_t pid, uint64_t *low, uint64_t *high)
{
    FILE *file = open_file(pid, "maps");
    char line[256];
    int result = -ENOENT;

    if (file == NULL)
        return -errno;
    while (result && read_line(file, line, sizeof line)) {
        const char *name = strstr(line, "[stack]\n");

        /* A file could have that name too, but not at the start of its path. */
        if (name != NULL && name[-1] == ' ' && parse_range(line, low, high))
            result = 0;
    }
    fclose(file);
    return result;
}

static int
open_pagemap(pid_t pid)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "/proc/%ld/pagemap", (long)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Finds the lowest page between low and high that is in use; high if there is none. */
static uint64_t
lowest_in_use(int pagemap, uint64_t low, uint64_t high)
{
    const uint64_t in_use = UINT64_C(3) << 62; /* present or swapped: proc(5) */
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), entries[512];

    while (low < high) {
        ssize_t got = pread(pagemap, entries, sizeof entries, (off_t)(low / page * 8));
        size_t count = got > 0 ? (size_t)got / sizeof *entries : 0;

        if (count == 0)
            return high;
        for (size_t i = 0; i < count && low < high; i++, low += page)
            if (entries[i] & in_use)
                return low;
    }
    return high;
}

int
procfs_stack_touched(pid_t pid, uint64_t *out)
{
    uint64_t low, high, lowest;
    int result = find_stack(pid, &low, &high), pagemap;

    if (result)
        return result;
    pagemap = open_pagemap(pid);
    if (pagemap < 0)
        return -errno;
    lowest = lowest_in_use(pagemap, low, high);
    close(pagemap);
    if (lowest == high)
        return -ENODATA;
    *out = high - lowest;
    return 0;
}

/* Fills in the stacks that begin inside a mapping. */
static void
fill_stacks(int pagemap, const char *line, struct procfs_stack *stacks, size_t count)
{
    bool grows = strstr(line, "[stack]\n") != NULL;
    uint64_t low, high, lowest;

    if (!parse_range(line, &low, &high))
        return;
    for (size_t i = 0; i < count; i++) {
        if (stacks[i].base <= low || stacks[i].base >= high)
            continue;
        if (!grows)
            stacks[i].size = stacks[i].base - low;
        lowest = pagemap >= 0 ? lowest_in_use(pagemap, low, stacks[i].base)
                              : stacks[i].base;
        stacks[i].touched = stacks[i].base - lowest;
    }
}

int
procfs_stacks(pid_t pid, struct procfs_stack *stacks, size_t count)
{
    FILE *file = open_file(pid, "maps");
    char line[256];
    int pagemap;

    if (file == NULL)
        return -errno;
    pagemap = open_pagemap(pid);
    for (size_t i = 0; i < count; i++)
        stacks[i].size = stacks[i].touched = 0;
    while (read_line(file, line, sizeof line))
        fill_stacks(pagemap, line, stacks, count);
    if (pagemap >= 0)
        close(pagemap);
    fclose(file);
    return 0;
}

int
procfs_stack_limit(pid_t pid, uint64_t *out)
{
    static const char key[] = "Max stack size";
    FILE *file = open_file(pid, "limits");
    char line[256];
    int result = -ENODATA;

    if (file == NULL)
        return -errno;
    while (result && read_line(file, line, sizeof line)) {
        const char *value = line + strlen(key);

        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        value += strspn(value, " ");
        if (!parse_number(&value, out))
            *out = 0; /* unlimited */
        result = 0;
    }
    fclose(file);
    return result;
}

int
procfs_resident(pid_t pid, const struct smaps_hints *hints, struct resident *out)
{
    FILE *file = open_file(pid, "smaps");
    int result;

    if (file == NULL)
        return -errno;
    result = smaps_read(file, hints, out);
    fclose(file);
    return result;
}

int
procfs_uids(pid_t pid, uid_t *real, uid_t *effective)
{
    FILE *file = open_file(pid, "status");
    char line[256];
    int result = -ESRCH;

    if (file == NULL)
        return -errno;
    while (result && read_line(file, line, sizeof line)) {
        const char *value = after_key(line, "Uid");
        uint64_t first, second;

        if (value == NULL || !parse_number(&value, &first))
            continue;
        value += strspn(value, " \t");
        if (!parse_number(&value, &second))
            continue;
        *real = (uid_t)first;
        *effective = (uid_t)second;
        result = 0;
    }
    fclose(file);
    return result;
}

int
procfs_thread(pid_t pid, pid_t tid, char name[16], char *state)
{
    char where[NAME_SIZE], text[1024];
    struct procfs_stat stat;
    const char *begin;
    FILE *file;
    size_t length;
    int result;

    snprintf(where, sizeof where, "task/%ld/stat", (long)tid);
    file = open_file(pid, where);
    if (file == NULL)
        return -errno;
    length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    result = procfs_parse_stat(text, &stat);
    begin = strchr(text, '(');
    if (result || begin == NULL)
        return result ? result : -EPROTO;
    length = (size_t)(strrchr(text, ')') - begin) - 1;
    length = length < 15 ? length : 15;
    memcpy(name, begin + 1, length);
    name[length] = '\0';
    *state = stat.state;
    return 0;
}
