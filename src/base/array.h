/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that grow. */
#ifndef MEMTOP_ROOM_H
#define MEMTOP_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* Makes array, NULL at first, have room for count elements or more; the new ones are
   zeros.  It grows at least by half, so that adding one at a time is cheap.  False if
   memory is short: all is as it was. */
#define ROOM_MAKE(array, room, count) \
    room_make(&(array), &(room), (count), sizeof *(array))

/* The same: array points to the pointer to elements of so many bytes. */
bool room_make(void *array, size_t *room, size_t count, size_t size);

#endif
