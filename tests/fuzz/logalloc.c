/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer driver of the readers of allocation logs: the input is munged line by
 * line, both ways; what comes of it is replayed, and so is the input itself, with
 * an allocator that has one block for all.
 *
 * Without libFuzzer (FUZZ_MAIN) it reads the files named as arguments, or makes
 * up logs at random, so that it is a test as well.
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/munge.h"
#include "trace/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- an allocator that does nothing ---- */

static char block[64];

static void *
give(size_t size)
{
    return size <= sizeof block ? block : NULL;
}

static void *
give_many(size_t count, size_t size)
{
    return count < 9 && size < 7 ? block : NULL;
}

static void *
give_again(void *old, size_t size)
{
    if (old != NULL && old != block)
        abort();
    return give(size);
}

static void
take(void *old)
{
    if (old != NULL && old != block)
        abort();
}

static void *
give_aligned(size_t alignment, size_t size)
{
    return alignment != 0 ? give(size) : NULL;
}

static int
give_posix(void **result, size_t alignment, size_t size)
{
    *result = give_aligned(alignment, size);
    return *result == NULL;
}

static size_t
usable(void *old)
{
    take(old);
    return sizeof block;
}

static const struct replay_allocator none = {
    give, give_many, give_again, take, give_aligned, give_posix, give_aligned, give, usable,
};

/* ---- what any caller may rely on ---- */

static struct replay *
new_replay(void)
{
    const struct replay_options options = {
        .touch = true, .slop = true, .stats_every = 3, .allocator = &none};
    struct replay *replay = replay_new(&options);

    if (replay == NULL)
        abort();
    return replay;
}

static void
end_replay(struct replay *replay)
{
    struct replay_slop slop;
    const struct replay_figures *figures = replay_figures(replay);

    replay_flush(replay);
    replay_slop(replay, &slop);
    if (slop.blocks + figures->lost < figures->live_blocks ||
        figures->live_bytes > figures->peak_bytes)
        abort();
    replay_free(replay);
}

/* What is munged can be replayed: a call without result alone, which the original
   lets pass, cannot. */
static void
replay_munged(void *context, const struct logalloc_line *line)
{
    char text[LOGALLOC_LINE_MAX];
    size_t length = logalloc_format(text, LOGALLOC_MUNGED, line);
    enum replay_verdict verdict = replay_line(context, text, length - 1);

    if (verdict != REPLAY_GOOD && verdict != REPLAY_NO_RESULT)
        abort();
}

static void
munge_lines(const char *text, size_t size, bool original)
{
    struct replay *replay = new_replay();
    const struct munge_options options = {
        .original = original, .put = replay_munged, .context = replay};
    struct munge *munge = munge_new(&options);

    while (size > 0) {
        const char *newline = memchr(text, '\n', size);
        size_t length = newline != NULL ? (size_t)(newline - text) : size;

        munge_line(munge, text, length);
        length += newline != NULL;
        text += length;
        size -= length;
    }
    replay_flush(replay);
    if (!original && replay_figures(replay)->lost > 0)
        abort();
    end_replay(replay);
    munge_free(munge);
}

static void
replay_lines(const char *text, size_t size)
{
    struct replay *replay = new_replay();

    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline != NULL ? (size_t)(newline - text) - at : size - at;

        replay_line(replay, text + at, length);
        at += length + 1;
    }
    end_replay(replay);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    munge_lines((const char *)data, size, false);
    munge_lines((const char *)data, size, true);
    replay_lines((const char *)data, size);
    return 0;
}

#ifdef FUZZ_MAIN
static void
read_file(const char *name)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(name, "rb");

    if (file == NULL)
        abort();
    LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof data, file));
    fclose(file);
}

static uint64_t seed = 88172645463325252u;

static unsigned
chance(unsigned limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % limit;
}

/* Mostly lines as they are, few addresses, and some bytes of anything. */
static size_t
make_up(char *text, size_t size)
{
    static const char *const forms[] = {
        "%u %u malloc(%u)=0x%x\n", "%u %u free(0x%x)\n",     "%u %u calloc(%u,%u)=0x%x\n",
        "%u %u malloc(%u)=#%u\n",  "%u %u free(#%u)\n",      "%u %u realloc(0x%x,%u)=0x%x\n",
        "%u %u stats()\n",         "%u %u memalign(%u,%u)=#%u\n",
        "%u %u realloc(#%u,%u)=#%u\n", "%u %u valloc(%u)\n", "%u %u free()%u\n",
    };
    size_t used = 0;

    while (used + 100 < size)
        used += (size_t)sprintf(text + used, forms[chance(11)], 1 + chance(2), chance(3),
                                chance(9), chance(9), chance(9));
    for (unsigned i = chance(20); i > 0; i--)
        text[chance((unsigned)used)] = (char)chance(256);
    return used;
}

int
main(int argc, char **argv)
{
    static char text[4096];

    for (int i = 1; i < argc; i++)
        read_file(argv[i]);
    for (int i = 0; argc == 1 && i < 300; i++)
        LLVMFuzzerTestOneInput((uint8_t *)text, make_up(text, sizeof text));
    return 0;
}
#endif
