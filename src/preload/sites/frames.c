/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each C frame of the interpreter's loop runs some Python functions, of which the
 * outermost is marked (python.h); both lists are in the same order.  Where a call of the
 * loop is not recognised, or the C stack is cut, Python's frames are still all there, in
 * their order.
 *
 * What a code object says of itself is copied to the segment when a line of it is seen
 * first.  The numbers of such places are kept by the address of the code and what shows
 * that it is still the same code.
 */
#include "config.h"

#include "preload/sites/frames.h"

#include <stdbool.h>
#include <stdint.h>

#include "preload/lookup.h"
#include "preload/sites/python.h"
#include "preload/sites/sites.h"
#include "preload/sites/stacks.h"
#include "preload/sites/unwind.h"

#define PYTHON_MAX SITES_DEPTH_MAX

#define KEPT        1024u
#define NUMBER_BITS 20u
#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)

_Static_assert(SITES_PLACES <= NUMBER_MASK, "a number fits");

/* The interpreter's loop. */
static uintptr_t loop, loop_size;

/* A number of a place, and above it bits of its key's hash; 0: none. */
static uint64_t kept[KEPT];

static bool
is_loop(const void *frame)
{
    return (uintptr_t)frame - loop - 1 < loop_size;
}

static void
find_loop(void)
{
    struct mt_symbol found;

    if (loop != 0)
        return;
    found = mt_lookup_lasting("_PyEval_EvalFrameDefault");
    loop_size = found.size;
    loop = found.address != NULL ? (uintptr_t)found.address : UINTPTR_MAX / 2;
}

/* The word for a frame; 0 if there is none. */
static uint64_t
word_of(const struct mt_python_frame *frame)
{
    const uint64_t key[] = {frame->code, (uint64_t)(int64_t)frame->offset,
                            mt_python_mark(frame)};
    uint64_t hash = mt_sites_hash(key, 3);
    uint64_t *slot = &kept[hash % KEPT];
    uint64_t seen = __atomic_load_n(slot, __ATOMIC_RELAXED);
    struct mt_python_place place;
    uint32_t number;

    if (seen != 0 && (seen ^ hash) >> NUMBER_BITS == 0)
        return site_place_word((uint32_t)(seen & NUMBER_MASK));
    if (!mt_python_describe(frame, &place))
        return 0;
    number = mt_sites_place(&place);
    if (number == 0)
        return 0;
    __atomic_store_n(slot, (hash & ~NUMBER_MASK) | number, __ATOMIC_RELAXED);
    return site_place_word(number);
}

/* The frames that are written. */
struct written {
    const void **frames;
    size_t count, limit;
};

static void
put(struct written *written, uint64_t word)
{
    if (word != 0 && written->count < written->limit)
        written->frames[written->count++] = (const void *)(uintptr_t)word;
}

/* Puts the frames that one C frame of the loop runs; returns the first of the next. */
static size_t
put_run(struct written *written, const struct mt_python_frame *frames, size_t count,
        size_t next)
{
    bool last = false;

    for (; next < count && !last; next++) {
        put(written, word_of(&frames[next]));
        last = frames[next].entry;
    }
    return next;
}

size_t
mt_frames(const void **frames, size_t depth, size_t limit)
{
    const void *code[SITES_DEPTH_MAX];
    struct mt_python_frame python[PYTHON_MAX];
    struct written written = {frames, 0, limit};
    enum python_answer answer;
    size_t codes = mt_unwind(code, depth), next = 0;
    size_t count = mt_python_frames(python, PYTHON_MAX, &answer);

    if (count > 0)
        find_loop();
    for (size_t i = 0; i < codes; i++)
        if (next < count && is_loop(code[i]))
            next = put_run(&written, python, count, next);
        else
            put(&written, (uintptr_t)code[i]);
    while (next < count)
        next = put_run(&written, python, count, next);
    return written.count;
}
