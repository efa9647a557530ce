/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks up symbols as the loader does (the ELF gABI's chapter on dynamic linking; the
 * hash table of DT_GNU_HASH and the versions are GNU's), see lookup.h.
 *
 * The list of objects is the one debuggers read, struct r_debug of <link.h>: the program,
 * what was preloaded, then what they need, breadth first.  The loader searches them in
 * the same order.  What dlopen() adds comes after that.
 */
#include "config.h"

#include "preload/lookup.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "preload/real.h"

#if defined __aarch64__ && defined __GLIBC__
#include <sys/ifunc.h>
#endif

/* glibc's.  Weak, so that programs of other C libraries start, and so that the loader
   need not be listed as a library we need. */
extern __typeof__(_r_debug) _r_debug __attribute__((weak));

extern ElfW(Dyn) _DYNAMIC[] HIDDEN;

static struct link_map *first, *own, *libc;
static struct link_map *last; /* of those loaded with the program */
static bool late;
static unsigned loaded_first; /* objects, when the library started */
static int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

/* ---- one object ---- */

/* The parts of an object's dynamic section that are used here. */
struct tables {
    uintptr_t bias;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint16_t *versions;
    const uint32_t *gnu_hash, *hash;
    uintptr_t soname;
};

struct lookup_name {
    const char *text;
    uint32_t gnu_hash, hash;
};

/* glibc has added the bias to most addresses in the section itself; other C libraries,
   and glibc where the section cannot be written to, have not. */
static const void *
address_of(uintptr_t bias, uintptr_t value)
{
    return (const void *)(value < bias ? bias + value : value);
}

static struct tables
tables_of(uintptr_t bias, const ElfW(Dyn) * dynamic)
{
    struct tables tables = {.bias = bias};

    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
        const void *address = address_of(bias, dynamic->d_un.d_ptr);

        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            tables.symbols = address;
            break;
        case DT_STRTAB:
            tables.strings = address;
            break;
        case DT_VERSYM:
            tables.versions = address;
            break;
        case DT_GNU_HASH:
            tables.gnu_hash = address;
            break;
        case DT_HASH:
            tables.hash = address;
            break;
        case DT_SONAME:
            tables.soname = dynamic->d_un.d_val;
            break;
        }
    }
    return tables;
}

