/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds CPython and walks its frames; see python.h, which says why each pointer may be
 * followed.
 */
#include "config.h"

#include "preload/sites/python.h"

#include <string.h>

#include "preload/lookup.h"
#include "preload/sites/accessor.h"
#include "preload/sites/python-private.h"

struct python_known mt_python;
static bool looked;

/* ---- finding ---- */

static uintptr_t
address_of_symbol(const char *name)
{
    return (uintptr_t)mt_lookup_lasting(name).address;
}

/* Py_Version is a constant of 3.11 and later. */
static uint32_t
version_of_loaded(void)
{
    uintptr_t version = address_of_symbol("Py_Version");

    if (version != 0)
        return (uint32_t)mt_python_word(version, 0);
    if (address_of_symbol("Py_NewRef") != 0)
        return PYTHON_3_10;
    return address_of_symbol("PyFrame_GetBack") != 0 ? PYTHON_3_9 : 0;
}

static bool
find_types(struct python_known *known)
{
    known->code_type = address_of_symbol("PyCode_Type");
    known->frame_type = address_of_symbol("PyFrame_Type");
    known->text_type = address_of_symbol("PyUnicode_Type");
    known->bytes_type = address_of_symbol("PyBytes_Type");
    known->generator_types[0] = address_of_symbol("PyGen_Type");
    known->generator_types[1] = address_of_symbol("PyCoro_Type");
    known->generator_types[2] = address_of_symbol("PyAsyncGen_Type");
    return known->code_type != 0 && known->frame_type != 0 && known->text_type != 0
           && known->bytes_type != 0 && known->generator_types[0] != 0
           && known->generator_types[1] != 0 && known->generator_types[2] != 0;
}

/* A type says the size of its objects.  It is another one, or in another place, if
   objects have more fields than usual (Py_TRACE_REFS). */
#define TYPE_SIZE_OF_OBJECTS 32

static bool
has_layout(const struct python_known *known)
{
    return mt_python_word(known->code_type, TYPE_SIZE_OF_OBJECTS)
           == known->layout.code_size;
}

static bool
find_state(struct python_known *known)
{
    uintptr_t accessor;

    if (known->layout.key != 0) {
        *(void **)&known->get_specific = mt_lookup_lasting("pthread_getspecific").address;
        return known->get_specific != NULL;
    }
    accessor = address_of_symbol("PyThreadState_GetUnchecked");
    if (accessor == 0)
        accessor = address_of_symbol("_PyThreadState_UncheckedGet");
    known->state_distance = mt_accessor_distance((const void *)accessor);
    return known->state_distance != 0;
}

static enum python_answer
find(struct python_known *known)
{
    bool free_threaded;

    known->runtime = address_of_symbol("_PyRuntime");
    if (known->runtime == 0)
        return PYTHON_NONE;
    known->version = version_of_loaded();
    if (!mt_python_layout(known->version, (const void *)known->runtime, &known->layout,
                          &free_threaded))
        return PYTHON_VERSION;
    if (free_threaded)
        return PYTHON_FREE;
    if (!find_types(known) || !has_layout(known))
        return PYTHON_BUILD;
    return find_state(known) ? PYTHON_WHOLE : PYTHON_HIDDEN;
}

/* Threads that come here at once all find the same, and store the same values. */
static const struct python_known *
known_python(void)
{
    if (unlikely(!__atomic_load_n(&looked, __ATOMIC_ACQUIRE))) {
        struct python_known known = {0};

        known.answer = find(&known);
        mt_python = known;
        __atomic_store_n(&looked, true, __ATOMIC_RELEASE);
    }
    return &mt_python;
}

enum python_answer
mt_python_start(void)
{
    return known_python()->answer;
}

uint32_t
mt_python_version(void)
{
    return known_python()->version;
}

/* ---- the thread's state ---- */

/* A Py_tss_t: whether there is a key, and the key. */
struct python_key {
    int exists;
    pthread_key_t key;
};

/* Up to 3.11. */
static uintptr_t
state_with_gil(const struct python_known *python, enum python_answer *answer)
{
    const struct python_layout *layout = &python->layout;
    const struct python_key *key = (const void *)(python->runtime + layout->key);
    uintptr_t own, current = mt_python_word(python->runtime, layout->current);

    if (current == 0 || !key->exists)
        return 0;
    own = (uintptr_t)python->get_specific(key->key);
    if (own == current)
        return own;
    /* A thread may go from its own state to one of a sub-interpreter. */
    if (own != 0
        && mt_python_word(python->runtime, layout->newest)
               != mt_python_word(python->runtime, layout->main))
        *answer = PYTHON_OTHER;
    return 0;
}

