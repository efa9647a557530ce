/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel names few mappings: files, [heap], [stack].  Others are recognised by their
 * position: glibc's arenas by their alignment, threads' stacks by the guard below them or
 * by their thread pointer, a bss by the data before it.  Everything is read before
 * anything is judged, because neighbours matter.
 *
 * Whatever a line says, sums do not overflow and nothing is counted twice.
 */
#include "config.h"

#include "system/smaps.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/figures.h"

#define PAGE UINT64_C(4096)

/* glibc's HEAP_MAX_SIZE: arenas other than the first have heaps of this size and
   alignment, whose unused end is inaccessible. */
#define ARENA (UINT64_C(64) << 20)

/* The largest guard; it has one page unless another size was asked for. */
#define GUARD_MAX (UINT64_C(64) << 10)

/* A thread's own block lies between its thread pointer and the end of its stack. */
#define ABOVE_POINTER_MAX (UINT64_C(64) << 10)

struct smaps_mapping {
    uint64_t start, end;
    uint64_t rss;
    uint64_t inode;       /* of a file that may be a program, otherwise 0 */
    unsigned device;
    bool readable, writable, executable, shared;
    bool named;           /* the kernel or the program names it */
    enum region region;
    uint64_t excess;      /* bytes of rss that are REGION_ANON despite region */
};

struct mappings {
    struct smaps_mapping *items;
    size_t count, room;
    uint64_t pss, swap;
};

/* ---- names ---- */

static bool
begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Recognises names that programs give to anonymous mappings (PR_SET_VMA_ANON_NAME).  A
   block with its own mapping, "glibc: malloc", is not part of the heap. */
static enum region
region_by_given_name(const char *name)
{
    static const char *const allocators[] = {
        "glibc: malloc arena", "jemalloc", "tcmalloc",
        "mimalloc",            "scudo:",   "libc_malloc",
    };

    for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++)
        if (begins(name, allocators[i]))
            return REGION_HEAP;
    return strstr(name, "stack") != NULL ? REGION_STACK : REGION_ANON;
}

static enum region
region_by_file(const char *path, bool shared, const struct smaps_hints *hints)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strcspn(name, " "); /* " (deleted)" */

    if (length == strlen("libmemtop.so") && begins(name, "libmemtop.so"))
        return REGION_MEMTOP;
    if (shared && hints->segment != NULL && length == strlen(hints->segment)
        && begins(name, hints->segment))
        return REGION_MEMTOP;
    return REGION_FILE;
}

static void
judge_name(struct smaps_mapping *mapping, const char *path,
           const struct smaps_hints *hints)
{
    mapping->named = *path != '\0';
    if (*path == '\0') {
        mapping->region = REGION_ANON;
    } else if (*path == '/') {
        mapping->region = region_by_file(path, mapping->shared, hints);
        /* Code made at run time may be in a file without a name. */
        if (mapping->shared || begins(path, "/memfd:") || begins(path, "/dev/"))
            mapping->inode = 0;
    } else if (strcmp(path, "[heap]") == 0) {
        mapping->region = REGION_HEAP;
    } else if (begins(path, "[stack")) {
        mapping->region = REGION_STACK;
    } else if (begins(path, "[anon:")) {
        const char *name = path + strlen("[anon:");

        mapping->region = region_by_given_name(name + (*name == ' '));
    } else {
        mapping->region = begins(path, "[anon") ? REGION_FILE : REGION_OTHER;
    }
}

/* ---- lines ---- */

static bool
parse_mapping(const char *line, const struct smaps_hints *hints,
              struct smaps_mapping *out)
{
    char rights[5];
    unsigned major, minor;
    int path = 0;

    *out = (struct smaps_mapping){0};
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %" SCNu64 " %n", &out->start,
               &out->end, rights, &major, &minor, &out->inode, &path)
            < 6
        || out->end <= out->start || strlen(rights) != 4)
        return false;
    out->device = major << 20 | minor;
    out->readable = rights[0] == 'r';
    out->writable = rights[1] == 'w';
    out->executable = rights[2] == 'x';
    out->shared = rights[3] == 's';
    judge_name(out, line + path, hints);
    return true;
}

