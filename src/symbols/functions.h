/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of a file by address, from its symbol tables. */
#ifndef MEMTOP_FUNCTIONS_H
#define MEMTOP_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function {
    uint64_t address, size; /* size 0: up to the next one */
    const char *name;       /* as the linker knows it; borrowed */
    bool global;
};

/* All zeros at first; filled, then sorted, and kept. */
struct functions {
    struct function *all;
    size_t count, room;
};

/* Adds a function; without memory it is left out. */
void functions_add(struct functions *functions, const struct function *function);

/* Call after the last functions_add(). */
void functions_sort(struct functions *functions);

/* Returns the function that contains the address; of several the global, longest one.
   NULL if there is none; never a neighbour. */
const struct function *functions_find(const struct functions *functions,
                                      uint64_t address);

#endif
