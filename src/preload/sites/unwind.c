/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks the stack as glibc's backtrace() does, with libgcc's unwinder, which since gcc 12
 * and glibc 2.35 takes no lock of the loader's (_dl_find_object), makes no system call
 * and needs no memory of its own.  Its answers about return addresses are kept (steps.h).
 *
 * Why nothing here can wait forever:
 *
 *   - We hold no lock, and neither does the allocator: it has returned before a block
 *     is sampled, and has not been called yet when one is about to be freed.
 *   - libgcc has a lock for frames that the program registers (a compiler in it, by
 *     __register_frame) and takes it if there are any.  It allocates with the lock held,
 *     at the first search after a registration (before gcc 13) or in the registration
 *     itself (since): so calls of malloc from libgcc are not walked by libgcc.  A copy of
 *     libgcc that is linked into a program is hidden there and has its own lock, which
 *     the walker does not use.  In a child forked from a process with several threads the
 *     lock may be held forever: libgcc is not called there unless its data show that the
 *     lock is free, see libgcc_idle().
 *   - If another library's _Unwind_Find_FDE replaces libgcc's (that of LLVM's libunwind,
 *     which libc++ brings), that one allocates with a lock held, too, and is treated like
 *     libgcc.  It also takes the loader's list lock.  A callback of the program's own
 *     call of dl_iterate_phdr() holds that lock and may wait for a thread that allocates.
 *     So it is used only as long as there is one thread.
 *   - One case is left: a signal handler that allocates after it has interrupted libgcc
 *     with the lock held, a throw in a program that has registered frames.
 */
#include "config.h"

#include "preload/sites/unwind.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "preload/lookup.h"
#include "preload/internal.h"
#include "preload/real.h"
#include "preload/state.h"
#include "preload/sites/steps.h"

/* The largest number of our own frames above the program's innermost one. */
#define OWN_FRAMES 12u

/* A frame pointer further up than this is not believed. */
#define FRAME_MAX (UINT64_C(1) << 20)

typedef int (*walker)(void **frames, int limit);

#if defined __x86_64__
#define FRAME_REGISTER 6 /* rbp, System V ABI figure 3.36 */
#elif defined __aarch64__
#define FRAME_REGISTER 29
#endif

static enum site_unwinder unwinder;
static walker glibc_walk;
static bool libgcc_barred;

/* libgcc_for_one: libgcc must not be used if there are several threads.  single_threaded:
   __libc_single_threaded of glibc since 2.32, or NULL. */
static bool libgcc_for_one;
static const char *single_threaded;

/* ---- objects ---- */

/* Where an object is mapped, and the part of its data that starts as zeros. */
struct unwind_object {
    uintptr_t start, end;
    const unsigned char *zeros;
    size_t zeros_size;
};

extern const ElfW(Ehdr) __ehdr_start HIDDEN;

static struct unwind_object own;

static struct unwind_object
measure(uintptr_t bias, const ElfW(Phdr) * headers, unsigned count)
{
    struct unwind_object object = {0};

    for (unsigned i = 0; i < count; i++) {
        if (headers[i].p_type != PT_LOAD)
            continue;
        if (object.end == 0)
            object.start = bias + (headers[i].p_vaddr & -(uintptr_t)SEGMENT_PAGE);
        object.end = bias + headers[i].p_vaddr + headers[i].p_memsz;
        object.zeros_size = headers[i].p_memsz - headers[i].p_filesz;
        object.zeros = (const unsigned char *)object.end - object.zeros_size;
    }
    return object;
}

/* This library.  The first page of its file is mapped first. */
static struct unwind_object
measure_own(void)
{
    const uintptr_t start = (uintptr_t)&__ehdr_start;

    return measure(start, (const void *)(start + __ehdr_start.e_phoff),
                   __ehdr_start.e_phnum);
}

static bool
lies_in(const void *address, const struct unwind_object *object)
{
    return (uintptr_t)address - object->start < object->end - object->start;
}

static bool
is_own(const void *frame)
{
    return lies_in(frame, &own);
}

/* ---- libgcc's lock ---- */

/* libgcc, and the object whose _Unwind_Find_FDE it uses, which usually is libgcc. */
static struct unwind_object libgcc_object, search_object;

/* libgcc's data while nobody has registered frames or holds the lock. */
static unsigned char idle_data[1024];
static bool idle_known;

/* The first loaded object with that name (NULL: any) that defines NAME. */
static struct unwind_object
measure_defining(const char *soname, const char *name)
{
    struct mt_loaded found = {0};

    mt_lookup_loaded(soname, name, &found);
    return measure(found.bias, found.headers, found.header_count);
}

/* Call after libgcc has walked once, because the first walk makes its tables. */
static void
know_libgcc(void)
{
    static const char search[] = "_Unwind_Find_FDE";

    libgcc_object = measure_defining(LIBGCC, search);
    search_object = measure_defining(NULL, search);
    idle_known = libgcc_object.zeros_size <= sizeof idle_data
                 && search_object.start == libgcc_object.start;
    if (idle_known)
        memcpy(idle_data, libgcc_object.zeros, libgcc_object.zeros_size);
}

/* The lock's word and the pointer to registered frames are among these data: while they
   are unchanged nobody holds the lock. */
static bool
libgcc_idle(void)
{
    return idle_known
           && memcmp(idle_data, libgcc_object.zeros, libgcc_object.zeros_size) == 0;
}

/* May the caller of malloc hold the lock?  (If caller is in this library its real caller
   is unknown: the compiler did not make the jumps that wrappers.c relies on.) */
static bool
may_hold_lock(const void *caller)
{
    return lies_in(caller, &libgcc_object) || lies_in(caller, &search_object)
           || is_own(caller);
}

/* ---- the walkers ---- */

