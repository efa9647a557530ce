/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The array's pointer is copied by its bytes, because it may point to any type. */
#include "config.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 4   /* so that small arrays do not grow one by one */

bool
array_grow(void *array, size_t *room, size_t count, size_t size)
{
    size_t wanted = *room + *room / 2 + ROOM_FIRST;
    char *old, *grown;

    if (count <= *room)
        return true;
    if (wanted < count)
        wanted = count;
    memcpy(&old, array, sizeof old);
    grown = reallocarray(old, wanted, size);
    if (grown == NULL)
        return false;
    memset(grown + *room * size, 0, (wanted - *room) * size);
    memcpy(array, &grown, sizeof grown);
    *room = wanted;
    return true;
}