static struct lookup_name
name_of(const char *text)
{
    struct lookup_name name = {text, 5381, 0};

    for (const unsigned char *c = (const void *)text; *c != '\0'; c++) {
        name.gnu_hash = name.gnu_hash * 33 + *c;
        name.hash = (name.hash << 4) + *c;
        name.hash = (name.hash ^ (name.hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    return name;
}

/* Is this a definition with an address, visible to others, in the default version? */
static bool
is_definition(const struct tables *tables, uint32_t index, const char *name)
{
    const ElfW(Sym) *symbol = &tables->symbols[index];
    const unsigned type = ELF64_ST_TYPE(symbol->st_info),
                   bind = ELF64_ST_BIND(symbol->st_info);
    const unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);

    return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS
           && symbol->st_value != 0
           && (type <= STT_FUNC || type == STT_COMMON || type == STT_GNU_IFUNC)
           && (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE)
           && (visibility == STV_DEFAULT || visibility == STV_PROTECTED)
           && (tables->versions == NULL || (tables->versions[index] & 0x8000) == 0)
           && strcmp(tables->strings + symbol->st_name, name) == 0;
}

/* Returns the symbol's index, or 0 if there is none. */
static uint32_t
find_by_gnu_hash(const struct tables *tables, const struct lookup_name *name)
{
    const unsigned bits = 8 * sizeof(ElfW(Addr));
    const uint32_t *head = tables->gnu_hash, bucket_count = head[0],
                   hashed_from = head[1];
    const ElfW(Addr) *bloom = (const void *)(head + 4);
    const uint32_t *buckets = (const void *)(bloom + head[2]);
    const uint32_t *chains = buckets + bucket_count;
    ElfW(Addr) word = bloom[name->gnu_hash / bits & (head[2] - 1)];
    uint32_t index;

    if ((word >> name->gnu_hash % bits & word >> (name->gnu_hash >> head[3]) % bits & 1)
            == 0
        || bucket_count == 0
        || (index = buckets[name->gnu_hash % bucket_count]) < hashed_from)
        return 0;
    for (;; index++) {
        uint32_t hash = chains[index - hashed_from];

        if ((hash | 1) == (name->gnu_hash | 1)
            && is_definition(tables, index, name->text))
            return index;
        if (hash & 1) /* the last one of the bucket */
            return 0;
    }
}

static uint32_t
find_by_hash(const struct tables *tables, const struct lookup_name *name)
{
    const uint32_t bucket_count = tables->hash[0];
    const uint32_t *buckets = tables->hash + 2, *chains = buckets + bucket_count;
    uint32_t index = bucket_count != 0 ? buckets[name->hash % bucket_count] : 0;

    while (index != 0 && !is_definition(tables, index, name->text))
        index = chains[index];
    return index;
}

/* An ifunc: calls its resolver, with the arguments the loader would pass. */
static void *
chosen(uintptr_t resolver)
{
#if defined __aarch64__ && defined __GLIBC__
    __ifunc_arg_t features = {sizeof features, getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};

    return ((void *(*)(uint64_t, const __ifunc_arg_t *))resolver)(
        features._hwcap | _IFUNC_ARG_HWCAP, &features);
#else
    return ((void *(*)(void))resolver)();
#endif
}

static const ElfW(Sym) *
symbol_in(const struct tables *tables, const struct lookup_name *name)
{
    uint32_t index = 0;

    if (tables->symbols == NULL || tables->strings == NULL)
        return NULL;
    if (tables->gnu_hash != NULL)
        index = find_by_gnu_hash(tables, name);
    else if (tables->hash != NULL)
        index = find_by_hash(tables, name);
    return index != 0 ? &tables->symbols[index] : NULL;
}

static void *
find_in(const struct tables *tables, const struct lookup_name *name)
{
    const ElfW(Sym) *symbol = symbol_in(tables, name);

    if (symbol == NULL)
        return NULL;
    return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC
               ? chosen(tables->bias + symbol->st_value)
               : (void *)(tables->bias + symbol->st_value);
}

/* ---- the list ---- */

/* The r_debug pointer in the dynamic section of the program itself. */
static const struct r_debug *
debug_of_program(void)
{
    const ElfW(Phdr) *headers = (const void *)getauxval(AT_PHDR);
    const ElfW(Dyn) *dynamic = NULL;
    uintptr_t bias = 0;

    for (unsigned long i = 0; headers != NULL && i < getauxval(AT_PHNUM); i++)
        if (headers[i].p_type == PT_PHDR)
            bias = (uintptr_t)headers - headers[i].p_vaddr;
        else if (headers[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(bias + headers[i].p_vaddr);
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++)
        if (dynamic->d_tag == DT_DEBUG)
            return (const void *)dynamic->d_un.d_ptr;
    return NULL;
}

/* Caches what each object's dynamic section says: reading it is most of the work. */
static const struct tables *
tables_known(const struct link_map *map)
{
    static struct {
        const struct link_map *map;
        struct tables tables;
    } known[32], *slot;

    slot = &known[(uintptr_t)map / 64 % 32];
    if (slot->map != map) {
        slot->map = map;
        slot->tables = tables_of(map->l_addr, map->l_ld);
        /* The vdso stands in the list but is not searched. */
        if (map->l_addr != 0 && map->l_addr == getauxval(AT_SYSINFO_EHDR))
            slot->tables.symbols = NULL;
    }
    return &slot->tables;
}

static struct mt_symbol
find_from(struct link_map *map, const char *text)
{
    struct lookup_name name = name_of(text);

    for (; map != NULL; map = map->l_next) {
        void *address = find_in(tables_known(map), &name);

        if (address != NULL)
            return (struct mt_symbol){.address = address, .map = map};
    }
    return (struct mt_symbol){.address = NULL};
}

/* A namespace other than the program's (dlmopen) has its own list: _dl_find_object()
   (since glibc 2.35) finds our place in it. */
static void
find_own_elsewhere(void)
{
    int (*find)(void *, struct mt_object *);
    struct mt_object object;

    *(void **)&find = find_from(first, "_dl_find_object").address;
    if (find == NULL || find(_DYNAMIC, &object) != 0)
        return;
    own = first = object.map;
    while (first->l_prev != NULL)
        first = first->l_prev;
}

static bool
stands_before(const struct link_map *map, const struct link_map *other)
{
    while (map != NULL && map != other)
        map = map->l_next;
    return map != NULL;
}

void
mt_lookup_start(void)
{
    const struct r_debug *debug = &_r_debug != NULL ? &_r_debug : debug_of_program();

    first = debug != NULL ? debug->r_map : NULL;
    own = first;
    while (own != NULL && own->l_ld != _DYNAMIC)
        own = own->l_next;
    if (own == NULL)
        find_own_elsewhere();
    loaded_first = 0;
    for (const struct link_map *map = first; map != NULL; map = map->l_next)
        loaded_first++;
    libc = find_from(first, "gnu_get_libc_version").map;
    late = libc != NULL && own != NULL && stands_before(libc, own);
    last = first;
    while (!late && last != NULL && last->l_next != NULL)
        last = last->l_next;
    *(void **)&iterate = libc != NULL ? mt_lookup_libc("dl_iterate_phdr")
                                      : mt_lookup_next("dl_iterate_phdr").address;
}

struct mt_symbol
mt_lookup_next(const char *name)
{
    struct mt_symbol found = find_from(late || own == NULL ? first : own->l_next, name);

    return found.map != NULL && found.map == own ? find_from(own->l_next, name) : found;
}

struct mt_symbol
mt_lookup_first(const char *name)
{
    return find_from(first, name);
}

struct mt_symbol
mt_lookup_lasting(const char *text)
{
    const struct lookup_name name = name_of(text);
    const uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);

    for (struct link_map *map = first; map != NULL;
         map = map != last ? map->l_next : NULL) {
        struct tables tables = tables_of(map->l_addr, map->l_ld);
        void *address = NULL;

        if (map->l_addr == 0 || map->l_addr != vdso)
            address = find_in(&tables, &name);
        if (address != NULL)
            return (struct mt_symbol){address, map, symbol_in(&tables, &name)->st_size};
    }
    return (struct mt_symbol){.address = NULL};
}

bool
mt_lookup_late(void)
{
    return late;
}

struct link_map *
mt_lookup_list(void)
{
    return first;
}

struct link_map *
mt_lookup_own(void)
{
    return own;
}

void *
mt_lookup_libc(const char *text)
{
    return libc != NULL ? mt_lookup_in(
               &(struct mt_loaded){.bias = libc->l_addr, .dynamic = libc->l_ld}, text)
                        : NULL;
}

/* ---- at any time ---- */

struct search {
    const char *soname, *name;
    struct mt_loaded *found;
};

static bool
is_called(const struct mt_loaded *object, const char *soname)
{
    struct tables tables = tables_of(object->bias, object->dynamic);

    return tables.strings != NULL && tables.soname != 0
           && strcmp(tables.strings + tables.soname, soname) == 0;
}

static int
visit(struct dl_phdr_info *info, size_t size, void *argument)
{
    const struct search *search = argument;
    struct mt_loaded object = {info->dlpi_addr, info->dlpi_phdr, NULL, info->dlpi_phnum};

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            object.dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    if ((search->soname != NULL && !is_called(&object, search->soname))
        || (search->name != NULL && mt_lookup_in(&object, search->name) == NULL))
        return 0;
    *search->found = object;
    return 1;
}

bool
mt_lookup_loaded(const char *soname, const char *name, struct mt_loaded *found)
{
    struct search search = {soname, name, found};

    return iterate != NULL && iterate(visit, &search) != 0;
}

struct lookup_each {
    int (*visit)(struct dl_phdr_info *, size_t, void *);
    void *argument;
    unsigned left;
};

/* Objects that are loaded later come at the end of the list. */
static int
visit_each(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct lookup_each *each = argument;

    return each->left-- == 0 || each->visit(info, size, each->argument) != 0;
}

void
mt_lookup_each(int (*each_visit)(struct dl_phdr_info *, size_t, void *), void *argument)
{
    struct lookup_each each = {each_visit, argument, loaded_first};

    if (iterate != NULL)
        iterate(visit_each, &each);
}

void *
mt_lookup_in(const struct mt_loaded *object, const char *text)
{
    struct tables tables = tables_of(object->bias, object->dynamic);
    struct lookup_name name = name_of(text);

    return find_in(&tables, &name);
}
