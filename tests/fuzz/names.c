/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names in a directory of segments: what is taken for one is exactly one. */
#include "config.h"

#include "fuzz.h"
#include "segment/names.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = fuzz_string(data, size), again[32];
    uint32_t generation;
    pid_t pid;

    if (segment_name_parse(name, &pid, &generation)) {
        segment_name(again, pid, generation);
        REQUIRE(pid > 0 && strcmp(name, again) == 0);
    }
    free(name);
    return 0;
}
