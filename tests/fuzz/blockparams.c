/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameter files (report/blockparams.h): whatever the bytes are, what is read is valid,
   and reading what is written gives the same again. */
#include "config.h"

#include "fuzz.h"
#include "report/blockparams.h"

static void
count(void *context, unsigned line, const char *key, const char *what)
{
    REQUIRE(line > 0 && key != NULL && what != NULL);
    ++*(unsigned *)context;
}

static void
check(const struct blockparams *params)
{
    const struct counts *counts = &params->counts;

    REQUIRE(params->sort <= BLOCK_BY_SIZE && params->reports <= BLOCK_FULL);
    REQUIRE(counts->kind >= COUNTS_LINEAR && counts->kind <= COUNTS_ARRAY);
    REQUIRE(counts->factor >= 1 && counts->base >= 1);
    REQUIRE(counts->length >= 1 && counts->length <= COUNTS_BOUNDS_MAX);
    REQUIRE(counts->lower < counts->bounds[0]);
    for (unsigned i = 1; i < counts->length; i++)
        REQUIRE(counts->bounds[i - 1] < counts->bounds[i]);
    REQUIRE(params->delimiter[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct blockparams params, again;
    unsigned warnings = 0;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    REQUIRE(out != NULL);
    blockparams_default(&params);
    blockparams_parse((const char *)data, size, &params, count, &warnings);
    check(&params);
    REQUIRE(blockparams_write(out, &params));
    fclose(out);
    warnings = 0;
    blockparams_default(&again);
    blockparams_parse(text, length, &again, count, &warnings);
    check(&again);
    REQUIRE(warnings == 0);
    REQUIRE(again.reports == params.reports && again.sort == params.sort);
    REQUIRE(strcmp(again.delimiter, params.delimiter) == 0);
    REQUIRE(strcmp(again.directory, params.directory) == 0);
    REQUIRE(strcmp(again.extension, params.extension) == 0);
    REQUIRE(memcmp(again.counts.bounds, params.counts.bounds,
                   params.counts.length * sizeof *params.counts.bounds) == 0);
    free(text);
    return 0;
}
