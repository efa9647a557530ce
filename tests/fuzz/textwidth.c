/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text from any source on its way to a terminal: it has no control characters, and is
   never wider than asked for. */
#include "config.h"

#include <limits.h>
#include <locale.h>
#include <wchar.h>
#include <wctype.h>

#include "fuzz.h"
#include "base/textwidth.h"

static void
check(const char *text, size_t room)
{
    mbstate_t state = {0};
    wchar_t wide;
    size_t got;

    REQUIRE(strlen(text) < room);
    while ((got = mbrtowc(&wide, text, MB_LEN_MAX, &state)) != 0) {
        REQUIRE(got <= MB_LEN_MAX && !iswcntrl((wint_t)wide));
        text += got;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_string(data, size), *buffer;
    size_t columns = size > 0 ? data[0] % 100u : 0;
    size_t room = size > 1 ? data[1] * 4u + 1 : 1;

    setlocale(LC_CTYPE, "C.UTF-8");
    buffer = malloc(room);
    REQUIRE(buffer != NULL);
    check(text_sanitise(buffer, room, (const char *)data, size), room);
    check(text_clip(buffer, room, text, columns), room);
    REQUIRE(text_columns(buffer) <= columns);
    check(text_pad(buffer, room, text, columns, TEXT_RIGHT), room);
    REQUIRE(text_columns(buffer) <= columns);
    text_utf8(buffer, room, text);
    REQUIRE(strlen(buffer) < room);
    free(buffer);
    free(text);
    return 0;
}
