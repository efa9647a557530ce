/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of files in a directory of segments: a name that is accepted is exactly the name
   that a segment of that process gets. */
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
