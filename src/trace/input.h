/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines from a descriptor, one at a time, without allocating anything. */
#ifndef MEMTOP_INPUT_H
#define MEMTOP_INPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Of a longer line only so much is seen, its beginning. */
#define INPUT_LINE_MAX ((size_t)65536)

struct input {
    int fd;
    bool ended;
    size_t start, end; /* what of bytes is still to be given out */
    char bytes[4 * INPUT_LINE_MAX];
};

void input_init(struct input *input, int fd);

/*
 * The next line, without its newline, which the last one need not have.  It is
 * borrowed until the next call.  1, 0 at the end, or -errno of the read.
 */
int input_line(struct input *input, const char **text, size_t *length);

#endif
