/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a process says about the code it generates, in pieces; the first bytes are the
   address that is looked up. */
#include "config.h"

#include "fuzz.h"
#include "symbols/perfmap.h"

static void
check_name(const char *name)
{
    for (; name != NULL && *name != '\0'; name++)
        REQUIRE((unsigned char)*name >= ' ' && *name != 0x7f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perfmap *map = perfmap_new();
    uint64_t address = 0;
    size_t head = size < sizeof address ? size : sizeof address;
    size_t piece = size > 0 ? data[0] % 64u + 1 : 1;

    REQUIRE(map != NULL);
    memcpy(&address, data, head);
    for (size_t at = head; at < size; at += piece) {
        REQUIRE(perfmap_add(map, (const char *)data + at,
                            size - at < piece ? size - at : piece));
        check_name(perfmap_find(map, address));
        check_name(perfmap_find(map, address & 0xffff));
    }
    REQUIRE(perfmap_size(map) == size - head);
    perfmap_free(map);
    return 0;
}
