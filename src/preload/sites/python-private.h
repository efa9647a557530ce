/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What python.c has found and python-place.c reads with: parts of one module. */
#ifndef MEMTOP_PYTHON_PRIVATE_H
#define MEMTOP_PYTHON_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/sites/python-layout.h"
#include "preload/sites/python.h"
#include "preload/state.h"

/* Addresses are numbers here, because they are only compared and counted from. */
struct python_known {
    enum python_answer answer;
    uint32_t version;
    uintptr_t runtime;
    uintptr_t code_type, frame_type, text_type, bytes_type;
    uintptr_t generator_types[3]; /* and coroutines, and asynchronous generators */
    void *(*get_specific)(pthread_key_t);
    intptr_t state_distance; /* from the thread pointer; from 3.12 on */
    struct python_layout layout;
};

HIDDEN extern struct python_known mt_python;

/* PyObject and PyVarObject, the same in all versions of such builds. */
#define OBJECT_TYPE 8
#define OBJECT_COUNT 16
#define OBJECT_SIZE 24

static inline uintptr_t
mt_python_word(uintptr_t address, uintptr_t offset)
{
    return __atomic_load_n((const uintptr_t *)(address + offset), __ATOMIC_RELAXED);
}

/* Could this be the address of an object?  The first pages are never mapped, and programs
   have no memory above 2^48 that they did not ask for there. */
static inline bool
mt_python_plausible(uintptr_t address)
{
    return address >= 65536 && address >> 48 == 0 && address % sizeof(uintptr_t) == 0;
}

static inline bool
mt_python_is(uintptr_t object, uintptr_t type)
{
    return mt_python_plausible(object) && mt_python_word(object, OBJECT_TYPE) == type;
}

#endif
