/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop/memprof.h in C++: each block of operator new is sampled once. */
#include <memtop/memprof.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

struct totals {
    unsigned made, gone;
    std::size_t bytes;
};

static void *
made(const memprof_allocation *block, void *ctx)
{
    totals *sums = static_cast<totals *>(ctx);

    sums->made++;
    sums->bytes += block->size;
    return sums;
}

static void
gone(void *data, void *ctx)
{
    (void)ctx;
    static_cast<totals *>(data)->gone++;
}

struct alignas(64) wide {
    char bytes[64];
};

int
main(int argc, char **argv)
{
    static const memprof_tracker tracker = {made, nullptr, gone};
    totals sums = {0, 0, 0};
    memprof_t *profile = memprof_start(1, -1, &tracker, &sums);

    if (profile == nullptr)
        return argc > 1 && std::strcmp(argv[1], "absent") == 0 && errno == ENOSYS ? 0
                                                                                  : 99;
    delete new int(1);
    delete[] new long[100];
    delete new wide;
    ::operator delete(::operator new(50, std::nothrow));
    {
        std::vector<std::string> strings(10, std::string(100, 'x'));
        strings.clear();
    }
    memprof_custom_free(memprof_custom_alloc(&sums, 10));
    if (memprof_stop() != 0 || memprof_discard(profile) != 0)
        return 98;
    std::printf("made=%u\ngone=%u\nbytes=%zu\n", sums.made, sums.gone, sums.bytes);
    return 0;
}
