/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A C++ plugin.  The C++ runtime is loaded with it, into its own scope. */
#include <new>
#include <string>
#include <vector>

extern "C" int
plugin_run()
{
    std::vector<std::string> words;

    for (int i = 0; i < 100; i++)
        words.push_back(std::string(100, 'x'));
    try {
        volatile std::size_t huge = (std::size_t)1 << 62;
        (void)!operator new(huge);
    } catch (const std::bad_alloc &) {
        return (int)words.size();
    }
    return -1;
}
