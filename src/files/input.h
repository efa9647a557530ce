/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads lines or bytes from a descriptor without allocating. */
#ifndef MEMTOP_INPUT_H
#define MEMTOP_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest line returned; the rest of a longer one is dropped. */
#define INPUT_LINE_MAX ((size_t)65536)

struct input {
    int fd;
    bool ended;
    size_t start, end; /* range of bytes not returned yet */
    uint64_t taken;    /* number of bytes returned so far */
    uint64_t left;     /* number of bytes that may still be read */
    char bytes[4 * INPUT_LINE_MAX];
};

void input_init(struct input *input, int fd);

/* Makes the input end after this many more bytes: a growing file might never end. */
void input_limit(struct input *input, uint64_t bytes);

/*
 * Returns the next line without its newline, which the last line need not have.  The
 * text is borrowed until the next call.  Returns 1, 0 at the end, or -errno.
 */
int input_line(struct input *input, const char **text, size_t *length);

/* Shows what comes next without taking it: at least `wanted` bytes, at most
   INPUT_LINE_MAX + 1, or all there are.  Borrowed until the next call.  Returns 0 or
   -errno. */
int input_peek(struct input *input, size_t wanted, const char **bytes, size_t *size);

/* Takes up to size bytes; fewer only at the end.  Returns their number, or -errno. */
long input_bytes(struct input *input, void *bytes, size_t size);

/* Progress while a long file is read: tell() is called now and then, when `done` of `all`
   is read; all is 0 if not known (a pipe). */
struct trace_progress {
    void (*tell)(void *context, uint64_t done, uint64_t all);
    void *context;
};

#endif
