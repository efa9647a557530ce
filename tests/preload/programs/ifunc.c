/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A function whose address is chosen, by code that allocates, while the program is being
   relocated. */
#include "cases.h"

static int
answer(void)
{
    return 42;
}

/* clang does not see that the linker uses it. */
__attribute__((unused)) static int (*resolve(void))(void)
{
    free(malloc(1234));
    return answer;
}

static int chosen(void) __attribute__((ifunc("resolve")));

static void
ifunc(void)
{
    REQUIRE(chosen() == 42);
    free(malloc(100));
}

CASES
    CASE(ifunc)
END_CASES
