/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs before they run. */
#include "config.h"

#include "fuzz.h"
#include "monitor/elffile.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = fuzz_descriptor(data, size);
    struct elffile elf;

    if (elffile_read(fd, &elf) == 0)
        REQUIRE(memchr(elf.loader, '\0', sizeof elf.loader) != NULL);
    close(fd);
    return 0;
}
