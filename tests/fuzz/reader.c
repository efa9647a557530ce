/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments: everything that a reader can read. */
#include "config.h"

#include "segment.h"
#include "segment/reader.h"

/* Checks what callers rely on. */
static void
read_everything(struct reader *reader)
{
    static struct histogram histogram;
    static struct identity identity;
    struct recorded *recorded;
    struct snapshot snapshot;
    size_t count;

    if (reader_identity(reader, &identity) == 0)
        REQUIRE(
            identity.pid > 0
            && (identity.args_size == 0 || identity.args[identity.args_size - 1] == '\0')
            && memchr(identity.program, '\0', sizeof identity.program) != NULL);
    if (reader_snapshot(reader, &snapshot) == 0)
        REQUIRE(snapshot.peak_bytes >= snapshot.live_bytes);
    reader_histogram(reader, &histogram);
    if (reader_recorded(reader, &recorded, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++)
        REQUIRE(recorded[i].begin_ns < recorded[i].end_ns
                && (i == 0 || recorded[i].begin_ns >= recorded[i - 1].end_ns));
    free(recorded);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader *reader;

    segment_of(0, data, size);
    if (reader_open(segment_path, getuid(), geteuid(), &reader) == 0) {
        read_everything(reader);
        reader_close(reader);
    }
    return 0;
}