static uintptr_t
own_state(const struct python_known *python, enum python_answer *answer)
{
    const struct python_layout *layout = &python->layout;
    uintptr_t state;

    *answer = PYTHON_IDLE;
    if (layout->key != 0)
        state = state_with_gil(python, answer);
    else
        state = mt_python_word(mt_thread_pointer(), (uintptr_t)python->state_distance);
    if (!mt_python_plausible(state))
        return 0;
    if (mt_python_word(state, layout->state_interpreter)
        != mt_python_word(python->runtime, layout->main)) {
        *answer = PYTHON_OTHER;
        return 0;
    }
    return state;
}

/* ---- walking ---- */

struct python_walk {
    const struct python_known *python;
    uintptr_t state;
    struct mt_python_frame *frames;
    size_t count, limit;
    uintptr_t chunk; /* the one in which the last frame lay, or the newest */
    uintptr_t chunk_from, chunk_to; /* its frames, once one was found there */
    bool doubtful; /* the link followed may not have been set yet (3.11, 3.12) */
    bool whole;
};

/* A _PyStackChunk: it ends size bytes behind its beginning.  Of all but the newest, top
   says how many words of frames it has. */
#define CHUNK_PREVIOUS 0
#define CHUNK_SIZE 8
#define CHUNK_TOP 16
#define CHUNK_FRAMES 24

/* What names the newest frame has no more bytes than this. */
#define NAMES_SIZE 24

/* Chunks are of 16 KiB; larger for a frame that needs that. */
#define CHUNK_MAX ((uintptr_t)1 << 30)
#define CHUNKS_TRIED 256

/* Owners from this one on: the interpreter's own frames, without code. */
#define OWNER_GENERATOR 1
#define OWNER_INTERPRETER 3

/* Bits of a pointer that tell how it is counted (3.14). */
#define TAG_BITS ((uintptr_t)3)

/* No function has more bytes of code. */
#define CODE_MAX ((uintptr_t)1 << 26)

/* How many bytes of the chunk are in use, counted from its beginning; 0 if unknown. */
static uintptr_t
used_of_chunk(const struct python_walk *walk, uintptr_t chunk)
{
    const struct python_layout *layout = &walk->python->layout;
    uintptr_t size = mt_python_word(chunk, CHUNK_SIZE), used = size;

    if (chunk != mt_python_word(walk->state, layout->state_chunk))
        used = CHUNK_FRAMES + mt_python_word(chunk, CHUNK_TOP) * sizeof(void *);
    else if (layout->state_top != 0)
        used = mt_python_word(walk->state, layout->state_top) - chunk;
    return size <= CHUNK_MAX && used <= size ? used : 0;
}

static bool
lies_between(uintptr_t frame, uintptr_t size, uintptr_t from, uintptr_t to)
{
    return frame >= from && frame < to && to - frame >= size;
}

/* Frames lead from newer chunks to older ones. */
static bool
lies_in_other_chunk(struct python_walk *walk, uintptr_t frame)
{
    const uintptr_t size = walk->python->layout.frame_size;
    uintptr_t chunk = walk->chunk;

    for (unsigned tried = 0; tried < CHUNKS_TRIED && mt_python_plausible(chunk);
         tried++) {
        const uintptr_t from = chunk + CHUNK_FRAMES,
                        to = chunk + used_of_chunk(walk, chunk);

        if (lies_between(frame, size, from, to)) {
            walk->chunk = chunk;
            walk->chunk_from = from;
            walk->chunk_to = to;
            return true;
        }
        chunk = mt_python_word(chunk, CHUNK_PREVIOUS);
    }
    return false;
}

static bool
lies_in_chunks(struct python_walk *walk, uintptr_t frame)
{
    return lies_between(frame, walk->python->layout.frame_size, walk->chunk_from,
                        walk->chunk_to)
           || lies_in_other_chunk(walk, frame);
}

static bool
lies_on_stack(uintptr_t address, uintptr_t size)
{
    return lies_between(address, size, (uintptr_t)__builtin_frame_address(0),
                        mt_thread.stack_base);
}

static unsigned
owner_of(const struct python_walk *walk, uintptr_t frame)
{
    return *(const unsigned char *)(frame + walk->python->layout.frame_owner);
}

/* While a generator runs, the thread's state points to where it keeps an exception. */
static bool
is_newest_generators(const struct python_walk *walk, uintptr_t frame)
{
    const struct python_layout *layout = &walk->python->layout;

    return frame
           == mt_python_word(walk->state, layout->state_exception)
                  - layout->generator_exception + layout->generator_frame;
}

static bool
is_generators(const struct python_walk *walk, uintptr_t frame)
{
    uintptr_t type;

    if (walk->doubtful && !is_newest_generators(walk, frame))
        return false;
    if (owner_of(walk, frame) != OWNER_GENERATOR)
        return false;
    type = mt_python_word(frame - walk->python->layout.generator_frame, OBJECT_TYPE);
    for (unsigned i = 0; i < 3; i++)
        if (type == walk->python->generator_types[i])
            return true;
    return false;
}

