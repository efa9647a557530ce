/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walking the stack: as glibc's backtrace() does, by libgcc's unwinder, which since gcc
 * 12 and glibc 2.35 takes no lock of the loader's (_dl_find_object), calls no kernel and
 * needs no memory of its own.  What it has said of a return address is kept (steps.h).
 *
 * Why nothing can wait for ever in here:
 *
 *   - We hold no lock, and the allocator none either: it has returned before a block
 *     is sampled, and has not been called yet when one is about to go.
 *   - libgcc has a lock for frames that the program registers (a compiler in it, by
 *     __register_frame) and takes it if there are any.  It allocates with the lock held,
 *     at the first search after a registration (before gcc 13) or in the registration
 *     itself (since): what malloc returns to libgcc is not walked by libgcc.  A copy of
 *     libgcc that is linked into a program is hidden there and has a lock of its own,
 *     which the walker does not know.  In a child forked from a process with several
 *     threads the lock may be held for ever: libgcc is left alone there unless its data
 *     say that it is not, see libgcc_idle().
 *   - Where another library's _Unwind_Find_FDE takes the place of libgcc's (that of
 *     LLVM's libunwind, which libc++ brings), that one allocates with a lock held, too:
 *     it is treated as libgcc is.  It also takes the loader's list lock.  A callback of
 *     the program's own call of dl_iterate_phdr() has that lock and may wait for a thread
 *     that allocates.  So it serves only as long as there is one thread.
 *   - Left is a signal handler that allocates when it has interrupted libgcc with the
 *     lock held: a throw in a program that has registered frames.
 */
#include "config.h"

#include "preload/sites/unwind.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "preload/account.h"
#include "preload/lookup.h"
#include "preload/ours.h"
#include "preload/real.h"
#include "preload/state.h"
#include "preload/sites/steps.h"

/* As many of our own frames as may lie below the program's. */
#define OWN_FRAMES 12u

/* A frame pointer further up than this is none. */
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

/* To be left alone where there are several threads.  Then __libc_single_threaded of glibc
   since 2.32, or NULL. */
static bool libgcc_for_one;
static const char *single_threaded;

/* ---- the thread's calls are ours ---- */

uintptr_t mt_ours_frames[SHARD_COUNT];

bool
mt_ours_left(void)
{
    unsigned index = mt_own_shard();
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    /* Shard 0 has many threads; above the base lies another stack, of handlers. */
    if (index == 0 || here <= mt_ours_frames[index] || here > mt_thread.stack_base)
        return false;
    mt_thread.shard = mt_shard(index);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mt_thread.ours = false;
    return true;
}

/* ---- objects ---- */

/* Where one is mapped, and what of its data is zero in the beginning. */
struct object {
    uintptr_t start, end;
    const unsigned char *zeros;
    size_t zeros_size;
};

extern const ElfW(Ehdr) __ehdr_start HIDDEN;

static struct object own;

static struct object
measure(uintptr_t bias, const ElfW(Phdr) * headers, unsigned count)
{
    struct object object = {0};

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

/* The first page of the file is mapped first. */
static struct object
measure_own(void)
{
    const uintptr_t start = (uintptr_t)&__ehdr_start;

    return measure(start, (const void *)(start + __ehdr_start.e_phoff),
                   __ehdr_start.e_phnum);
}

static bool
lies_in(const void *address, const struct object *object)
{
    return (uintptr_t)address - object->start < object->end - object->start;
}

static bool
is_own(const void *frame)
{
    return lies_in(frame, &own);
}

/* ---- libgcc's lock ---- */

/* libgcc, and whose search for frames it uses: most often its own. */
static struct object libgcc_object, search_object;

/* Its data as they are while nobody has registered frames or holds the lock. */
static unsigned char idle_data[1024];
static bool idle_known;

/* The first loaded object with that name (NULL: any) that defines NAME. */
static struct object
measure_defining(const char *soname, const char *name)
{
    struct mt_loaded found = {0};

    mt_lookup_loaded(soname, name, &found);
    return measure(found.bias, found.headers, found.header_count);
}

/* When libgcc has walked once, for it makes tables then. */
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

/* The lock's word is among the data, and so is what leads to registered frames: as long
   as they are the same nobody holds it. */
static bool
libgcc_idle(void)
{
    return idle_known
           && memcmp(idle_data, libgcc_object.zeros, libgcc_object.zeros_size) == 0;
}

/* May whoever called malloc hold the lock?  (If that was called from here nobody knows
   who has called us: the compiler has left out the jumps of wrappers.c.) */
static bool
may_hold_lock(const void *caller)
{
    return lies_in(caller, &libgcc_object) || lies_in(caller, &search_object)
           || is_own(caller);
}

/* ---- the walkers ---- */

/* Where the walk by frame pointers goes on. */
struct frame_walk {
    void **frames;
    size_t count, limit;
    uintptr_t pointer;
    bool left; /* our own frames are behind us */
};

#ifdef FRAME_REGISTER
/* Leaves our own frames, and stops at the first one of the program's. */
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

/* A frame holds the pointer of the next one and the return address: believed if it is
   aligned and higher than the one before, by no more than a frame may be long, and
   in the stack that the thread is known to have. */
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

/* That of libc itself, whoever else has one.  The first call has libc load libgcc_s and
   keep it, without a word to dlerror(). */
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
    start_glibc(); /* it stands in for the other */
    single_threaded = mt_lookup_libc("__libc_single_threaded");
    libgcc_for_one = search_object.start != libgcc_object.start;
    if (choice == UNWIND_CHOICE_FRAMES && start_frames())
        return UNWIND_FRAMES;
    return glibc_walk != NULL ? UNWIND_GLIBC : UNWIND_NONE;
}

void
mt_unwind_start(enum unwind_choice choice)
{
    struct mt_ours ours;

    if (__atomic_load_n(&unwinder, __ATOMIC_ACQUIRE) != UNWIND_NONE || mt_sandboxed)
        return;
    ours = mt_ours_begin();
    own = measure_own();
    __atomic_store_n(&unwinder, choose(choice), __ATOMIC_RELEASE);
    mt_ours_end(&ours);
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

/* Of those walked, the program's; returns how many. */
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
    struct mt_ours ours;
    size_t count;
    int found;

    if (walk == NULL || mt_thread.ours)
        return 0;
    ours = mt_ours_begin();
    if (limit <= SITES_DEPTH_MAX) {
        found = walk(walked, (int)(limit + OWN_FRAMES));
        count = keep_foreign(walked, found > 0 ? (size_t)found : 0, frames, limit);
    } else {
        found = walk((void **)frames, (int)limit);
        count =
            keep_foreign((void **)frames, found > 0 ? (size_t)found : 0, frames, limit);
    }
    mt_ours_end(&ours);
    return count;
}
