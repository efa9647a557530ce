// SPDX-License-Identifier: LGPL-2.1-or-later
// Allocates from templates and inlined functions, so much in each that is known:
// Table<Row>::add 40 MB that stay, build_index 10 MB that stay, scratch 200 MB of
// which nothing stays.  Then, with an argument, waits to be ended.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

struct Row {
    char bytes[400];
};

template <typename T> struct Table {
    std::vector<T *> rows;
    __attribute__((noinline)) void add() { rows.push_back(new T); }
};

static inline __attribute__((always_inline)) void *
make_node(size_t size)
{
    return malloc(size);
}

static void *volatile kept;

__attribute__((noinline)) static void
build_index()
{
    for (int i = 0; i < 10000; i++)
        kept = make_node(1000);
}

__attribute__((noinline)) static void
scratch()
{
    for (int i = 0; i < 20000; i++) {
        void *block = malloc(10000);
        kept = block;
        free(block);
    }
}

int
main(int argc, char **)
{
    Table<Row> table;

    for (int i = 0; i < 100000; i++)
        table.add();
    build_index();
    scratch();
    if (argc > 1) {
        puts("ready");
        fflush(stdout);
        pause();
    }
    _exit(0);
}
