/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growable arrays. */
#ifndef MEMTOP_ARRAY_H
#define MEMTOP_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes space in array (initially NULL) for at least count elements; new ones are zeros.
   It grows at least by half, so adding one at a time is cheap.  Returns false if memory
   is short: nothing has changed. */
#define ARRAY_GROW(array, room, count) \
    array_grow(&(array), &(room), (count), sizeof *(array))

/* The same; array points to the pointer to the elements, of size bytes each. */
bool array_grow(void *array, size_t *room, size_t count, size_t size);

#endif
