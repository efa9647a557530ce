/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program's output, fed in pieces: it becomes lines without control bytes, none too
   long and not too many. */
#include "config.h"

#include "fuzz.h"
#include "system/lines.h"

#define LIMIT 20

static void
check_line(const char *bytes, size_t length)
{
    REQUIRE(length <= LINE_BYTES);
    for (size_t i = 0; i < length; i++)
        REQUIRE(bytes[i] == '\t' || ((unsigned char)bytes[i] >= ' ' && bytes[i] != 127));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct line_ring *lines = lines_new(LIMIT);
    size_t piece = size > 0 ? data[0] % 64u + 1 : 1;

    REQUIRE(lines != NULL);
    for (size_t at = 0; at < size; at += piece)
        lines_feed(lines, (const char *)data + at, size - at < piece ? size - at : piece);
    REQUIRE(lines_count(lines) <= LIMIT + 1); /* and the line that has not ended */
    for (size_t i = 0; i < lines_count(lines); i++) {
        size_t length;
        const char *bytes = lines_get(lines, i, &length);

        check_line(bytes, length);
    }
    lines_free(lines);
    return 0;
}
