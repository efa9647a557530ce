/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes the place of libFuzzer where that is not used: reads every input of the target's
 * corpus, or the files named as arguments, and then variants of each with some bytes
 * changed.  The changes are the same in every run, so a failure can be repeated.
 */
#include "config.h"

#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX (1u << 16)
#define VARIANTS  100

static uint8_t input[INPUT_MAX], changed[INPUT_MAX];
static unsigned read_inputs;

static uint64_t
next_random(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Copies the input into a block of its exact size, so that AddressSanitizer sees reads
   past the end. */
static void
try_input(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);

    if (copy == NULL)
        abort();
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Changes or removes some bytes, or cuts off the end.  Returns the new size. */
static size_t
change_input(size_t size)
{
    size_t count = 1 + next_random() % 8;

    memcpy(changed, input, size);
    while (count-- > 0 && size > 0) {
        size_t at = next_random() % size;

        switch (next_random() % 4) {
        case 0:
            changed[at] = (uint8_t)next_random();
            break;
        case 1:
            changed[at] ^= (uint8_t)(1 << next_random() % 8);
            break;
        case 2:
            memmove(changed + at, changed + at + 1, size - at - 1);
            size--;
            break;
        default:
            size = next_random() % 8 == 0 ? at : size;
        }
    }
    return size;
}

static void
read_input(const char *name)
{
    FILE *file = fopen(name, "rb");
    size_t size;

    if (file == NULL) {
        perror(name);
        exit(99);
    }
    size = fread(input, 1, sizeof input, file);
    fclose(file);
    try_input(input, size);
    for (int i = 0; i < VARIANTS; i++)
        try_input(changed, change_input(size));
    read_inputs++;
}

static void
read_corpus(const char *target)
{
    const char *source = getenv("srcdir");
    char path[PATH_MAX], name[PATH_MAX + NAME_MAX + 2];
    struct dirent **entries;
    int count;

    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", source != NULL ? source : ".",
             target);
    count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            read_input(name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_input(argv[i]);
    if (argc == 1)
        read_corpus(strrchr(argv[0], '/') != NULL ? strrchr(argv[0], '/') + 1 : argv[0]);
    printf("%u inputs\n", read_inputs);
    return read_inputs > 0 ? 0 : 99;
}
