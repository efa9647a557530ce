/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stack of a thread that runs CPython, as Python sees it.
 *
 * The interpreter's own structs are read where they lie.  Nothing is called but
 * pthread_getspecific(), which only reads: no Python, no system call, no lock, no
 * allocation.  May be called wherever malloc may be: from any thread, from signal
 * handlers, in the midst of any function of the interpreter.
 *
 * A wrong pointer followed would end the program, so each pointer has its reason:
 *
 *  - _PyRuntime and the types are data of an object that is never unloaded (lookup.h).
 *
 *  - The thread's state is taken from what belongs to this thread alone.  Up to 3.11 that
 *    is its value of the interpreter's pthread key, if it equals the state that holds the
 *    GIL: then nobody else may free it.  From 3.12 on it is the thread-local variable
 *    from which the interpreter itself takes it, and which is set exactly while the
 *    state is attached to this thread.  It is of the main interpreter, or left alone.
 *
 *  - Frames up to 3.10 are objects, linked by references that are counted: the frame that
 *    runs keeps its callers.  Each frame's type is checked.
 *
 *  - Frames from 3.11 on lie in the part in use of the chunks of the thread's stack of
 *    frames, which are found from its state; or on this thread's C stack, between its
 *    stack pointer and its base; or in a generator that runs, which its caller keeps.  A
 *    frame elsewhere is read only because the link to it must be right: its owner must be
 *    a generator, and the object around it of a generator's type.
 *
 *  - Code is kept by its frame, whose instruction must lie in it.  Its type is checked.
 *
 *  - Texts and tables of lines are kept by the code.  Their types are checked.
 *
 * The interpreter links a frame when it is complete, and unlinks it before it takes it
 * apart, so a malloc in either finds a stack that is whole.  A C signal handler may come
 * between any two instructions.  Each link is one aligned word, so that it sees the stack
 * before or after, but for one case: in 3.11 and 3.12 a struct on the C stack names the
 * newest frame, and for an instruction or two after the thread's state points to it, it
 * does not yet say which.  What it says is then left from an earlier call, and so may be
 * the link of the frame that is being made.  Therefore in these versions, up to a frame
 * that has begun, links are followed only into the part of the stack that is in use, and
 * to the generator that the thread's state says runs.
 *
 * Greenlets, which replace the chunks and the frames one after the other, are cut short
 * meanwhile.  The number of steps is bounded.
 */
#ifndef MEMTOP_PYTHON_H
#define MEMTOP_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What came of a walk. */
enum python_answer {
    PYTHON_WHOLE = 0, /* down to the outermost frame */
    PYTHON_CUT,       /* no room for more frames, or the next one could not be believed */
    PYTHON_IDLE,  /* this thread runs no Python: it has no state, or has released it */
    PYTHON_OTHER, /* this thread may be in a sub-interpreter, which is not walked */
    /* From here on the answer is the same for all threads and never changes. */
    PYTHON_NONE,    /* no interpreter was loaded with the program */
    PYTHON_VERSION, /* not a release of a version that is known */
    PYTHON_BUILD,   /* built so that its objects have another layout */
    PYTHON_FREE,    /* free-threaded */
    PYTHON_HIDDEN,  /* how it finds a thread's state is not understood */
};

struct mt_python_frame {
    uintptr_t code; /* the code object's address */
    int32_t offset; /* of the instruction in its code, in bytes; -1 if unknown */
    bool entry;     /* it is the outermost of those that one C frame of the interpreter's
                       loop runs */
};

/*
 * Looks for an interpreter, if that has not been done: some thousand instructions for
 * each object that was loaded with the program, once.  Returns PYTHON_WHOLE if it can be
 * walked.  mt_python_frames() begins with this.
 */
enum python_answer mt_python_start(void);

/* The interpreter's version as PY_VERSION_HEX; of 3.9 and 3.10 some release's.  0 if
   there is no interpreter, or its version cannot be told. */
uint32_t mt_python_version(void);

/* The calling thread's frames, innermost first, at most limit of them; returns their
   number, which is 0 unless the answer is PYTHON_WHOLE or PYTHON_CUT.  Keeps errno. */
size_t mt_python_frames(struct mt_python_frame *frames, size_t limit,
                        enum python_answer *answer);

/* A number that is the same as long as a frame's code object is the same one: addresses
   are used again. */
uint64_t mt_python_mark(const struct mt_python_frame *frame);

/* What a frame's code object says.  Texts are UTF-8 and end with a null; one that has no
   room loses its end, a file its beginning. */
struct mt_python_place {
    uint32_t first_line; /* of the function */
    uint32_t line;       /* 0 if the instruction belongs to none */
    char name[192];      /* qualified from 3.11 on */
    char file[320];
};

/* Describes a frame of mt_python_frames(), before the call of malloc it was walked in
   returns: later the code object may be gone.  Returns false if it is none. */
bool mt_python_describe(const struct mt_python_frame *frame,
                        struct mt_python_place *place);

#endif
