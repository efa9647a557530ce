/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests/unit/symbols.c looks up: each function here returns the address behind a
   call in it.  Compiled with -g -O2; lines are named by their comments. */
#include <cstddef>

extern "C" {
void *subject_plain();
void *subject_inlined();
void *subject_template();
void *subject_static();
}

/* kind: without it gcc would make one function of several. */
static __attribute__((noinline)) void *
here(int kind)
{
    __asm__ volatile("" : : "r"(kind));
    return __builtin_return_address(0);
}

#define KEEP(address) __asm__ volatile("" : "+r"(address))

static __attribute__((noinline)) void *
hidden()
{
    void *address = here(1); /* line of hidden */
    KEEP(address);
    return address;
}

namespace shop {

template <typename Item> struct Shelf {
    __attribute__((noinline)) void *put(Item, int)
    {
        void *address = here(2); /* line of put */
        KEEP(address);
        return address;
    }
};

static inline __attribute__((always_inline)) void *
innermost()
{
    void *address = here(3); /* line of innermost */
    KEEP(address);
    return address;
}

struct Clerk {
    inline __attribute__((always_inline)) void *serve()
    {
        return innermost(); /* line of serve */
    }
};

}

void *
subject_plain()
{
    void *address = here(4); /* line of plain */
    KEEP(address);
    return address;
}

void *
subject_inlined()
{
    shop::Clerk clerk;
    return clerk.serve(); /* line of inlined */
}

void *
subject_template()
{
    shop::Shelf<shop::Clerk> shelf;
    return shelf.put(shop::Clerk(), 1);
}

void *
subject_static()
{
    return hidden();
}
