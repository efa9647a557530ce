/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kinds of files: once the beginning of a file has decided its kind, more bytes do not
   change it; and bytes and a file that holds them have the same kind. */
#include "config.h"

#include <unistd.h>

#include "fuzz.h"
#include "files/kind.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct input input;
    size_t shown = size < KIND_BYTES ? size : KIND_BYTES;
    enum file_kind whole = kind_of_bytes((const char *)data, shown, true), kind;

    REQUIRE(whole < KINDS && whole != KIND_STREAM);
    REQUIRE((size == 0) == (whole == KIND_EMPTY));
    for (size_t part = 1; part < shown; part += 1 + shown / 16) {
        char *begin = malloc(part); /* AddressSanitizer finds a read beyond it */

        REQUIRE(begin != NULL);
        memcpy(begin, data, part);
        kind = kind_of_bytes(begin, part, false);
        REQUIRE(kind < KIND_STREAM || kind == whole);
        free(begin);
    }
    input_init(&input, fuzz_descriptor(data, size));
    REQUIRE(kind_of_input(&input, &kind) == 0 && kind == whole);
    close(input.fd);
    return 0;
}
