/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* C++: all forms of new and delete, and what they throw. */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include <unistd.h>

#include "frames.h"

#define REQUIRE(condition)                                                     \
    do {                                                                       \
        if (!(condition)) {                                                    \
            std::fprintf(stderr, "not so: %s\n", #condition);                  \
            std::_Exit(99);                                                    \
        }                                                                      \
    } while (0)

struct alignas(256) wide {
    char bytes[300];
};

/* A hundred of each form, with sizes that nobody else asks for. */
static void
forms()
{
    static int *ones[100];
    static char *arrays[100];
    static wide *wides[100];
    static void *plain[100];
    const auto alignment = std::align_val_t(128);

    for (int i = 0; i < 100; i++) {
        ones[i] = new int(i);
        arrays[i] = new char[50000];
        wides[i] = new wide;
        plain[i] = operator new(40000, alignment, std::nothrow);
        REQUIRE((uintptr_t)wides[i] % 256 == 0 && (uintptr_t)plain[i] % 128 == 0);
        std::memset(arrays[i], i, 50000);
        std::memset(plain[i], i, 40000);
    }
    for (int i = 0; i < 100; i++) {
        REQUIRE(*ones[i] == i && arrays[i][49999] == (char)i);
        delete ones[i];
        delete[] arrays[i];
        delete wides[i];
        operator delete(plain[i], 40000, alignment);
    }
    operator delete(operator new(30000), (std::size_t)30000);
    operator delete[](operator new[](30000, std::nothrow), std::nothrow);
    operator delete(operator new(30000, alignment), alignment, std::nothrow);
}

/* The forms that every allocator supports correctly. */
static void
usual()
{
    static char *arrays[100];

    for (int i = 0; i < 100; i++) {
        arrays[i] = new char[50000];
        std::memset(arrays[i], i, 50000);
    }
    for (int i = 0; i < 100; i++)
        delete[] arrays[i];
    delete new int(5);
}

static void
throws()
{
    volatile std::size_t huge = (std::size_t)1 << 62;
    int caught = 0;

    try {
        (void)!operator new(huge);
    } catch (const std::bad_alloc &) {
        caught++;
    }
    try {
        (void)!operator new[](huge, std::align_val_t(256));
    } catch (const std::bad_alloc &) {
        caught++;
    }
    REQUIRE(caught == 2);
    REQUIRE(operator new(huge, std::nothrow) == nullptr);
}

/* Registers frames.  The next code that looks for frames is a throw, which allocates
   nothing itself. */
static void
throw_on(char *text)
{
    struct frames frames;
    int caught = 0;

    for (int i = 0; i < 1000; i++) {
        try {
            throw i;
        } catch (int) {
            frames_make(&frames, (std::uintptr_t)text);
            __register_frame(&frames);
            try {
                throw;
            } catch (int thrown) {
                caught += thrown == i;
            }
            __deregister_frame(&frames);
        }
    }
    REQUIRE(caught == 1000);
}

/* Registers frames in two threads while other threads allocate. */
static void
registers()
{
    static char texts[2][64];
    std::atomic<bool> stop(false);
    const auto churn = [&stop] {
        while (!stop)
            delete[] new char[100];
    };

    alarm(60);
    throw_on(texts[0]);
    std::thread churning(churn), other(churn);
    std::thread throwing(throw_on, texts[0]);
    throw_on(texts[1]);
    throwing.join();
    stop = true;
    churning.join();
    other.join();
}

static __attribute__((noinline)) void
deep(int depth)
{
    char *volatile block = new char[100];

    if (depth > 0)
        deep(depth - 1);
    delete[] block;
}

/* Two writes mark this part in a list of system calls. */
static void
marked()
{
    static char *blocks[5000]; /* more than fit into one page of a table */

    throws(); /* libgcc prepares for exceptions at the first throw */
    REQUIRE(write(1, "begin", 5) == 5);
    for (char *&block : blocks)
        block = new char[8];
    for (int depth = 0; depth < 500; depth++)
        deep(depth);
    for (char *block : blocks)
        delete[] block;
    try {
        throw 1;
    } catch (int) {
        deep(7);
    }
    REQUIRE(write(1, "end", 3) == 3);
}

int
main(int argc, char **argv)
{
    if (argc > 1 && std::strcmp(argv[1], "forms") == 0)
        forms();
    if (argc > 1 && std::strcmp(argv[1], "usual") == 0)
        usual();
    else if (argc > 1 && std::strcmp(argv[1], "marked") == 0)
        marked();
    else if (argc > 1 && std::strcmp(argv[1], "registers") == 0)
        registers();
    else
        throws();
    return 0;
}
