/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program's own error stays in dlerror(), whatever the library looks up in the
 * meantime, and whichever operator is called for the first time.
 */
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <new>

#include <dlfcn.h>
#include <unistd.h>

#define REQUIRE(condition)                                                     \
    do {                                                                       \
        if (!(condition)) {                                                    \
            std::fprintf(stderr, "not so: %s\n", #condition);                  \
            std::_Exit(99);                                                    \
        }                                                                      \
    } while (0)

template <typename Step>
static void
with_pending(Step step)
{
    char said[] = "./no-such-library-0.so";
    static int number;
    const char *error;

    said[sizeof said - 5] = (char)('0' + number++ % 10);
    REQUIRE(dlopen(said, RTLD_NOW) == nullptr);
    errno = 4242;
    step();
    REQUIRE(errno == 4242);
    error = dlerror();
    REQUIRE(error != nullptr && std::strstr(error, said) != nullptr);
    REQUIRE(dlerror() == nullptr);
}

static void
aligned()
{
    const auto alignment = std::align_val_t(128);

    with_pending([=] { operator delete(operator new(300, alignment), alignment); });
    with_pending([=] { operator delete[](operator new[](300, alignment), alignment); });
    with_pending([=] {
        operator delete(operator new(300, alignment, std::nothrow), alignment,
                        std::nothrow);
    });
    with_pending([=] {
        operator delete[](operator new[](300, alignment, std::nothrow), alignment,
                          std::nothrow);
    });
    with_pending([] { std::free(std::aligned_alloc(64, 640)); });
}

/* With an argument, it makes only calls that memusage counts, too. */
int
main(int argc, char **)
{
    REQUIRE(dlerror() == nullptr); /* no error so far */
    with_pending([] { delete[] new char[4096]; });
    with_pending([] { delete new int(1); });
    with_pending([] { operator delete(operator new(30, std::nothrow), std::nothrow); });
    with_pending(
        [] { operator delete[](operator new[](30, std::nothrow), std::nothrow); });
    with_pending([] { std::free(std::realloc(std::calloc(3, 5), 500)); });
    if (argc == 1)
        aligned();
    return 0;
}
