/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In which loaded object an address lies, see objects.h. */
#include "config.h"

#include "preload/sites/objects.h"

#ifdef ARCH_COLUMNS

#include <elf.h>
#include <link.h>
#include <string.h>

#include "preload/lookup.h"
#include "preload/real.h"

#define PAGE ((uintptr_t)SEGMENT_PAGE)

/* ---- one object ---- */

/* The part of the object that can be read and holds the address, as far as its file
   reaches. */
static struct cfi_range
range_of(uintptr_t bias, const ElfW(Phdr) * headers, unsigned count, uintptr_t address)
{
    for (unsigned i = 0; i < count; i++) {
        uintptr_t start = bias + headers[i].p_vaddr;

        if (headers[i].p_type == PT_LOAD && (headers[i].p_flags & PF_R) != 0
            && address - start < headers[i].p_filesz)
            return (struct cfi_range){start, start + headers[i].p_filesz};
    }
    return (struct cfi_range){0, 0};
}

static void
set_tables(struct code_object *object, uintptr_t bias, const ElfW(Phdr) * headers,
           unsigned count, uintptr_t header)
{
    object->tables.header = header;
    object->tables.readable = range_of(bias, headers, count, header);
    if (object->tables.readable.end == 0)
        object->tables.header = 0;
}

/* ---- as the loader says ---- */

/* The ELF headers lie at the beginning of the first mapping. */
static bool
find_by_loader(uintptr_t address, struct code_object *object)
{
    const ElfW(Ehdr) * file;
    struct mt_object found;

    if (!mt_object_of((const void *)address, &found))
        return false;
    file = found.start;
    object->mapped = (struct cfi_range){(uintptr_t)found.start, (uintptr_t)found.end};
    object->tables.header = 0;
    if (found.tables != NULL && memcmp(file->e_ident, ELFMAG, SELFMAG) == 0
        && file->e_phoff + file->e_phnum * sizeof(ElfW(Phdr)) <= PAGE)
        set_tables(object, found.map->l_addr,
                   (const void *)(object->mapped.start + file->e_phoff), file->e_phnum,
                   (uintptr_t)found.tables);
    return true;
}

/* ---- as noted at the start ---- */

#define NOTED_MAX 128u

static struct code_object noted[NOTED_MAX];
static uint32_t noted_count;

static int
note(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct code_object object = {.mapped = {UINTPTR_MAX, 0}};
    uintptr_t header = 0;
    uint32_t *count = argument;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;

        if (part->p_type == PT_GNU_EH_FRAME)
            header = start;
        if (part->p_type != PT_LOAD)
            continue;
        if (start < object.mapped.start)
            object.mapped.start = start;
        if (end > object.mapped.end)
            object.mapped.end = end;
    }
    if (header != 0)
        set_tables(&object, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, header);
    noted[(*count)++] = object;
    return *count == NOTED_MAX;
}

void
mt_objects_start(void)
{
    uint32_t count = 0;

    if (mt_real._dl_find_object != NULL || noted_count > 0)
        return;
    mt_lookup_each(note, &count);
    __atomic_store_n(&noted_count, count, __ATOMIC_RELEASE);
}

static bool
find_noted(uintptr_t address, struct code_object *object)
{
    uint32_t count = __atomic_load_n(&noted_count, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < count; i++)
        if (address - noted[i].mapped.start
            < noted[i].mapped.end - noted[i].mapped.start) {
            *object = noted[i];
            return true;
        }
    return false;
}

bool
mt_objects_find(uintptr_t address, struct code_object *object)
{
    return mt_real._dl_find_object != NULL ? find_by_loader(address, object)
                                           : find_noted(address, object);
}

#endif
