/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A library to be preloaded, which compares the library's walks with libgcc's: at each
 * call of malloc the frames above this library must be the same.  What differs is written
 * to standard error, with the number of walks at the end.
 */
#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

#include "preload/lookup.h"
#include "preload/real.h"
#include "preload/sites/unwind.h"

#define FRAMES 64u

__thread struct mt_thread mt_thread;
struct mt_real mt_real;

static __thread bool inside;
static unsigned long walks, differences, deepest;
static bool ready;

extern void *__libc_malloc(size_t size);
extern const ElfW(Ehdr) __ehdr_start HIDDEN;
extern const char _end[] HIDDEN;

bool
mt_object_of(const void *address, struct mt_object *found)
{
    return mt_real._dl_find_object != NULL
           && mt_real._dl_find_object((void *)(uintptr_t)address, found) == 0;
}

struct walked {
    const void *frames[FRAMES];
    size_t count;
};

static bool
is_own(const void *pc)
{
    return (uintptr_t)pc - (uintptr_t)&__ehdr_start
           < (uintptr_t)_end - (uintptr_t)&__ehdr_start;
}

static _Unwind_Reason_Code
visit(struct _Unwind_Context *context, void *argument)
{
    struct walked *walked = argument;
    const void *pc = (const void *)_Unwind_GetIP(context);

    if (pc != NULL && !is_own(pc) && walked->count < FRAMES)
        walked->frames[walked->count++] = pc;
    return pc != NULL && walked->count < FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void
print(const char *whose, const struct walked *walked)
{
    fprintf(stderr, "%s:", whose);
    for (size_t i = 0; i < walked->count; i++) {
        Dl_info info;

        if (dladdr(walked->frames[i], &info) == 0)
            info = (Dl_info){.dli_fname = ""};
        fprintf(stderr, " %s+%#lx", info.dli_fname,
                (unsigned long)((const char *)walked->frames[i]
                                - (const char *)info.dli_fbase));
    }
    fprintf(stderr, "\n");
}

static void
find_stack(void)
{
    pthread_attr_t attributes;
    void *lowest;
    size_t size;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    mt_thread.stack_base = (uintptr_t)lowest + size;
    mt_thread.stack_limit = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

static __attribute__((noinline)) void
compare(void)
{
    struct walked ours = {.count = 0}, libgccs = {.count = 0};

    if (mt_thread.stack_base == 0)
        find_stack();
    ours.count = mt_unwind(ours.frames, FRAMES);
    _Unwind_Backtrace(visit, &libgccs);
    __atomic_add_fetch(&walks, 1, __ATOMIC_RELAXED);
    if (ours.count > deepest)
        deepest = ours.count;
    if (ours.count == libgccs.count
        && memcmp(ours.frames, libgccs.frames, ours.count * sizeof *ours.frames) == 0)
        return;
    if (__atomic_add_fetch(&differences, 1, __ATOMIC_RELAXED) <= 5) {
        print("ours   ", &ours);
        print("libgcc's", &libgccs);
    }
}

__attribute__((visibility("default"))) void *
malloc(size_t size)
{
    if (ready && !inside) {
        inside = true;
        compare();
        inside = false;
    }
    return __libc_malloc(size);
}

__attribute__((constructor)) static void
start(void)
{
    inside = true;
    mt_lookup_start();
    if (getenv("COMPARE_NOTED") == NULL) /* else as with a glibc that does not have it */
        *(void **)&mt_real._dl_find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
    mt_unwind_start(UNWIND_CHOICE_DWARF);
    inside = false;
    ready = true;
}

__attribute__((destructor)) static void
report(void)
{
    inside = true;
    fprintf(stderr, "walks %lu, deepest %lu, differences %lu\n", walks, deepest,
            differences);
    inside = false;
}
