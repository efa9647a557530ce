/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Session files (memtop -r). */
#include "config.h"

#include "fuzz.h"
#include "files/archive.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = fdopen(fuzz_descriptor(data, size), "r");
    char why[512] = "";
    struct saved *saved;

    REQUIRE(file != NULL);
    archive_recognise(data, size);
    saved = archive_read(file, why, sizeof why);
    if (saved == NULL)
        REQUIRE(why[0] != '\0' && memchr(why, '\0', sizeof why) != NULL);
    else
        saved_free(saved);
    fclose(file);
    return 0;
}
