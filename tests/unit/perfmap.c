/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Maps of generated code, whole and in pieces, also wrong ones. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "symbols/perfmap.h"

static struct perfmap *
map_of(const char *text)
{
    struct perfmap *map = perfmap_new();

    assert_non_null(map);
    assert_true(perfmap_add(map, text, strlen(text)));
    return map;
}

static void
check(struct perfmap *map, uint64_t address, const char *name)
{
    const char *found = perfmap_find(map, address);

    if (name == NULL) {
        if (found != NULL)
            fail_msg("%s at %llx", found, (unsigned long long)address);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, name);
}

static void
test_lines(void **state)
{
    struct perfmap *map = map_of("1000 10 first\n"
                                 "0x2000 0X20 py::build:/x.py\n"
                                 "7f00ABCDEF00 8  JS:*mk /tmp/a b.js:1:20 \r\n"
                                 "3000 10 not ended");

    (void)state;
    check(map, 0xfff, NULL);
    check(map, 0x1000, "first");
    check(map, 0x100f, "first");
    check(map, 0x1010, NULL);
    check(map, 0x201f, "py::build:/x.py");
    check(map, 0x7f00abcdef07, "JS:*mk /tmp/a b.js:1:20");
    check(map, 0x3000, NULL);
    assert_true(perfmap_add(map, " yet\n", 5));
    check(map, 0x3000, "not ended yet");
    perfmap_free(map);
    perfmap_free(NULL);
}

static void
test_wrong_lines(void **state)
{
    struct perfmap *map = map_of("\n\n1000\n1000 10\n1000 10 \nx 10 name\n1000 -1 name\n"
                                 "1000 0 empty\nffffffffffffffff 10 too far\n"
                                 "10000000000001000 10 too long\n1000\t10 name\n"
                                 "5000 10 a\x1b[31mb\x7f\x01\n");

    (void)state;
    check(map, 0x1000, NULL);
    check(map, 0, NULL);
    check(map, UINT64_MAX, NULL);
    check(map, 0x5000, "a?[31mb??");
    perfmap_free(map);
}

/* Memory for code is used again, as a whole or in parts. */
static void
test_later_lines(void **state)
{
    struct perfmap *map = map_of("1000 100 large\n1000 10 begin\n1080 10 middle\n"
                                 "10f0 20 end\n2000 10 old\n2000 10 new\n"
                                 "3010 10 hidden\n3000 100 over\n");

    (void)state;
    check(map, 0x1000, "begin");
    check(map, 0x1010, "large");
    check(map, 0x108f, "middle");
    check(map, 0x1090, "large");
    check(map, 0x10f0, "end");
    check(map, 0x110f, "end");
    check(map, 0x1110, NULL);
    check(map, 0x2000, "new");
    check(map, 0x3010, "over");
    assert_true(perfmap_add(map, "0 10000 all\n", 12));
    check(map, 0x1000, "all");
    check(map, 0x3010, "all");
    perfmap_free(map);
}

/* By looking at each line, from the last to the first. */
static const char *
find_plainly(const uint64_t lows[], const uint64_t sizes[], unsigned count,
             uint64_t address, char name[16])
{
    for (unsigned i = count; i-- > 0;)
        if (address >= lows[i] && address - lows[i] < sizes[i]) {
            snprintf(name, 16, "f%u", i);
            return name;
        }
    return NULL;
}

static void
test_many(void **state)
{
    enum { LINES = 300, SPACE = 1000 };
    uint64_t lows[LINES], sizes[LINES], seed = 1;
    struct perfmap *map = perfmap_new();
    char line[64], name[16];

    (void)state;
    for (unsigned i = 0; i < LINES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        lows[i] = seed >> 33 & 1023;
        sizes[i] = (seed >> 45 & 63) + 1;
        snprintf(line, sizeof line, "%llx %llx f%u\n", (unsigned long long)lows[i],
                 (unsigned long long)sizes[i], i);
        assert_true(perfmap_add(map, line, strlen(line)));
        if (i % 50 == 49)
            for (uint64_t address = 0; address < SPACE; address++)
                check(map, address,
                      find_plainly(lows, sizes, i + 1, address, name));
    }
    perfmap_free(map);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test(test_later_lines),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