/* Adds a frame; false if there is no room, or if it has no code.  A frame that has not
   begun stands just before its first instruction. */
static bool
add_frame(struct python_walk *walk, uintptr_t frame)
{
    const struct python_layout *layout = &walk->python->layout;
    const uintptr_t code = mt_python_word(frame, layout->frame_code) & ~TAG_BITS,
                    first = code + layout->code_instructions,
                    instruction = mt_python_word(frame, layout->frame_instruction);
    bool begun = instruction >= first;

    if (walk->count == walk->limit || instruction + 2 < first
        || instruction + 2 - first > CODE_MAX
        || !mt_python_is(code, walk->python->code_type))
        return false;
    walk->doubtful &= !begun;
    walk->frames[walk->count++] = (struct mt_python_frame){
        .code = code,
        .offset = begun ? (int32_t)(instruction - first) : -1,
        .entry = layout->frame_entry != 0
                 && *(const unsigned char *)(frame + layout->frame_entry) != 0,
    };
    return true;
}

/* From 3.11 on.  Returns false at a frame that is not believed. */
static bool
visit_frame(struct python_walk *walk, uintptr_t frame)
{
    if (lies_in_chunks(walk, frame))
        return add_frame(walk, frame);
    if (!lies_on_stack(frame, walk->python->layout.frame_size))
        return is_generators(walk, frame) && add_frame(walk, frame);
    if (owner_of(walk, frame) < OWNER_INTERPRETER)
        return false;
    if (walk->count > 0)
        walk->frames[walk->count - 1].entry = true;
    return true;
}

static void
walk_frames(struct python_walk *walk, uintptr_t frame)
{
    /* At most one frame without code follows one with code. */
    for (size_t steps = 0; steps < 2 * walk->limit + 1; steps++) {
        if (frame == 0) {
            walk->whole = true;
            return;
        }
        if (!mt_python_plausible(frame) || !visit_frame(walk, frame))
            return;
        frame = mt_python_word(frame, walk->python->layout.frame_previous);
    }
}

/* Up to 3.10. */
static void
walk_objects(struct python_walk *walk, uintptr_t frame)
{
    const struct python_layout *layout = &walk->python->layout;

    for (; frame != 0; frame = mt_python_word(frame, layout->frame_previous)) {
        uintptr_t code;
        int32_t index;

        if (walk->count == walk->limit || !mt_python_is(frame, walk->python->frame_type))
            return;
        code = mt_python_word(frame, layout->frame_code);
        if (!mt_python_is(code, walk->python->code_type))
            return;
        index = *(const int32_t *)(frame + layout->frame_instruction);
        walk->frames[walk->count++] = (struct mt_python_frame){
            .code = code,
            .offset = index >= 0 && index <= INT32_MAX / 2
                          ? index * layout->instruction_bytes
                          : -1,
            .entry = true,
        };
    }
    walk->whole = true;
}

/* The newest frame, as the thread's state says: 0 if there is none.  Returns false if
   what names it is not believed. */
static bool
find_newest(const struct python_known *python, uintptr_t state, uintptr_t *frame)
{
    const struct python_layout *layout = &python->layout;
    uintptr_t names;

    *frame = mt_python_word(state, layout->state_frame);
    if (layout->state_own_names == 0)
        return true;
    names = *frame;
    if (names != state + layout->state_own_names
        && (names % sizeof names != 0 || !lies_on_stack(names, NAMES_SIZE)))
        return false;
    *frame = mt_python_word(names, layout->names_frame);
    return true;
}

size_t
mt_python_frames(struct mt_python_frame *frames, size_t limit, enum python_answer *answer)
{
    const struct python_known *python = known_python();
    struct python_walk walk = {.python = python, .frames = frames, .limit = limit};
    uintptr_t frame;

    *answer = python->answer;
    if (python->answer != PYTHON_WHOLE)
        return 0;
    walk.state = own_state(python, answer);
    if (walk.state == 0)
        return 0;
    if (!find_newest(python, walk.state, &frame)) {
        *answer = PYTHON_CUT;
        return 0;
    }
    if (frame == 0)
        return 0;
    if (python->layout.state_chunk != 0) {
        walk.chunk = mt_python_word(walk.state, python->layout.state_chunk);
        walk.doubtful = python->layout.state_own_names != 0;
        walk_frames(&walk, frame);
    } else {
        walk_objects(&walk, frame);
    }
    *answer = walk.whole ? PYTHON_WHOLE : PYTHON_CUT;
    return walk.count;
}
