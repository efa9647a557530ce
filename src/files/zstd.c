/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hides zstd from the other modules of traces.  Uses the fastest regular level, because
 * the recorder shares the machine with the program: on typical traces level 3 takes
 * twice the time for 4 % less.
 */
#include "config.h"

#include "files/zstd.h"

#include <zstd.h>

#define LEVEL 1

size_t
zstd_bound(size_t size)
{
    return ZSTD_compressBound(size);
}

struct squeezer *
squeezer_new(void)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();

    if (context != NULL) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    }
    return (struct squeezer *)context;
}

void
squeezer_free(struct squeezer *squeezer)
{
    ZSTD_freeCCtx((ZSTD_CCtx *)squeezer);
}

size_t
squeeze(struct squeezer *squeezer, const void *bytes, size_t size, void *out, size_t room)
{
    size_t made = ZSTD_compress2((ZSTD_CCtx *)squeezer, out, room, bytes, size);

    return ZSTD_isError(made) ? 0 : made;
}

struct unsqueezer *
unsqueezer_new(void)
{
    return (struct unsqueezer *)ZSTD_createDCtx();
}

void
unsqueezer_free(struct unsqueezer *unsqueezer)
{
    ZSTD_freeDCtx((ZSTD_DCtx *)unsqueezer);
}

bool
unsqueeze(struct unsqueezer *unsqueezer, const void *bytes, size_t size, void *out,
          size_t expected)
{
    size_t made =
        ZSTD_decompressDCtx((ZSTD_DCtx *)unsqueezer, out, expected, bytes, size);

    return !ZSTD_isError(made) && made == expected;
}
