/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interns call stacks.  A stack is written to the pool first and then published by one
 * atomic operation on the index, which lies in private memory: open addressing with few
 * probes; nothing is ever removed.  Two threads may enter the same stack at once; then
 * one uses the other's, or, if their slots differ, both stay.
 */
#include "config.h"

#include "preload/sites/stacks.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/publish.h"
#include "preload/real.h"
#include "preload/state.h"
#include "segment/seqlock.h"

#define INDEX_SLOTS (1u << 17)
#define PROBES      64u

/* Pages are made present in steps of this many bytes. */
#define PRESENT_STEP 65536u

static uint32_t *stack_index; /* ids */
static struct sites_head *head;
static uint64_t *pool;
static struct sites_module *modules;
static uint64_t pool_present, modules_present;

/* ---- pages ---- */

bool
mt_sites_present(uint64_t *present, unsigned char *table, uint64_t end, uint64_t limit)
{
    uint64_t seen = word_load(present);

    while (seen < end) {
        uint64_t step = limit - seen < PRESENT_STEP ? limit - seen : PRESENT_STEP;

        if (end > limit || mt_sandboxed || !mt_make_present(table + seen, step))
            return false;
        /* If another thread has done the same meanwhile, no harm is done. */
        if (__atomic_compare_exchange_n(present, &seen, seen + step, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            seen += step;
    }
    return true;
}

uint64_t
mt_sites_hash(const void *words, size_t count)
{
    const uint64_t *word = words;
    uint64_t hash = count;

    /* The finaliser of splitmix64, see draw.c. */
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ word[i]) * UINT64_C(0xbf58476d1ce4e5b9);
        hash ^= hash >> 32;
    }
    hash *= UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

bool
mt_stacks_start(void)
{
    void *memory;

    if (stack_index != NULL)
        return true;
    memory = (void *)syscall(SYS_mmap, NULL, INDEX_SLOTS * sizeof *stack_index,
                             PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, (off_t)0);
    if (memory == MAP_FAILED)
        return false;
    stack_index = memory;
    return true;
}

static void
attach(unsigned char *sites)
{
    head = (void *)sites;
    pool = (void *)(sites + SITES_POOL_AT);
    modules = (void *)(sites + SITES_MODULES_AT);
    pool_present = modules_present = mt_present_later() ? 0 : SITES_AHEAD;
}

static bool
pool_has(uint32_t words)
{
    return mt_sites_present(&pool_present, (unsigned char *)pool,
                            (uint64_t)words * sizeof *pool,
                            SITES_POOL_WORDS * sizeof *pool);
}

/* Id 0 means no stack.  Readers assume that all words below pool_used are present. */
void
mt_stacks_attach(unsigned char *sites)
{
    attach(sites);
    head->pool_used = pool_has(1);
}

static bool
modules_have(uint32_t count)
{
    return mt_sites_present(&modules_present, (unsigned char *)modules,
                            (uint64_t)count * sizeof *modules,
                            SITES_MODULES * sizeof *modules);
}

bool
mt_stacks_copy(unsigned char *sites, const unsigned char *parent)
{
    const struct sites_head *other = (const void *)parent;
    uint32_t words = __atomic_load_n(&other->pool_used, __ATOMIC_ACQUIRE);
    uint32_t objects = __atomic_load_n(&other->modules_used, __ATOMIC_ACQUIRE);

    attach(sites);
    if (words == 0 || words > SITES_POOL_WORDS || objects > SITES_MODULES
        || !pool_has(words) || !modules_have(objects))
        return false;
    memcpy(pool, parent + SITES_POOL_AT, words * sizeof *pool);
    memcpy(modules, parent + SITES_MODULES_AT, objects * sizeof *modules);
    head->pool_used = words;
    head->modules_used = objects;
    head->stacks = other->stacks;
    return true;
}

/* ---- objects ---- */

static void
copy_path(struct sites_module *module, const char *path)
{
    size_t length = strlen(path);

    module->path_cut = length >= SITE_PATH_LEN;
    memcpy(module->path, path, length < SITE_PATH_LEN ? length : SITE_PATH_LEN);
}

/* Takes the build-id from one note of a PT_NOTE segment, if it is one (NT_GNU_BUILD_ID of
   elf.h). */
static bool
take_build_id(struct sites_module *module, const ElfW(Nhdr) *note)
{
    const unsigned char *name = (const void *)(note + 1);

    if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4
        || memcmp(name, "GNU", 4) != 0 || note->n_descsz > SITE_BUILD_ID_LEN)
        return false;
    memcpy(module->build_id, name + 4, note->n_descsz);
    module->build_id_size = note->n_descsz;
    return true;
}

static void
search_notes(struct sites_module *module, uintptr_t start, uint64_t size)
{
    uintptr_t end = start + size;

    if (start < module->start || end > module->end || end < start)
        return;
    while (start + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const void *)start;
        uint64_t length = sizeof *note + ((note->n_namesz + 3) & ~UINT64_C(3))
                          + ((note->n_descsz + 3) & ~UINT64_C(3));

        if (length > end - start || take_build_id(module, note))
            return;
        start += length;
    }
}

/* The ELF headers lie at the beginning of the first mapping. */
static void
note_build_id(struct sites_module *module)
{
    const ElfW(Ehdr) *file = (const void *)module->start;
    const ElfW(Phdr) *header;

    if (memcmp(file->e_ident, ELFMAG, SELFMAG) != 0
        || file->e_phoff + file->e_phnum * sizeof *header > SEGMENT_PAGE)
        return;
    header = (const void *)(module->start + file->e_phoff);
    for (unsigned i = 0; i < file->e_phnum && module->build_id_size == 0; i++)
        if (header[i].p_type == PT_NOTE)
            search_notes(module, module->bias + header[i].p_vaddr, header[i].p_memsz);
}