static bool
parse_size(const char *line, const char *key, uint64_t *out)
{
    size_t length = strlen(key);
    unsigned long long kib;

    if (strncmp(line, key, length) != 0 || !isspace((unsigned char)line[length]))
        return false;
    kib = strtoull(line + length, NULL, 10);
    *out = kib > UINT64_MAX / 1024 / 65536 ? 0 : kib * 1024;
    return true;
}

static struct smaps_mapping *
append(struct mappings *mappings)
{
    if (!ARRAY_GROW(mappings->items, mappings->room, mappings->count + 1))
        return NULL;
    return &mappings->items[mappings->count];
}

static void
take_field(struct mappings *mappings, const char *line)
{
    uint64_t size;

    if (mappings->count == 0)
        return;
    if (parse_size(line, "Rss:", &size))
        mappings->items[mappings->count - 1].rss = size;
    else if (parse_size(line, "Pss:", &size))
        mappings->pss = add_saturating(mappings->pss, size);
    else if (parse_size(line, "Swap:", &size))
        mappings->swap = add_saturating(mappings->swap, size);
}

/* Takes a line, which begins a mapping or is a field of the last one. */
static int
take_line(struct mappings *mappings, char *line, const struct smaps_hints *hints)
{
    struct smaps_mapping *next;

    if (isupper((unsigned char)*line)) {
        take_field(mappings, line);
        return 0;
    }
    next = append(mappings);
    if (next == NULL)
        return -ENOMEM;
    line[strcspn(line, "\n")] = '\0';
    mappings->count += parse_mapping(line, hints, next);
    return 0;
}

static int
take_all(struct mappings *mappings, FILE *file, const struct smaps_hints *hints)
{
    char *line = NULL;
    size_t room = 0;
    int result = 0;

    while (result == 0 && getline(&line, &room, file) > 0)
        result = take_line(mappings, line, hints);
    free(line);
    if (result == 0 && ferror(file))
        result = -EIO;
    if (result == 0 && mappings->count == 0)
        result = -ESRCH;
    return result;
}

/* ---- neighbours ---- */

static bool
is_anonymous(const struct smaps_mapping *mapping)
{
    return mapping->region == REGION_ANON && !mapping->named && !mapping->shared;
}

static bool
is_inaccessible(const struct smaps_mapping *mapping)
{
    return !mapping->readable && !mapping->writable && !mapping->executable;
}

static bool
is_writable_anonymous(const struct smaps_mapping *mapping)
{
    return is_anonymous(mapping) && mapping->readable && mapping->writable
           && !mapping->executable;
}

static bool
same_file(const struct smaps_mapping *a, const struct smaps_mapping *b)
{
    return a->inode != 0 && a->inode == b->inode && a->device == b->device;
}

/* A file with an executable part, mapped in consecutive pieces, is a program or a
   library; what follows its data is its bss. */
static void
find_programs(struct mappings *mappings)
{
    struct smaps_mapping *items = mappings->items;
    size_t next;

    for (size_t i = 0; i < mappings->count; i = next) {
        bool executable = items[i].executable;

        for (next = i + 1; next < mappings->count && same_file(&items[i], &items[next]);
             next++)
            executable = executable || items[next].executable;
        if (items[i].inode == 0 || !executable)
            continue;
        for (size_t k = i; k < next; k++)
            if (items[k].region == REGION_FILE)
                items[k].region = REGION_PROGRAM;
        if (next < mappings->count && items[next - 1].writable
            && items[next].start == items[next - 1].end
            && is_writable_anonymous(&items[next]))
            items[next].region = items[next - 1].region;
    }
}

static bool
is_arena_with_tail(const struct smaps_mapping *used, const struct smaps_mapping *tail)
{
    return is_writable_anonymous(used) && used->start % ARENA == 0 && is_anonymous(tail)
           && is_inaccessible(tail) && tail->start == used->end && tail->end % ARENA == 0
           && tail->end - tail->start < ARENA;
}

