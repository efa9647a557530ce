/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The phase cxx: objects of 64 bytes are allocated and freed by new and delete. */
#include <cstdint>

struct worker;

extern "C" void cxx_pairs(struct worker *worker, uint64_t steps);

namespace {

struct Object {
    char bytes[64];
};

} // namespace

extern "C" void
cxx_pairs(struct worker *, uint64_t steps)
{
    while (steps-- > 0) {
        auto *object = new Object;
        __asm__ volatile("" : : "r"(object) : "memory");
        delete object;
    }
}