/* The program itself has no name in the list. */
static const char *
path_of(const struct link_map *map)
{
    return map->l_name[0] != '\0' ? map->l_name : mt_segment.header->program;
}

static bool
is_entered(const struct mt_object *object)
{
    uint32_t used = __atomic_load_n(&head->modules_used, __ATOMIC_ACQUIRE);

    for (uint32_t i = used < SITES_MODULES ? used : SITES_MODULES; i-- > 0;) {
        const struct sites_module *module = &modules[i];

        if (module->start == (uintptr_t)object->start && module->ready
            && module->end == (uintptr_t)object->end
            && strncmp(module->path, path_of(object->map), SITE_PATH_LEN) == 0)
            return true;
    }
    return false;
}

/* Enters an object.  Its build-id identifies the file mapped there; without one, file
   does (NULL: unknown). */
static void
enter_object(const struct mt_object *object, const struct stat *file, uint64_t now)
{
    uint32_t index = __atomic_load_n(&head->modules_used, __ATOMIC_RELAXED);
    struct sites_module *module;

    do {
        if (index >= SITES_MODULES
            || !modules_have(index + 1)) {
            word_add_shared(&head->lost_modules, 1);
            return;
        }
    } while (!__atomic_compare_exchange_n(&head->modules_used, &index, index + 1, false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    module = &modules[index];
    module->start = (uintptr_t)object->start;
    module->end = (uintptr_t)object->end;
    module->bias = object->map->l_addr;
    module->seen_ns = now;
    copy_path(module, path_of(object->map));
    note_build_id(module);
    if (file != NULL) {
        module->device = file->st_dev;
        module->inode = file->st_ino;
    }
    __atomic_store_n(&module->ready, 1, __ATOMIC_RELEASE);
}

/* Enters the objects in which frames lie.  They cannot be unloaded meanwhile, because the
   frames will return to them. */
static void
note_objects(const void *const *frames, size_t depth, uint64_t now)
{
    uintptr_t start = 0, end = 0;

    if (mt_real._dl_find_object == NULL)
        return;
    head->has_modules = 1;
    for (size_t i = 0; i < depth; i++) {
        struct mt_object object;

        if ((uintptr_t)frames[i] - start < end - start
            || !mt_object_of(frames[i], &object))
            continue;
        start = (uintptr_t)object.start;
        end = (uintptr_t)object.end;
        if (!is_entered(&object))
            enter_object(&object, NULL, now);
    }
}

static bool
has_build_id(const struct mt_object *object)
{
    struct sites_module module = {
        .start = (uintptr_t)object->start,
        .end = (uintptr_t)object->end,
        .bias = object->map->l_addr,
    };

    note_build_id(&module);
    return module.build_id_size > 0;
}

void
mt_stacks_loaded(const struct link_map *first, uint64_t now)
{
    for (const struct link_map *map = first; map != NULL; map = map->l_next) {
        struct mt_object object;
        struct stat file;

        if (mt_object_of(map->l_ld, &object) && !has_build_id(&object)
            && syscall(SYS_newfstatat, AT_FDCWD, path_of(map), &file, 0) == 0)
            enter_object(&object, &file, now);
    }
}

/* ---- stacks ---- */

/* Takes words from the pool; returns the first one's index, or 0 if there are none
   left. */
static uint32_t
take_words(uint32_t count)
{
    uint32_t first = __atomic_load_n(&head->pool_used, __ATOMIC_RELAXED);

    do {
        if (first == 0 || first > SITES_POOL_WORDS - count
            || !pool_has(first + count))
            return 0;
    } while (!__atomic_compare_exchange_n(&head->pool_used, &first, first + count, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return first;
}

static uint32_t
write_stack(uint64_t header, const void *const *frames, size_t depth)
{
    uint32_t id = take_words((uint32_t)depth + 1);

    if (id == 0)
        return 0;
    for (size_t i = 0; i < depth; i++)
        word_store(&pool[id + 1 + i], (uintptr_t)frames[i]);
    __atomic_store_n(&pool[id], header, __ATOMIC_RELEASE);
    return id;
}

/* Looks for a stack from its slot on; enters it if it is new. */
static uint32_t
find_stack(uint64_t hash, const void *const *frames, size_t depth, uint64_t now)
{
    uint64_t header = (hash & ~UINT64_C(0xff)) | depth;
    uint32_t written = 0;

    for (unsigned probe = 0; probe < PROBES; probe++) {
        uint32_t *slot = &stack_index[((hash >> 32) + probe) % INDEX_SLOTS];
        uint32_t id = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

        if (id == 0) {
            if (written == 0) {
                note_objects(frames, depth, now);
                written = write_stack(header, frames, depth);
            }
            if (written == 0)
                return 0;
            if (__atomic_compare_exchange_n(slot, &id, written, false, __ATOMIC_RELEASE,
                                            __ATOMIC_ACQUIRE)) {
                word_add_shared(&head->stacks, 1);
                return written;
            }
        }
        if (pool[id] == header
            && memcmp(&pool[id + 1], frames, depth * sizeof *pool) == 0)
            return id;
    }
    return 0;
}

uint32_t
mt_stacks_intern(const void *const *frames, size_t depth, uint64_t now)
{
    int saved_errno = errno;
    uint32_t id;

    if (depth == 0)
        return 0;
    id = find_stack(mt_sites_hash(frames, depth), frames, depth, now);
    if (id == 0)
        word_add_shared(&head->lost_stacks, 1);
    errno = saved_errno;
    return id;
}
