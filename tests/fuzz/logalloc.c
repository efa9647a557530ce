/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Logs of allocations.  They are munged line by line, from both forms, and the result is
   replayed; the input itself is replayed as well.  The allocator has one block for all
   calls. */
#include "config.h"

#include "fuzz.h"
#include "replay/munge.h"
#include "replay/replay.h"

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
    give,       give_many,    give_again, take,   give_aligned,
    give_posix, give_aligned, give,       usable,
};

/* ---- properties that callers rely on ---- */

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

/* A munged line can be replayed.  The only exception is a call without a result, which
   an original log may contain and a replay refuses. */
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
