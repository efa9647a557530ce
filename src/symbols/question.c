/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Answers as bytes: one for the state, then for each frame four for the line and two
 * strings that end in NUL, the second empty if there is no file.  The reader trusts
 * nothing, because answers were made by a process that has read files of the program.
 */
#include "config.h"

#include "symbols/question.h"

#include <errno.h>
#include <string.h>

bool
question_same_file(const struct question_file *a, const struct question_file *b)
{
    if (a->generated || b->generated)
        return a->generated && b->generated && a->pid == b->pid
               && a->own_pid == b->own_pid;
    if (a->build_id_size != b->build_id_size || strcmp(a->path, b->path) != 0)
        return false;
    if (a->build_id_size > 0)
        return memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
    return a->device == b->device && a->inode == b->inode && a->pid == b->pid;
}

void
answer_begin(struct answer *answer, enum symbol_state state)
{
    answer->bytes[0] = (char)state;
    answer->used = 1;
    answer->count = 0;
}

/* Appends at most ANSWER_NAME - 1 bytes; the caller has checked that they fit. */
static void
add_name(struct answer *answer, const char *name)
{
    size_t length = strnlen(name, ANSWER_NAME - 1);

    memcpy(answer->bytes + answer->used, name, length);
    answer->used += length;
    answer->bytes[answer->used++] = '\0';
}

void
answer_add(struct answer *answer, const char *function, const char *file, unsigned line)
{
    uint32_t number = line;

    if (answer->count == ANSWER_FRAMES
        || answer->used + sizeof number + 2 * ANSWER_NAME > sizeof answer->bytes)
        return;
    memcpy(answer->bytes + answer->used, &number, sizeof number);
    answer->used += sizeof number;
    add_name(answer, function);
    add_name(answer, file != NULL ? file : "");
    answer->count++;
}

/* The string at *at, which is moved behind it; NULL if it does not end. */
static const char *
read_name(const struct answer *answer, size_t *at)
{
    const char *name = answer->bytes + *at;
    const char *end = memchr(name, '\0', answer->used - *at);

    if (end == NULL)
        return NULL;
    *at += (size_t)(end - name) + 1;
    return name;
}

int
answer_read(struct answer *answer, enum symbol_state *state, struct symbol_frame *frames)
{
    size_t at = 1;
    int count = 0;

    if (answer->used == 0 || answer->used > sizeof answer->bytes
        || answer->bytes[0] <= SYMBOL_ASKED || answer->bytes[0] > SYMBOL_FAILED)
        return -EINVAL;
    *state = (enum symbol_state)answer->bytes[0];
    while (at < answer->used) {
        uint32_t line;
        if (count == ANSWER_FRAMES || answer->used - at < sizeof line)
            return -EINVAL;
        memcpy(&line, answer->bytes + at, sizeof line);
        at += sizeof line;
        const char *function = read_name(answer, &at);
        const char *file = function != NULL ? read_name(answer, &at) : NULL;
        if (file == NULL)
            return -EINVAL;
        frames[count++] = (struct symbol_frame){
            function, file[0] != '\0' ? file : NULL, file[0] != '\0' ? line : 0};
    }
    return (count > 0) == (*state == SYMBOL_KNOWN) ? count : -EINVAL;
}