/* State of the walk by frame pointers. */
struct frame_walk {
    void **frames;
    size_t count, limit;
    uintptr_t pointer;
    bool left; /* past our own frames */
};

#ifdef FRAME_REGISTER
/* Skips our own frames and stops at the first one of the program. */
static int
visit_frame(struct _Unwind_Context *context, void *argument)
{
    struct frame_walk *walk = argument;
    uintptr_t ip = mt_libgcc.ip(context);

    if (is_own((void *)ip))
        return VISIT_GO_ON;
    walk->frames[walk->count++] = (void *)ip;
    walk->pointer = mt_libgcc.gr(context, FRAME_REGISTER);
    walk->left = true;
    return VISIT_STOP;
}

/* A frame holds the next frame's pointer and the return address.  A pointer is believed
   if it is aligned, higher than the last one by no more than a frame may be long, and
   within the stack that the thread is known to have. */
static int
frames_walk(void **frames, int limit)
{
    struct frame_walk walk = {.frames = frames, .limit = (size_t)limit};
    uintptr_t lowest = (uintptr_t)__builtin_frame_address(0);

    mt_libgcc.backtrace(visit_frame, &walk);
    if (!walk.left || lowest > mt_thread.stack_base
        || mt_thread.stack_base - lowest > mt_thread.stack_limit)
        return (int)walk.count;
    while (walk.count < walk.limit && walk.pointer % sizeof(uintptr_t) == 0
           && walk.pointer > lowest && walk.pointer - lowest < FRAME_MAX
           && walk.pointer < mt_thread.stack_base - 2 * sizeof(uintptr_t)) {
        const uintptr_t *frame = (const void *)walk.pointer;

        if (frame[1] < SEGMENT_PAGE)
            break;
        walk.frames[walk.count++] = (void *)frame[1];
        lowest = walk.pointer;
        walk.pointer = frame[0];
    }
    return (int)walk.count;
}
#endif

/* ---- starting ---- */

/* Uses libc's own backtrace, even if another object defines one.  The first call makes
   libc load libgcc_s and keep it, without touching dlerror(). */
static void
start_glibc(void)
{
    void *tried[2];
    walker found;

    *(void **)&found = mt_lookup_libc("backtrace");
    if (found == NULL || found(tried, 2) <= 0)
        return;
    know_libgcc();
    glibc_walk = found;
#ifdef MT_STEPS
    if (mt_libgcc_find())
        glibc_walk = mt_steps_walk;
#endif
}

static bool
start_frames(void)
{
#ifdef FRAME_REGISTER
    return mt_libgcc_find();
#else
    return false;
#endif
}

static enum site_unwinder
choose(enum unwind_choice choice)
{
    if (choice == UNWIND_CHOICE_NONE)
        return UNWIND_NONE;
    start_glibc(); /* glibc's serves instead */
    single_threaded = mt_lookup_libc("__libc_single_threaded");
    libgcc_for_one = search_object.start != libgcc_object.start;
    if (choice == UNWIND_CHOICE_FRAMES && start_frames())
        return UNWIND_FRAMES;
    return glibc_walk != NULL ? UNWIND_GLIBC : UNWIND_NONE;
}

void
mt_unwind_start(enum unwind_choice choice)
{
    struct mt_internal ours;

    if (__atomic_load_n(&unwinder, __ATOMIC_ACQUIRE) != UNWIND_NONE || mt_sandboxed)
        return;
    ours = mt_internal_begin();
    own = measure_own();
    __atomic_store_n(&unwinder, choose(choice), __ATOMIC_RELEASE);
    mt_internal_end(&ours);
}

enum site_unwinder
mt_unwinder(void)
{
    return __atomic_load_n(&unwinder, __ATOMIC_ACQUIRE);
}

void
mt_unwind_forked(bool had_threads)
{
    libgcc_barred |= had_threads && glibc_walk != NULL && !libgcc_idle();
}

/* ---- walking ---- */

static bool
has_threads(void)
{
    return single_threaded != NULL ? !*(const volatile char *)single_threaded
                                   : mt_segment.process->threads_started > 1;
}

static bool
libgcc_may(const void *caller)
{
    return !libgcc_barred && !may_hold_lock(caller) && !(libgcc_for_one && has_threads());
}

static walker
walker_now(const void *caller)
{
    enum site_unwinder chosen = mt_unwinder();

    if (chosen == UNWIND_NONE || !libgcc_may(caller))
        return NULL;
#ifdef FRAME_REGISTER
    if (chosen == UNWIND_FRAMES)
        return frames_walk;
#endif
    return glibc_walk;
}

/* Copies the program's frames from those walked; returns their number. */
static size_t
keep_foreign(void *const *walked, size_t count, const void **frames, size_t limit)
{
    size_t kept = 0;

    for (size_t i = 0; i < count && kept < limit; i++)
        if (walked[i] != NULL && !is_own(walked[i]))
            frames[kept++] = walked[i];
    return kept;
}

size_t
mt_unwind(const void *caller, const void **frames, size_t limit)
{
    walker walk = walker_now(caller);
    void *walked[SITES_DEPTH_MAX + OWN_FRAMES];
    struct mt_internal ours;
    size_t count;
    int found;

    if (walk == NULL || mt_thread.internal)
        return 0;
    ours = mt_internal_begin();
    if (limit <= SITES_DEPTH_MAX) {
        found = walk(walked, (int)(limit + OWN_FRAMES));
        count = keep_foreign(walked, found > 0 ? (size_t)found : 0, frames, limit);
    } else {
        found = walk((void **)frames, (int)limit);
        count =
            keep_foreign((void **)frames, found > 0 ? (size_t)found : 0, frames, limit);
    }
    mt_internal_end(&ours);
    return count;
}