/* A full arena has no inaccessible end; it is taken for one if there are others. */
static void
find_arenas(struct mappings *mappings)
{
    struct smaps_mapping *items = mappings->items;
    bool any = false;

    for (size_t i = 0; i + 1 < mappings->count; i++)
        if (is_arena_with_tail(&items[i], &items[i + 1])) {
            items[i].region = REGION_HEAP;
            any = true;
        }
    for (size_t i = 0; any && i < mappings->count; i++)
        if (is_writable_anonymous(&items[i]) && items[i].start % ARENA == 0
            && items[i].end % ARENA == 0)
            items[i].region = REGION_HEAP;
}

/* Marks a mapping that contains a thread pointer as a stack, but no more of it than that
   stack: the kernel may have merged it with what lies above. */
static void
mark_stack(struct smaps_mapping *mapping, uint64_t pointer)
{
    uint64_t size;

    mapping->region = REGION_STACK;
    if (mapping->end - pointer <= ABOVE_POINTER_MAX)
        return;
    size = (pointer / PAGE + 1) * PAGE - mapping->start;
    mapping->excess = mapping->rss > size ? mapping->rss - size : 0;
}

/* The size of the guard below a mapping that may be a stack; 0 if there is none. */
static uint64_t
guard_below(const struct mappings *mappings, size_t index)
{
    const struct smaps_mapping *mapping = &mappings->items[index];
    const struct smaps_mapping *guard = mapping - 1;

    if (index == 0 || !is_writable_anonymous(mapping) || !is_anonymous(guard)
        || !is_inaccessible(guard) || guard->end != mapping->start
        || guard->end - guard->start > GUARD_MAX)
        return 0;
    return guard->end - guard->start;
}

static void
find_stacks(struct mappings *mappings, const struct smaps_hints *hints)
{
    struct smaps_mapping *items = mappings->items;
    size_t found = 0, guarded = 0;

    for (size_t i = 0; i < mappings->count; i++) {
        uint64_t guard = guard_below(mappings, i), size = items[i].end - items[i].start;

        for (size_t k = 0; k < hints->stack_count; k++)
            if (is_writable_anonymous(&items[i]) && items[i].start < hints->stacks[k]
                && hints->stacks[k] < items[i].end)
                mark_stack(&items[i], hints->stacks[k]);
        if (guard > 0 && is_writable_anonymous(&items[i])
            && (size == hints->stack_size || size + guard == hints->stack_size))
            items[i].region = REGION_STACK;
        found += items[i].region == REGION_STACK;
        guarded += guard > 0 && items[i].region != REGION_STACK;
    }
    /* Other mappings have guards too; all are taken for stacks only if there are as many
       threads. */
    if (found + guarded > hints->threads)
        return;
    for (size_t i = 0; i < mappings->count; i++)
        if (guard_below(mappings, i) > 0)
            items[i].region = REGION_STACK;
}

static void
add_up(const struct mappings *mappings, struct resident *out)
{
    *out = (struct resident){.pss = mappings->pss,
                             .swap = mappings->swap,
                             .mappings = (unsigned)mappings->count};
    for (size_t i = 0; i < mappings->count; i++) {
        const struct smaps_mapping *mapping = &mappings->items[i];
        enum region region = mapping->region;

        out->rss[region] += mapping->rss - mapping->excess;
        out->rss[REGION_ANON] += mapping->excess;
        out->total += mapping->rss;
        if (!is_inaccessible(mapping))
            out->size[region] =
                add_saturating(out->size[region], mapping->end - mapping->start);
    }
}

int
smaps_read(FILE *file, const struct smaps_hints *hints, struct resident *out)
{
    struct mappings mappings = {0};
    int result = take_all(&mappings, file, hints);

    if (result == 0) {
        find_programs(&mappings);
        find_arenas(&mappings);
        find_stacks(&mappings, hints);
        add_up(&mappings, out);
    }
    free(mappings.items);
    return result;
}
