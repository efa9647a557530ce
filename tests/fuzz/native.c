/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memtop's own traces (files/native-read.c).  The input gives the frames: one byte for
 * the kind, two for the length, then the contents.  The frames are compressed here,
 * because hardly any change of a compressed file would pass the checksums.  Events must
 * come in order, their processes and threads must be known, and the ledger
 * (files/ledger.c) must accept every event.
 */
#include "config.h"

#include "fuzz.h"
#include "files/ledger.h"
#include "files/native-format.h"
#include "files/pack.h"
#include "files/trace.h"

static void
put_frame(FILE *file, struct frame_packer *frame_packer, uint32_t kind,
          const uint8_t *bytes, size_t size)
{
    static unsigned char packed[NATIVE_FRAME_SIZE + 70000];
    size_t stored =
        frame_pack(frame_packer, bytes, size, packed + NATIVE_FRAME_SIZE, 70000);

    native_put32(packed, kind);
    native_put32(packed + 4, (uint32_t)stored);
    native_put32(packed + 8, (uint32_t)size);
    native_put32(packed + 12, native_check(kind, (uint32_t)stored, (uint32_t)size));
    fwrite(packed, 1, NATIVE_FRAME_SIZE + stored, file);
}

static void
make_trace(FILE *file, const uint8_t *data, size_t size)
{
    struct frame_packer *frame_packer = frame_packer_new();
    unsigned char header[NATIVE_HEADER_SIZE] = NATIVE_MAGIC;

    native_put32(header + 8, NATIVE_VERSION);
    native_put32(header + 12, NATIVE_HEADER_SIZE);
    fwrite(header, 1, sizeof header, file);
    while (size >= 3) {
        size_t length = data[1] | (size_t)data[2] << 8;

        if (length > size - 3)
            length = size - 3;
        put_frame(file, frame_packer, data[0], data + 3, length);
        data += 3 + length;
        size -= 3 + length;
    }
    frame_packer_free(frame_packer);
}

static void
read_trace(const char *path)
{
    static struct trace_event events[1000];
    struct ledger ledger;
    struct trace *trace;
    uint64_t last_ns = 0;
    long got;

    REQUIRE(trace_open(path, NULL, &trace) == 0);
    REQUIRE(ledger_init(&ledger, 0, true, true));
    while ((got = trace_read(trace, events, 1000)) > 0)
        for (long i = 0; i < got; i++) {
            const struct trace_info *info = trace_about(trace);

            REQUIRE(events[i].time_ns >= last_ns && events[i].process < info->processes);
            last_ns = events[i].time_ns;
            if (events[i].kind >= TRACE_LOST)
                continue;
            REQUIRE(events[i].thread < info->process[events[i].process].threads);
            REQUIRE(ledger_take(&ledger, &events[i]) >= 0);
        }
    REQUIRE(got == 0);
    ledger_fini(&ledger);
    trace_close(trace);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/memtop-fuzz-native-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

    REQUIRE(file != NULL);
    make_trace(file, data, size);
    REQUIRE(fclose(file) == 0);
    read_trace(path);
    unlink(path);
    return 0;
}
