/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs that open shared objects: "PROGRAM CASE FILE". */
#include <dlfcn.h>
#include <malloc.h>

#include "cases.h"

static void *
opened(int flags)
{
    void *handle = dlopen(case_argv[2], flags);

    if (handle == NULL)
        puts(dlerror());
    REQUIRE(handle != NULL);
    return handle;
}

static void
local(void)
{
    int (*run)(void);

    *(void **)&run = dlsym(opened(RTLD_NOW | RTLD_LOCAL), "plugin_run");
    for (int i = 0; i < 3; i++)
        REQUIRE(run() == 100);
}

/* The same while an error waits for dlerror(), and three times, with the plugin and its
   runtime unloaded in between. */
static void
reopened(void)
{
    int (*run)(void);

    for (int i = 0; i < 3; i++) {
        void *handle = opened(RTLD_NOW | RTLD_LOCAL);
        const char *error;

        *(void **)&run = dlsym(handle, "plugin_run");
        REQUIRE(dlopen("./no-such-library.so", RTLD_NOW) == NULL);
        REQUIRE(run() == 100);
        error = dlerror();
        REQUIRE(error != NULL && strstr(error, "no-such-library") != NULL);
        REQUIRE(dlclose(handle) == 0);
    }
}

/* The library resizes and frees blocks of the plugin, and the reverse. */
static void
deep(void)
{
    void *handle = opened(RTLD_NOW | RTLD_DEEPBIND);
    void *(*deep_malloc)(size_t), *(*deep_realloc)(void *, size_t);
    void (*deep_free)(void *);
    size_t (*deep_usable)(void *);

    *(void **)&deep_malloc = dlsym(handle, "deep_malloc");
    *(void **)&deep_realloc = dlsym(handle, "deep_realloc");
    *(void **)&deep_free = dlsym(handle, "deep_free");
    *(void **)&deep_usable = dlsym(handle, "deep_usable");
    for (size_t size = 0; size < 100000; size = size * 3 / 2 + 1) {
        char *theirs = deep_malloc(size), *ours = malloc(size);
        memset(theirs, 'x', size);
        memset(ours, 'y', size);
        /* There may be an old trailer, of a block that the plugin has freed. */
        REQUIRE(deep_usable(theirs) - malloc_usable_size(theirs) <= 8);
        memset(theirs, 'x', malloc_usable_size(theirs));
        theirs = realloc(theirs, size + 1);
        REQUIRE(size == 0 || theirs[size - 1] == 'x');
        deep_free(deep_realloc(ours, size * 2 + 1));
        free(theirs);
        deep_free(malloc(size));
        free(deep_malloc(size));
    }
}

/* Opens the library itself.  This program's calls of malloc were bound to another
   allocator long before; and the address of malloc was taken, which in a program at a
   fixed address lies in the program. */
static void
late(void)
{
    void *(*volatile allocate)(size_t) = malloc;
    void *library = opened(RTLD_NOW | RTLD_GLOBAL);

    for (int i = 0; i < 1000; i++)
        free(allocate((size_t)i));
    REQUIRE(dlclose(library) == 0);
    free(malloc(10));
}

/* Opens the library in another namespace of the loader, with a C library of its own. */
static void
elsewhere(void)
{
    void *library = dlmopen(LM_ID_NEWLM, case_argv[2], RTLD_NOW);
    void *(*allocate)(size_t);
    void (*release)(void *);

    REQUIRE(library != NULL);
    *(void **)&allocate = dlsym(library, "malloc");
    *(void **)&release = dlsym(library, "free");
    for (size_t i = 0; i < 1000; i++) {
        char *block = allocate(i);
        memset(block, 1, i);
        release(block);
    }
    release(allocate(77));
}

CASES
    CASE(local) CASE(reopened) CASE(deep) CASE(late) CASE(elsewhere)
END_CASES
