/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data files (files/dat.h): each record is handed out once and in order, and its time
   lies within the run. */
#include "config.h"

#include "fuzz.h"
#include "files/dat.h"

struct seen_records {
    const struct dat *dat;
    uint64_t count, latest;
};

static void
take(void *context, uint64_t index, const struct dat_record *record)
{
    struct seen_records *seen = context;

    REQUIRE(index == seen->count++);
    REQUIRE(record->time >= seen->latest && record->time <= seen->dat->end);
    seen->latest = record->time;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = fuzz_descriptor(data, size);
    struct seen_records seen = {0};
    char path[32];
    struct dat dat;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (dat_open(path, NULL, &dat) == 0) {
        REQUIRE(dat.start <= dat.end);
        seen = (struct seen_records){&dat, 0, dat.start};
        REQUIRE(dat_scan(&dat, take, &seen) == 0 && seen.count == dat.count);
        dat_close_read(&dat);
    }
    close(fd);
    return 0;
}
