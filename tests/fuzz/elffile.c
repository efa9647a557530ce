/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Executable files: what memtop reads of a program before it runs, and the places of its
   functions. */
#include "config.h"

#include "fuzz.h"
#include "system/elffile.h"

static void
visit(const struct elffile_function *function, void *count)
{
    REQUIRE(function->name[0] != '\0');
    ++*(unsigned *)count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = fuzz_descriptor(data, size);
    struct elffile elf;
    unsigned count = 0;
    uint8_t id[16];

    if (elffile_read(fd, &elf) == 0)
        REQUIRE(memchr(elf.loader, '\0', sizeof elf.loader) != NULL);
    if (elffile_functions(fd, visit, &count) != 0)
        REQUIRE(count == 0);
    REQUIRE(elffile_build_id(fd, id, sizeof id) <= (int)sizeof id);
    close(fd);
    return 0;
}
