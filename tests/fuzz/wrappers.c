/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A user's list of wrappers: any text, and a name it is compared with. */
#include "config.h"

#include "fuzz.h"
#include "monitor/wrappers.h"

static void
tell(void *context, unsigned line, const char *text)
{
    REQUIRE(context == NULL && line > 0 && text[0] != '#');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"main", "std::vector<int>::at",
                                        "aaaaaaaaaaaaaab"};
    const struct wrappers_fault fault = {NULL, tell};

    REQUIRE(wrappers_add((const char *)data, size, &fault));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        wrappers_have(names[i], "/bin/a", "src/a.c");
    wrappers_reset();
    return 0;
}
