/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions to the helper about addresses, and its answers: one message each, answered in
   order. */
#ifndef MEMTOP_QUESTION_H
#define MEMTOP_QUESTION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbols/symbols.h"

/* A file of the program, or what its process says about code that it generates. */
struct question_file {
    pid_t pid;             /* the process that sees it at that path; 0: none */
    bool generated;        /* generated code: offsets are addresses; of the rest only pid
                              and the next two count */
    pid_t own_pid;         /* the pid in its own namespace */
    uid_t owner;           /* the process's user */
    uint32_t build_id_size;
    uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
    uint64_t device, inode; /* inode 0: unknown */
    uint64_t mapped;       /* where the process has mapped it; 0: unknown */
    char path[PATH_MAX];
};

/* No address: the file is to be opened and kept, because it may vanish. */
#define QUESTION_HOLD UINT64_MAX

struct symbol_question {
    uint64_t offset;       /* in the file's own addresses, or QUESTION_HOLD */
    struct question_file file;
};

/* Are both the same file?  With equal build ids the processes do not matter; for
   generated code only they do. */
bool question_same_file(const struct question_file *a, const struct question_file *b);

/* Limits of an answer; longer names are cut. */
#define ANSWER_FRAMES 64
#define ANSWER_SIZE 32768
#define ANSWER_NAME 4096

struct answer {
    size_t used;             /* of bytes; what is sent */
    unsigned count;          /* of frames */
    char bytes[ANSWER_SIZE]; /* state, then each frame: line, function, file */
};

/* Begins an answer. */
void answer_begin(struct answer *answer, enum symbol_state state);

/* Adds a frame, unless there is no space.  file may be NULL. */
void answer_add(struct answer *answer, const char *function, const char *file,
                unsigned line);

/*
 * Reads what was received into bytes[0..used), which is not trusted.  frames has space
 * for ANSWER_FRAMES; their strings are in answer.  Returns the number of frames, or
 * -EINVAL.
 */
int answer_read(struct answer *answer, enum symbol_state *state,
                struct symbol_frame *frames);

#endif
