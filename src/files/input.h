/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines or bytes from a descriptor, without allocating anything. */
#ifndef MEMTOP_INPUT_H
#define MEMTOP_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a longer line only so much is seen, its beginning. */
#define INPUT_LINE_MAX ((size_t)65536)

struct input {
    int fd;
    bool ended;
    size_t start, end; /* what of bytes is still to be given out */
    uint64_t taken;    /* bytes given out so far */
    uint64_t left;     /* bytes that may still be read */
    char bytes[4 * INPUT_LINE_MAX];
};

void input_init(struct input *input, int fd);

/* Ends after so many bytes more: a file that grows would perhaps never end. */
void input_limit(struct input *input, uint64_t bytes);

/*
 * The next line, without its newline, which the last one need not have.  It is
 * borrowed until the next call.  1, 0 at the end, or -errno of the read.
 */
int input_line(struct input *input, const char **text, size_t *length);

/* What comes next, without taking it: at least wanted bytes, of which there may be
   INPUT_LINE_MAX + 1, or all there are.  Borrowed likewise.  0 or -errno. */
int input_peek(struct input *input, size_t wanted, const char **bytes, size_t *size);

/* Takes up to size bytes; fewer only at the end.  How many, or -errno. */
long input_bytes(struct input *input, void *bytes, size_t size);

#endif
