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
#include "preload/sites/growing.h"
#include "preload/sites/index.h"
#include "preload/sites/python.h"
#include "preload/state.h"
#include "segment/seqlock.h"

#define SHARE_ALL 16u

/* What a process gets that will have no memory later. */
#define PREPARED_WORDS   8192u
#define PREPARED_MODULES 32u

static struct mt_growing pool = {.offset = SITES_POOL_AT,
                                 .entry = sizeof(uint64_t),
                                 .first = 4096,
                                 .limit = SITES_POOL_WORDS,
                                 .share = SHARE_ALL};
static struct mt_growing modules = {.offset = SITES_MODULES_AT,
                                    .entry = sizeof(struct sites_module),
                                    .first = 16,
                                    .limit = SITES_MODULES,
                                    .share = SHARE_ALL};
static struct mt_growing places = {.offset = SITES_PLACES_AT,
                                   .entry = sizeof(struct site_place),
                                   .first = 16,
                                   .limit = SITES_PLACES,
                                   .share = SHARE_ALL};
static struct mt_index stack_index; /* ids */
static struct mt_index place_index; /* numbers, from 1 */
static struct sites_head *head;

/* The parent's tables, in a child that has none yet. */
static struct {
    struct mt_growing pool, modules, places;
    uint32_t pool_used, modules_used, places_used;
    uint64_t stacks, has_modules;
} parent;

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

static uint64_t *
word_at(uint32_t index)
{
    return growing_at(&pool, index);
}

static struct sites_module *
module_at(uint32_t index)
{
    return growing_at(&modules, index);
}

/* Id 0 means no stack.  Readers assume that all words below pool_used are present. */
bool
mt_stacks_attach(struct sites_head *sites)
{
    if (!growing_has(&pool, 1))
        return false;
    sites->pool_used = 1;
    sites->places_used = 1;
    head = sites;
    return true;
}

void
mt_stacks_prepare(void)
{
    growing_has(&pool, PREPARED_WORDS);
    growing_has(&modules, PREPARED_MODULES);
}

bool
mt_stacks_copy(void)
{
    if (parent.pool_used == 0 || !growing_has(&pool, parent.pool_used)
        || (parent.modules_used > 0 && !growing_has(&modules, parent.modules_used))
        || (parent.places_used > 1 && !growing_has(&places, parent.places_used)))
        return false;
    if (parent.places_used > 1)
        growing_copy(&places, &parent.places, parent.places_used);
    head->places_used = parent.places_used > 0 ? parent.places_used : 1;
    growing_copy(&pool, &parent.pool, parent.pool_used);
    growing_copy(&modules, &parent.modules, parent.modules_used);
    head->pool_used = parent.pool_used;
    head->modules_used = parent.modules_used;
    head->stacks = parent.stacks;
    head->has_modules = parent.has_modules;
    return true;
}

void
mt_stacks_release(void)
{
    growing_unmap(&parent.pool);
    growing_unmap(&parent.modules);
    growing_unmap(&parent.places);
}

void
mt_stacks_forked(void)
{
    parent.pool = pool;
    parent.modules = modules;
    parent.places = places;
    parent.places_used = growing_mapped(
        &places, __atomic_load_n(&head->places_used, __ATOMIC_ACQUIRE));
    parent.pool_used =
        growing_mapped(&pool, __atomic_load_n(&head->pool_used, __ATOMIC_ACQUIRE));
    parent.modules_used =
        growing_mapped(&modules, __atomic_load_n(&head->modules_used, __ATOMIC_ACQUIRE));
    parent.stacks = head->stacks;
    parent.has_modules = head->has_modules;
    growing_forget(&pool);
    growing_forget(&modules);
    growing_forget(&places);
    head = NULL;
}

void
mt_stacks_make_private(void)
{
    growing_make_private(&pool);
    growing_make_private(&modules);
    growing_make_private(&places);
}

void
mt_stacks_unmap(void)
{
    growing_unmap(&pool);
    growing_unmap(&modules);
    growing_unmap(&places);
    head = NULL;
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
        const struct sites_module *module = module_at(i);

        if (module->start == (uintptr_t)object->start && module->ready
            && module->end == (uintptr_t)object->end
            && strncmp(module->path, path_of(object->map), SITE_PATH_LEN) == 0)
            return true;
    }
    return false;
}

/* An object without a build-id is identified by its file: that is asked of the kernel,
   once. */
static void
note_file(struct sites_module *module)
{
    struct stat file;

    if (mt_sandboxed || module->path[0] != '/' || module->path_cut
        || syscall(SYS_newfstatat, AT_FDCWD, module->path, &file, 0) != 0)
        return;
    module->device = file.st_dev;
    module->inode = file.st_ino;
}

