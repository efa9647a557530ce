/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hides zstd behind two FILEs; no other module of session files knows it.  Frames have
 * checksums, so that bytes damaged on a disk are detected.
 */
#include "config.h"

#include "files/pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zstd.h>

#define LEVEL 9 /* a tenth smaller than the default 3, for hundredths of a second */

/* memtop's frames need no larger window; others are refused. */
#define WINDOW_LOG_MAX 24

/* ---- writing ---- */

struct packer {
    FILE *out;
    ZSTD_CCtx *context;
    size_t room;
    char buffer[];
};

/* Compresses and writes.  Returns false and sets errno on failure. */
static bool
compress(struct packer *writer, const char *bytes, size_t size, ZSTD_EndDirective end)
{
    ZSTD_inBuffer input = {bytes, size, 0};
    size_t left;

    do {
        ZSTD_outBuffer output = {writer->buffer, writer->room, 0};

        left = ZSTD_compressStream2(writer->context, &output, &input, end);
        if (ZSTD_isError(left)) {
            errno = ENOMEM; /* the only possible reason */
            return false;
        }
        if (fwrite(writer->buffer, 1, output.pos, writer->out) != output.pos)
            return false;
    } while (end == ZSTD_e_end ? left > 0 : input.pos < input.size);
    return true;
}

static ssize_t
write_some(void *cookie, const char *bytes, size_t size)
{
    return compress(cookie, bytes, size, ZSTD_e_continue) ? (ssize_t)size : 0;
}

static int
close_writer(void *cookie)
{
    struct packer *writer = cookie;
    bool complete = compress(writer, NULL, 0, ZSTD_e_end);

    ZSTD_freeCCtx(writer->context);
    free(writer);
    return complete ? 0 : -1;
}

FILE *
pack_writer(FILE *out)
{
    const cookie_io_functions_t functions = {.write = write_some, .close = close_writer};
    size_t room = ZSTD_CStreamOutSize();
    struct packer *writer = malloc(sizeof *writer + room);
    FILE *stream = NULL;

    if (writer == NULL)
        return NULL;
    *writer = (struct packer){.out = out, .context = ZSTD_createCCtx(), .room = room};
    if (writer->context != NULL) {
        ZSTD_CCtx_setParameter(writer->context, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(writer->context, ZSTD_c_checksumFlag, 1);
        stream = fopencookie(writer, "w", functions);
    }
    if (stream == NULL) {
        ZSTD_freeCCtx(writer->context);
        free(writer);
    }
    return stream;
}

/* ---- reading ---- */

struct unpacker {
    FILE *in;
    ZSTD_DCtx *context;
    ZSTD_inBuffer input;
    bool inside; /* in a frame, whose end is still to come */
    size_t room;
    char buffer[];
};

/* Reads more input.  Returns false and sets errno if there is none. */
static bool
fill(struct unpacker *reader)
{
    size_t got = fread(reader->buffer, 1, reader->room, reader->in);

    reader->input = (ZSTD_inBuffer){reader->buffer, got, 0};
    if (got == 0 && !ferror(reader->in))
        errno = reader->inside ? EBADMSG : 0;
    return got > 0;
}

static ssize_t
read_some(void *cookie, char *bytes, size_t size)
{
    struct unpacker *reader = cookie;
    ZSTD_outBuffer output = {bytes, size, 0};

    while (output.pos == 0) {
        if (reader->input.pos == reader->input.size && !fill(reader))
            return errno == 0 ? 0 : -1;
        size_t hint = ZSTD_decompressStream(reader->context, &output, &reader->input);
        if (ZSTD_isError(hint)) {
            errno = EBADMSG;
            return -1;
        }
        reader->inside = hint > 0;
    }
    return (ssize_t)output.pos;
}

static int
close_reader(void *cookie)
{
    struct unpacker *reader = cookie;

    ZSTD_freeDCtx(reader->context);
    free(reader);
    return 0;
}

FILE *
pack_reader(FILE *in)
{
    const cookie_io_functions_t functions = {.read = read_some, .close = close_reader};
    size_t room = ZSTD_DStreamInSize();
    struct unpacker *reader = malloc(sizeof *reader + room);
    FILE *stream = NULL;

    if (reader == NULL)
        return NULL;
    *reader = (struct unpacker){
        .in = in, .context = ZSTD_createDCtx(), .inside = true, .room = room};
    if (reader->context != NULL) {
        ZSTD_DCtx_setParameter(reader->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
        stream = fopencookie(reader, "r", functions);
    }
    if (stream == NULL) {
        ZSTD_freeDCtx(reader->context);
        free(reader);
    }
    return stream;
}

/* ---- single frames ---- */

/* The fastest regular level, because the recorder shares the machine with the program: on
   typical traces level 3 takes twice the time for 4 % less. */
#define FRAME_LEVEL 1

size_t
frame_bound(size_t size)
{
    return ZSTD_compressBound(size);
}

struct frame_packer *
frame_packer_new(void)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();

    if (context != NULL) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, FRAME_LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    }
    return (struct frame_packer *)context;
}

void
frame_packer_free(struct frame_packer *frame_packer)
{
    ZSTD_freeCCtx((ZSTD_CCtx *)frame_packer);
}

size_t
frame_pack(struct frame_packer *frame_packer, const void *bytes, size_t size, void *out,
           size_t room)
{
    size_t made = ZSTD_compress2((ZSTD_CCtx *)frame_packer, out, room, bytes, size);

    return ZSTD_isError(made) ? 0 : made;
}

struct frame_unpacker *
frame_unpacker_new(void)
{
    return (struct frame_unpacker *)ZSTD_createDCtx();
}

void
frame_unpacker_free(struct frame_unpacker *frame_unpacker)
{
    ZSTD_freeDCtx((ZSTD_DCtx *)frame_unpacker);
}

bool
frame_unpack(struct frame_unpacker *frame_unpacker, const void *bytes, size_t size,
             void *out, size_t expected)
{
    size_t made =
        ZSTD_decompressDCtx((ZSTD_DCtx *)frame_unpacker, out, expected, bytes, size);

    return !ZSTD_isError(made) && made == expected;
}
