/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols found in the tables of loaded objects, compared with dlsym(): all names that
 * the C library, libm and libstdc++ define, including functions with several
 * implementations.
 */
#include "config.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "preload/lookup.h"

static const char *const libraries[] = {"libc.so.6", "libm.so.6", "libstdc++.so.6"};
#define LIBRARIES (sizeof libraries / sizeof libraries[0])

/* ---- all names of a file ---- */

struct looked_up_file {
    const unsigned char *bytes;
    size_t size;
    const ElfW(Sym) * symbols;
    size_t count;
    const char *strings;
};

static void
open_file(const char *path, struct looked_up_file *file)
{
    const ElfW(Ehdr) * header;
    const ElfW(Shdr) * sections;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(0, fstat(fd, &st));
    file->size = (size_t)st.st_size;
    file->bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(file->bytes != MAP_FAILED);
    close(fd);
    header = (const void *)file->bytes;
    sections = (const void *)(file->bytes + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_DYNSYM) {
            file->symbols = (const void *)(file->bytes + sections[i].sh_offset);
            file->count = sections[i].sh_size / sizeof *file->symbols;
            file->strings =
                (const char *)file->bytes + sections[sections[i].sh_link].sh_offset;
        }
    assert_true(file->count > 100);
}

static struct link_map *
loaded(const char *soname)
{
    void *handle = dlopen(soname, RTLD_NOW | RTLD_GLOBAL);
    struct link_map *map = NULL;

    if (handle != NULL)
        assert_int_equal(0, dlinfo(handle, RTLD_DI_LINKMAP, &map));
    return map;
}

/* Does it have an address, the same one in all threads? */
static bool
has_address(const ElfW(Sym) * symbol)
{
    return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS
           && ELF64_ST_TYPE(symbol->st_info) != STT_TLS;
}

static int
open_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < LIBRARIES; i++)
        loaded(libraries[i]);
    mt_lookup_start();
    return 0;
}

/* Returns the number of names compared. */
static size_t
compare(const struct looked_up_file *file)
{
    size_t compared = 0;

    for (size_t i = 0; i < file->count; i++) {
        const char *name = file->strings + file->symbols[i].st_name;

        if (!has_address(&file->symbols[i]))
            continue;
        if (mt_lookup_first(name).address != dlsym(RTLD_DEFAULT, name)
            || mt_lookup_next(name).address != dlsym(RTLD_NEXT, name))
            fail_msg("%s: %p, next %p; dlsym: %p, next %p", name,
                     mt_lookup_first(name).address, mt_lookup_next(name).address,
                     dlsym(RTLD_DEFAULT, name), dlsym(RTLD_NEXT, name));
        compared++;
    }
    return compared;
}

static void
test_all_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < LIBRARIES; i++) {
        struct link_map *map = loaded(libraries[i]);
        struct looked_up_file file = {0};
        size_t compared;

        if (map == NULL) {
            print_message("  no %s here\n", libraries[i]);
            continue;
        }
        open_file(map->l_name, &file);
        compared = compare(&file);
        print_message("  %s: %zu names\n", libraries[i], compared);
        assert_true(compared > 500);
        munmap((void *)(uintptr_t)file.bytes, file.size);
    }
}

static void
test_holders(void **state)
{
    const char *name = mt_lookup_next("malloc").map->l_name;

    (void)state;
    assert_non_null(strstr(name, ".so"));
    assert_ptr_equal(loaded("libm.so.6"), mt_lookup_next("cos").map);
    assert_null(mt_lookup_next("no_such_name").address);
    assert_null(mt_lookup_next("no_such_name").map);
    assert_null(mt_lookup_next("main").address); /* of the program itself */
    assert_null(mt_lookup_next("").address);
    assert_ptr_equal(dlsym(loaded("libc.so.6"), "backtrace"),
                     mt_lookup_libc("backtrace"));
    assert_null(mt_lookup_libc("cos"));
}

static void
test_own(void **state)
{
    (void)state;
    assert_non_null(mt_lookup_own());
    assert_string_equal("", mt_lookup_own()->l_name); /* the program itself */
    assert_false(mt_lookup_late());
}

static void
test_loaded(void **state)
{
    struct mt_loaded found, any;

    (void)state;
    assert_true(mt_lookup_loaded("libm.so.6", NULL, &found));
    assert_true(mt_lookup_loaded(NULL, "cos", &any));
    assert_int_equal(found.bias, any.bias);
    assert_ptr_equal(dlsym(RTLD_DEFAULT, "cos"), mt_lookup_in(&found, "cos"));
    assert_false(mt_lookup_loaded("libm.so.6", "malloc", &found));
    assert_false(mt_lookup_loaded("libm.so", NULL, &found));
    assert_false(mt_lookup_loaded(NULL, "no_such_name", &found));
}

static int
count(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    assert_null(strstr(info->dlpi_name, "deep.plugin"));
    ++*(unsigned *)argument;
    return 0;
}

/* The objects of the start, whatever came later. */
static void
test_each(void **state)
{
    unsigned before = 0, after = 0;
    void *plugin;

    (void)state;
    mt_lookup_each(count, &before);
    assert_in_range(before, 3, 20);
    plugin = dlopen("tests/preload/programs/deep.plugin", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(plugin);
    mt_lookup_each(count, &after);
    dlclose(plugin);
    assert_int_equal(before, after);
}

/* A hash table of the older kind; and a dynamic section to which nobody has added the
   object's address, because the kernel's own object is read-only. */
static void
test_other_tables(void **state)
{
    void *handle = dlopen("tests/preload/programs/deep.plugin", RTLD_NOW | RTLD_LOCAL);
    struct mt_loaded found;

    (void)state;
    assert_non_null(handle);
    assert_true(mt_lookup_loaded(NULL, "deep_realloc", &found));
    assert_ptr_equal(dlsym(handle, "deep_realloc"), mt_lookup_in(&found, "deep_realloc"));
    /* It was not loaded with the program, as libc was. */
    assert_non_null(mt_lookup_first("deep_realloc").address);
    assert_null(mt_lookup_lasting("deep_realloc").address);
    assert_ptr_equal(dlsym(RTLD_DEFAULT, "getenv"), mt_lookup_lasting("getenv").address);
    assert_null(mt_lookup_in(&found, "malloc")); /* used, not defined */
    assert_null(mt_lookup_in(&found, "no_such_name"));
    dlclose(handle);
    assert_false(mt_lookup_loaded(NULL, "deep_realloc", &found));
    handle = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (handle == NULL)
        skip();
    assert_true(mt_lookup_loaded("linux-vdso.so.1", "__vdso_time", &found));
    assert_ptr_equal(dlsym(handle, "__vdso_time"), mt_lookup_in(&found, "__vdso_time"));
}

/* The program's next dlerror() reports only its own errors. */
static void
test_dlerror(void **state)
{
    struct mt_loaded found;

    (void)state;
    dlerror();
    mt_lookup_next("no_such_name");
    mt_lookup_loaded("no_such_library", NULL, &found);
    assert_null(dlerror());
    assert_null(dlopen("./no_such_library.so", RTLD_NOW));
    mt_lookup_next("malloc");
    mt_lookup_loaded("libm.so.6", "cos", &found);
    assert_non_null(strstr(dlerror(), "no_such_library.so"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_names),    cmocka_unit_test(test_holders),
        cmocka_unit_test(test_own),          cmocka_unit_test(test_loaded),
        cmocka_unit_test(test_each),         cmocka_unit_test(test_dlerror),
        cmocka_unit_test(test_other_tables),
    };

    return cmocka_run_group_tests(tests, open_all, NULL);
}