static void
enter_object(const struct mt_object *object, uint64_t now)
{
    uint32_t index = __atomic_load_n(&head->modules_used, __ATOMIC_RELAXED);
    struct sites_module *module;

    do {
        if (!growing_has(&modules, index + 1)) {
            word_add_shared(&head->lost_modules, 1);
            return;
        }
    } while (!__atomic_compare_exchange_n(&head->modules_used, &index, index + 1, false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    module = module_at(index);
    module->start = (uintptr_t)object->start;
    module->end = (uintptr_t)object->end;
    module->bias = object->map->l_addr;
    module->seen_ns = now;
    copy_path(module, path_of(object->map));
    note_build_id(module);
    if (module->build_id_size == 0)
        note_file(module);
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

        if (site_is_place((uintptr_t)frames[i])
            || (uintptr_t)frames[i] - start < end - start
            || !mt_object_of(frames[i], &object))
            continue;
        start = (uintptr_t)object.start;
        end = (uintptr_t)object.end;
        if (!is_entered(&object))
            enter_object(&object, now);
    }
}

/* ---- places ---- */

static struct site_place *
place_at(uint32_t number)
{
    return growing_at(&places, number);
}

static bool
is_place(uint32_t number, const void *key)
{
    const struct mt_python_place *wanted = key;
    const struct site_place *place = place_at(number);

    return __atomic_load_n(&place->ready, __ATOMIC_ACQUIRE) != 0
           && place->line == wanted->line && place->first_line == wanted->first_line
           && strncmp(place->name, wanted->name, sizeof place->name) == 0
           && strncmp(place->file, wanted->file, sizeof place->file) == 0;
}

/* Without a NUL if there is no space for it. */
static void
copy_text(char *to, size_t size, const char *from)
{
    for (size_t i = 0; i < size && from[i] != '\0'; i++)
        to[i] = from[i];
}

static uint32_t
enter_place(const void *key)
{
    const struct mt_python_place *wanted = key;
    uint64_t number = __atomic_load_n(&head->places_used, __ATOMIC_RELAXED);
    struct site_place *place;

    do {
        if (number == 0 || !growing_has(&places, (uint32_t)number + 1))
            return 0;
    } while (!__atomic_compare_exchange_n(&head->places_used, &number, number + 1, false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    place = place_at((uint32_t)number);
    place->line = wanted->line;
    place->first_line = wanted->first_line;
    copy_text(place->name, sizeof place->name, wanted->name);
    copy_text(place->file, sizeof place->file, wanted->file);
    __atomic_store_n(&place->ready, 1, __ATOMIC_RELEASE);
    return (uint32_t)number;
}

static uint64_t
hash_text(const char *text)
{
    uint64_t hash = 0, word;
    size_t left = strlen(text);

    for (; left > 0;
         text += sizeof word, left -= left < sizeof word ? left : sizeof word) {
        word = 0;
        memcpy(&word, text, left < sizeof word ? left : sizeof word);
        word ^= hash;
        hash = mt_sites_hash(&word, 1);
    }
    return hash;
}

uint32_t
mt_stacks_place(const struct mt_python_place *place)
{
    const uint64_t words[] = {hash_text(place->name), hash_text(place->file),
                              place->line};
    const struct mt_index_key key = {.hash = mt_sites_hash(words, 3),
                                     .is = is_place,
                                     .make = enter_place,
                                     .key = place};
    uint32_t number = mt_index_find(&place_index, &key);

    if (number == 0)
        word_add_shared(&head->lost_places, 1);
    return number;
}

/* ---- stacks ---- */

/* A stack that is looked for. */
struct wanted {
    uint64_t header;
    const void *const *frames;
    size_t depth;
    uint64_t now;
};

/* The first of count adjacent words from index on: a stack lies in one chunk. */
static uint32_t
in_one_chunk(uint32_t index, uint32_t count)
{
    unsigned chunk = growing_chunk(&pool, index + count - 1);

    return growing_chunk(&pool, index) == chunk ? index : growing_start(&pool, chunk);
}

/* Takes words from the pool; returns the first one's index, or 0 if there are none
   left. */
static uint32_t
take_words(uint32_t count)
{
    uint32_t used = __atomic_load_n(&head->pool_used, __ATOMIC_RELAXED), first;

    do {
        first = in_one_chunk(used, count);
        if (used == 0 || first > SITES_POOL_WORDS - count
            || !growing_has(&pool, first + count))
            return 0;
    } while (!__atomic_compare_exchange_n(&head->pool_used, &used, first + count, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return first;
}

static uint32_t
enter_stack(const void *key)
{
    const struct wanted *wanted = key;
    uint32_t id;
    uint64_t *words;

    note_objects(wanted->frames, wanted->depth, wanted->now);
    id = take_words((uint32_t)wanted->depth + 1);
    if (id == 0)
        return 0;
    words = word_at(id);
    for (size_t i = 0; i < wanted->depth; i++)
        word_store(&words[1 + i], (uintptr_t)wanted->frames[i]);
    __atomic_store_n(&words[0], wanted->header, __ATOMIC_RELEASE);
    word_add_shared(&head->stacks, 1);
    return id;
}

static bool
is_stack(uint32_t id, const void *key)
{
    const struct wanted *wanted = key;
    const uint64_t *words = word_at(id);

    return words[0] == wanted->header
           && memcmp(&words[1], wanted->frames, wanted->depth * sizeof *words) == 0;
}

uint32_t
mt_stacks_intern(const void *const *frames, size_t depth, uint64_t now)
{
    uint64_t hash = mt_sites_hash(frames, depth);
    const struct wanted wanted = {
        .header = (hash & ~UINT64_C(0xff)) | depth,
        .frames = frames,
        .depth = depth,
        .now = now,
    };
    int saved_errno = errno;
    uint32_t id;

    if (depth == 0)
        return 0;
    id = mt_index_find(&stack_index, &(struct mt_index_key){.hash = hash >> 32,
                                                            .is = is_stack,
                                                            .make = enter_stack,
                                                            .key = &wanted});
    if (id == 0)
        word_add_shared(&head->lost_stacks, 1);
    errno = saved_errno;
    return id;
}
