/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts of /proc: status, stat and smaps.  They are not to be trusted: a program chooses
   its own name, and the names of the files that it maps. */
#include "config.h"

#include "fuzz.h"
#include "system/procfs.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t stacks[] = {0x7f0000000000};
    const struct smaps_hints hints = {.segment = "1.0", .stacks = stacks,
                                      .stack_count = 1, .stack_size = 8 << 20,
                                      .threads = 3};
    char *text = fuzz_string(data, size);
    FILE *file = fmemopen(text, size + 1, "r");
    struct procfs_memory memory;
    struct resident resident;
    struct procfs_stat stat;

    REQUIRE(file != NULL);
    procfs_parse_stat(text, &stat);
    procfs_parse_status(file, &memory);
    rewind(file);
    smaps_read(file, &hints, &resident);
    fclose(file);
    free(text);
    return 0;
}
