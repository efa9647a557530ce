/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Does not use stdio, which would allocate in the replaying program.  Memory is bounded
 * whatever is read: the end of an overlong line is read and dropped.
 */
#include "config.h"

#include "files/input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void
input_init(struct input *input, int fd)
{
    input->fd = fd;
    input->ended = false;
    input->start = input->end = 0;
    input->taken = 0;
    input->left = UINT64_MAX;
}

void
input_limit(struct input *input, uint64_t bytes)
{
    input->left = bytes;
}

/* Reads more into the buffer.  Returns 0 or -errno. */
static int
fill(struct input *input)
{
    size_t room;
    ssize_t count;

    if (input->start > 0) {
        memmove(input->bytes, input->bytes + input->start, input->end - input->start);
        input->end -= input->start;
        input->start = 0;
    }
    room = sizeof input->bytes - input->end;
    if (room > input->left)
        room = (size_t)input->left;
    do
        count = read(input->fd, input->bytes + input->end, room);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return -errno;
    input->ended = count == 0;
    input->end += (size_t)count;
    input->left -= (size_t)count;
    return 0;
}

/* Finds the newline of the line at start, skipping `seen` bytes searched before. */
static const char *
find_newline(const struct input *input, size_t seen)
{
    return memchr(input->bytes + input->start + seen, '\n',
                  input->end - input->start - seen);
}

int
input_line(struct input *input, const char **text, size_t *length)
{
    const char *newline;
    size_t seen = 0;
    int error;

    *text = NULL;
    *length = 0;
    while ((newline = find_newline(input, seen)) == NULL && !input->ended) {
        seen = input->end - input->start;
        if (seen > INPUT_LINE_MAX) /* overwrite the part beyond the limit */
            input->end = input->start + (seen = INPUT_LINE_MAX);
        error = fill(input);
        if (error != 0)
            return error;
    }
    if (input->start == input->end)
        return 0;
    *text = input->bytes + input->start;
    *length = newline != NULL ? (size_t)(newline - *text) : input->end - input->start;
    input->start += *length + (newline != NULL);
    input->taken += *length + (newline != NULL);
    if (*length > INPUT_LINE_MAX)
        *length = INPUT_LINE_MAX;
    return 1;
}

int
input_peek(struct input *input, size_t wanted, const char **bytes, size_t *size)
{
    while (input->end - input->start < wanted && !input->ended) {
        int error = fill(input);

        if (error != 0)
            return error;
    }
    *bytes = input->bytes + input->start;
    *size = input->end - input->start;
    return 0;
}

long
input_bytes(struct input *input, void *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        size_t part = input->end - input->start;

        if (part == 0) {
            int error = input->ended ? 0 : fill(input);

            if (error != 0)
                return error;
            if (input->ended)
                break;
            continue;
        }
        if (part > size - done)
            part = size - done;
        memcpy((char *)bytes + done, input->bytes + input->start, part);
        input->start += part;
        done += part;
    }
    input->taken += done;
    return (long)done;
}
