/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program with its own malloc, which comes before the library's in the search
   order. */
#include "bump.c"

#include "cases.h"

static void
own_malloc(void)
{
    void *block = malloc(10);

    REQUIRE((unsigned char *)block >= arena && (unsigned char *)block < arena + ROOM);
    free(strdup("by libc"));
}

CASES
    CASE(own_malloc)
END_CASES
