/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For the programs of the library's tests: "PROGRAM CASE" runs one behaviour.  A
   program includes this in its only file, and lists its functions between CASES and
   END_CASES. */
#ifndef MEMTOP_TESTS_CASES_H
#define MEMTOP_TESTS_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ends the program with a message unless condition holds.  Allocates nothing. */
#define REQUIRE(condition)                                                     \
    do {                                                                       \
        if (!(condition)) {                                                    \
            static const char text[] = __FILE__ ": not so: " #condition "\n";  \
            if (write(2, text, sizeof text - 1) < 0)                           \
                _exit(98);                                                     \
            _exit(99);                                                         \
        }                                                                      \
    } while (0)

/* Prints key=number.  Allocates nothing. */
static inline void
tell(const char *key, unsigned long long number)
{
    char line[128];
    int length = snprintf(line, sizeof line, "%s=%llu\n", key, number);

    REQUIRE(write(1, line, (size_t)length) == length);
}

struct test_case {
    const char *name;
    void (*run)(void);
};

static char **case_argv;

#define CASES static const struct test_case cases[] = {
#define CASE(function) {#function, function},
#define END_CASES                                                              \
    };                                                                         \
    int main(int argc, char **argv)                                            \
    {                                                                          \
        case_argv = argv;                                                      \
        for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof cases[0]; i++) \
            if (strcmp(cases[i].name, argv[1]) == 0) {                         \
                cases[i].run();                                                \
                return 0;                                                      \
            }                                                                  \
        return 97;                                                             \
    }

#endif
