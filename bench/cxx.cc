/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * C++ as allocators see it: over-aligned and sized new and delete, exceptions,
 * bad_alloc, containers, thread_local destructors.  Run under glibc's malloc
 * and others.
 */
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct alignas(256) Wide {
    char bytes[512];
};

struct Goodbye {
    std::vector<std::string> words;
    ~Goodbye() { words.emplace_back(200, 'x'); }
};

thread_local Goodbye goodbye;

bool aligned(const void *block, std::uintptr_t alignment)
{
    return reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

unsigned over_aligned()
{
    unsigned good = 0;

    for (unsigned i = 0; i < 1000; i++) {
        auto one = std::make_unique<Wide>();
        auto many = std::make_unique<Wide[]>(i % 7 + 1);
        good += aligned(one.get(), 256) && aligned(many.get(), 256);
    }
    return good;
}

unsigned exceptions()
{
    unsigned caught = 0;

    for (unsigned i = 0; i < 1000; i++) {
        try {
            std::vector<std::string> words(i % 50, std::string(100, 'y'));
            throw std::runtime_error(std::string(300, 'z'));
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
    return caught;
}

unsigned out_of_memory()
{
    unsigned caught = 0;
    volatile std::size_t huge = SIZE_MAX / 4;

    try {
        ::operator delete(::operator new(huge));
    } catch (const std::bad_alloc &) {
        caught++;
    }
    if (::operator new(huge, std::nothrow) == nullptr)
        caught++;
    return caught;
}

std::size_t containers()
{
    std::map<int, std::string> map;

    for (int i = 0; i < 20000; i++)
        map[i * 7919 % 10007] += std::string(static_cast<std::size_t>(i % 40), 'c');
    return map.size();
}

void threads()
{
    std::vector<std::thread> all;

    for (unsigned i = 0; i < 8; i++)
        all.emplace_back([] { goodbye.words.assign(100, std::string(50, 't')); });
    for (auto &thread : all)
        thread.join();
}

} // namespace

/* With an argument it skips the case in which there is not enough memory. */
int main(int argc, char **)
{
    threads();
    std::printf("%u %u %u %zu\n", over_aligned(), exceptions(),
                argc > 1 ? 0 : out_of_memory(), containers());
    return 0;
}
