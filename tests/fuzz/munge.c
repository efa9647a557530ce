/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Logs of allocations: whatever is read, what is written can be read again. */
#include "config.h"

#include "fuzz.h"
#include "trace/munge.h"

static void
put(void *context, const struct logalloc_line *line)
{
    struct logalloc_line again;
    char text[LOGALLOC_LINE_MAX];
    size_t length = logalloc_format(text, LOGALLOC_MUNGED, line);

    (void)context;
    REQUIRE(length > 0 && length < sizeof text && text[length - 1] == '\n');
    REQUIRE(logalloc_parse(text, length - 1, LOGALLOC_MUNGED, &again) == LOGALLOC_GOOD);
    REQUIRE(again.pid == line->pid && again.tid == line->tid && again.call == line->call);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct munge_options options = {size > 0 && data[0] == '!', put, NULL};
    struct munge *munge = munge_new(&options);

    REQUIRE(munge != NULL);
    while (size > 0) {
        const uint8_t *newline = memchr(data, '\n', size);
        size_t length = newline != NULL ? (size_t)(newline - data) : size;

        munge_line(munge, (const char *)data, length);
        length += newline != NULL;
        data += length;
        size -= length;
    }
    munge_free(munge);
    return 0;
}
