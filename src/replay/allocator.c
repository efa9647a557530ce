/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An allocator is recognised by functions that only it exports.  What comes first in the
 * search for malloc does not identify it: that can be a library which counts or records
 * and passes the call on, such as libmemtop.so.
 */
#include "config.h"

#include "replay/allocator.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

/* ---- recognising ---- */

static const struct known_allocator {
    enum allocator_kind kind;
    const char *name, *function;
} known[] = {
    {ALLOCATOR_JEMALLOC, "jemalloc", "mallctl"},
    {ALLOCATOR_TCMALLOC, "tcmalloc", "MallocExtension_GetNumericProperty"},
    {ALLOCATOR_MIMALLOC, "mimalloc", "mi_process_info"},
};

static bool
passes_on(const char *library)
{
    return strncmp(library, "libmemtop", strlen("libmemtop")) == 0;
}

void
allocator_find(struct allocator *allocator)
{
    const char *library = "";
    Dl_info place;

    memset(allocator, 0, sizeof *allocator);
    allocator->note = dlsym(RTLD_DEFAULT, "jemalloc_stats");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        allocator->ask = dlsym(RTLD_DEFAULT, known[i].function);
        if (allocator->ask == NULL)
            continue;
        allocator->kind = known[i].kind;
        strcpy(allocator->name, known[i].name);
        return;
    }
    if (dladdr(dlsym(RTLD_DEFAULT, "malloc"), &place) != 0)
        library = path_name(place.dli_fname);
    if (strncmp(library, "libc.so", strlen("libc.so")) == 0 || passes_on(library)) {
        allocator->kind = ALLOCATOR_GLIBC;
        strcpy(allocator->name, "glibc");
    } else {
        allocator->kind = ALLOCATOR_OTHER;
        snprintf(allocator->name, sizeof allocator->name, "%s", library);
    }
}

static int
find_library(struct dl_phdr_info *info, size_t size, void *name)
{
    (void)size;
    return strcmp(path_name(info->dlpi_name), name) == 0;
}

bool
allocator_is(const struct allocator *allocator, const char *name)
{
    return strcmp(allocator->name, name) == 0 ||
           dl_iterate_phdr(find_library, (void *)path_name(name)) != 0;
}

/* ---- figures ---- */

static size_t
ask_glibc(struct allocator_figure *figures)
{
    struct mallinfo2 info = mallinfo2();

    figures[0] = (struct allocator_figure){"arena", info.arena};
    figures[1] = (struct allocator_figure){"hblkhd", info.hblkhd};
    figures[2] = (struct allocator_figure){"uordblks", info.uordblks};
    figures[3] = (struct allocator_figure){"fordblks", info.fordblks};
    return 4;
}

typedef int mallctl_function(const char *, void *, size_t *, void *, size_t);

static size_t
ask_jemalloc(mallctl_function *mallctl, struct allocator_figure *figures)
{
    static const char *const names[] = {
        "stats.allocated", "stats.active",   "stats.metadata",
        "stats.resident",  "stats.mapped",   "stats.retained",
    };
    uint64_t epoch = 1;
    size_t count = 0;

    /* Without a new epoch the values are those of the last time. */
    mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t value = 0, size = sizeof value;
        if (mallctl(names[i], &value, &size, NULL, 0) == 0)
            figures[count++] = (struct allocator_figure){names[i] + 6, value};
    }
    return count;
}

typedef int tcmalloc_function(const char *, size_t *);

static size_t
ask_tcmalloc(tcmalloc_function *ask, struct allocator_figure *figures)
{
    static const char *const names[] = {
        "generic.current_allocated_bytes",
        "generic.heap_size",
        "tcmalloc.pageheap_free_bytes",
        "tcmalloc.pageheap_unmapped_bytes",
        "tcmalloc.central_cache_free_bytes",
        "tcmalloc.current_total_thread_cache_bytes",
    };
    size_t count = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t value = 0;
        if (ask(names[i], &value))
            figures[count++] =
                (struct allocator_figure){strchr(names[i], '.') + 1, value};
    }
    return count;
}

typedef void mimalloc_function(size_t *elapsed, size_t *user, size_t *system,
                               size_t *rss, size_t *peak_rss, size_t *commit,
                               size_t *peak_commit, size_t *faults);

static size_t
ask_mimalloc(mimalloc_function *ask, struct allocator_figure *figures)
{
    size_t commit = 0, peak = 0;

    ask(NULL, NULL, NULL, NULL, NULL, &commit, &peak, NULL);
    figures[0] = (struct allocator_figure){"current_commit", commit};
    figures[1] = (struct allocator_figure){"peak_commit", peak};
    return 2;
}

size_t
allocator_ask(const struct allocator *allocator,
              struct allocator_figure figures[ALLOCATOR_FIGURES_MAX])
{
    switch (allocator->kind) {
    case ALLOCATOR_GLIBC:
        return ask_glibc(figures);
    case ALLOCATOR_JEMALLOC:
        return ask_jemalloc((mallctl_function *)allocator->ask, figures);
    case ALLOCATOR_TCMALLOC:
        return ask_tcmalloc((tcmalloc_function *)allocator->ask, figures);
    case ALLOCATOR_MIMALLOC:
        return ask_mimalloc((mimalloc_function *)allocator->ask, figures);
    case ALLOCATOR_OTHER:
        break;
    }
    return 0;
}

void
allocator_note(const struct allocator *allocator)
{
    /* Mozilla's allocator writes into structures of about half a KiB. */
    static uint64_t stats[512], bins[4096];

    if (allocator->note != NULL)
        ((void (*)(void *, void *))allocator->note)(stats, bins);
}
