/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the fields lie that are read of a CPython interpreter, for each version.
 *
 * Releases of one minor version have the same layout.  Up to 3.12 the offsets are those
 * of the releases' headers.  From 3.13 on most are told by the table at the start of
 * _PyRuntime that CPython makes for tools from outside (_Py_DebugOffsets); only the order
 * of that table depends on the version.  tests/preload/python-layout.sh compares them
 * with the headers of each interpreter that is installed; 3.14 was never among them.
 *
 *  - 3.9, 3.10: frames are objects.
 *  - 3.11: they lie in chunks of the thread's own stack, or in generators; the newest is
 *    named by a struct on the C stack.
 *  - 3.12: between them lie frames without code, on the C stack: one for each run of the
 *    interpreter's loop.
 *  - 3.13: the thread's state names the newest frame.
 *  - 3.14: pointers to code have tag bits.
 */
#ifndef MEMTOP_PYTHON_LAYOUT_H
#define MEMTOP_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum python_lines {
    PYTHON_LNOTAB,    /* 3.9 */
    PYTHON_RANGES,    /* 3.10 */
    PYTHON_LOCATIONS, /* from 3.11 on */
};

/* Offsets in bytes.  0 where the version has no such field, unless it is the first. */
struct python_layout {
    uint16_t version; /* 0x030b for 3.11 */

    /* _PyRuntime */
    uint32_t key;     /* a Py_tss_t: each thread's own state; up to 3.11 */
    uint32_t current; /* the state that holds the GIL; up to 3.11 */
    uint32_t newest;  /* the interpreter made last */
    uint32_t main;    /* the main interpreter */

    /* PyThreadState */
    uint16_t state_interpreter;
    uint16_t state_frame;     /* of the frame, or of the struct that names it */
    uint16_t state_own_names; /* 3.11, 3.12: such a struct in the state itself */
    uint16_t state_chunk;     /* from 3.11 on */
    uint16_t state_top;       /* where the next frame will lie; 3.11, 3.12 */
    uint16_t state_exception; /* of the generator that runs, or its own; 3.11, 3.12 */

    /* what names the frame, a _PyCFrame; 3.11, 3.12 */
    uint16_t names_frame;

    /* PyFrameObject, _PyInterpreterFrame */
    uint16_t frame_code;
    uint16_t frame_previous;
    uint16_t frame_instruction; /* a number up to 3.10, then an address */
    uint16_t frame_owner;       /* from 3.11 on */
    uint16_t frame_entry;       /* a byte: is it the first of its loop?  3.11 */
    uint16_t frame_size;

    /* PyGenObject */
    uint16_t generator_frame;
    uint16_t generator_exception; /* where state_exception points to; 3.11, 3.12 */

    /* PyCodeObject */
    uint16_t code_size; /* as its type says */
    uint16_t code_name, code_file, code_first_line, code_lines;
    uint16_t code_instructions; /* from 3.11 on */

    /* str */
    uint16_t text_state, text_length;
    uint16_t text_ascii, text_wide; /* where the characters begin */

    uint8_t lines;             /* enum python_lines */
    uint8_t instruction_bytes; /* of which frame_instruction counts */
};

/* The layout of such a version, for the interpreter with this _PyRuntime; false if it is
   unknown.  *free_threaded: its threads need no GIL, and the layout is another. */
bool mt_python_layout(uint32_t version, const void *runtime, struct python_layout *layout,
                      bool *free_threaded);

/* The version of an interpreter of before 3.11, which does not tell it, by functions that
   it has and the one before it has not. */
#define PYTHON_3_9 UINT32_C(0x030900f0)
#define PYTHON_3_10 UINT32_C(0x030a00f0)

#endif
