/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the library's layout of an interpreter with its headers; compiled with these
   by tests/preload/python-layout.sh. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#endif

#include "preload/sites/python-layout.h"

static int differences;

static void
compare(const char *what, size_t known, size_t header)
{
    if (known == header)
        return;
    printf("FAIL: %s: %s is at %zu, not %zu\n", PY_VERSION, what, header, known);
    differences++;
}

#define FIELD(known, type, field)                                                        \
    compare(#type "." #field, layout.known, offsetof(type, field))

/* The table that a running interpreter has. */
static const void *
official_table(void)
{
#if PY_VERSION_HEX >= 0x030d0000
    static _Py_DebugOffsets table;

    memcpy(table.cookie, _Py_Debug_Cookie, sizeof table.cookie);
    table.version = PY_VERSION_HEX;
    table.runtime_state.interpreters_head = offsetof(_PyRuntimeState, interpreters.head);
    table.thread_state.interp = offsetof(PyThreadState, interp);
    table.thread_state.current_frame = offsetof(PyThreadState, current_frame);
    table.thread_state.datastack_chunk = offsetof(PyThreadState, datastack_chunk);
    table.interpreter_frame.previous = offsetof(_PyInterpreterFrame, previous);
    table.interpreter_frame.executable = offsetof(_PyInterpreterFrame, f_executable);
    table.interpreter_frame.instr_ptr = offsetof(_PyInterpreterFrame, instr_ptr);
    table.interpreter_frame.localsplus = offsetof(_PyInterpreterFrame, localsplus);
    table.interpreter_frame.owner = offsetof(_PyInterpreterFrame, owner);
    table.code_object.filename = offsetof(PyCodeObject, co_filename);
    table.code_object.qualname = offsetof(PyCodeObject, co_qualname);
    table.code_object.linetable = offsetof(PyCodeObject, co_linetable);
    table.code_object.firstlineno = offsetof(PyCodeObject, co_firstlineno);
    table.code_object.co_code_adaptive = offsetof(PyCodeObject, co_code_adaptive);
    table.unicode_object.state = offsetof(PyUnicodeObject, _base._base.state);
    table.unicode_object.length = offsetof(PyUnicodeObject, _base._base.length);
    table.unicode_object.asciiobject_size = sizeof(PyASCIIObject);
#if PY_VERSION_HEX >= 0x030e0000
    table.gen_object.gi_iframe = offsetof(PyGenObject, gi_iframe);
#endif
    return &table;
#else
    return NULL;
#endif
}

int
main(void)
{
    struct python_layout layout;
    bool free_threaded;

    if (!mt_python_layout(PY_VERSION_HEX, official_table(), &layout, &free_threaded)) {
        printf("FAIL: %s is not known\n", PY_VERSION);
        return 1;
    }
    FIELD(newest, _PyRuntimeState, interpreters.head);
    FIELD(main, _PyRuntimeState, interpreters.main);
#if PY_VERSION_HEX < 0x030c0000
    FIELD(current, _PyRuntimeState, gilstate.tstate_current);
    FIELD(key, _PyRuntimeState, gilstate.autoTSSkey);
#endif
    FIELD(state_interpreter, PyThreadState, interp);
#if PY_VERSION_HEX < 0x030b0000
    FIELD(state_frame, PyThreadState, frame);
    FIELD(frame_code, PyFrameObject, f_code);
    FIELD(frame_previous, PyFrameObject, f_back);
    FIELD(frame_instruction, PyFrameObject, f_lasti);
    FIELD(code_name, PyCodeObject, co_name);
    compare("size of PyCodeObject", layout.code_size, sizeof(PyCodeObject));
#else
    FIELD(state_chunk, PyThreadState, datastack_chunk);
    FIELD(frame_previous, _PyInterpreterFrame, previous);
    FIELD(frame_owner, _PyInterpreterFrame, owner);
    FIELD(frame_size, _PyInterpreterFrame, localsplus);
    FIELD(generator_frame, PyGenObject, gi_iframe);
    FIELD(code_name, PyCodeObject, co_qualname);
    FIELD(code_lines, PyCodeObject, co_linetable);
    FIELD(code_size, PyCodeObject, co_code_adaptive);
    FIELD(code_instructions, PyCodeObject, co_code_adaptive);
    compare("previous of _PyStackChunk", 0, offsetof(_PyStackChunk, previous));
    compare("size of _PyStackChunk", 8, offsetof(_PyStackChunk, size));
    compare("top of _PyStackChunk", 16, offsetof(_PyStackChunk, top));
    compare("data of _PyStackChunk", 24, offsetof(_PyStackChunk, data));
    compare("a generator's owner", 1, FRAME_OWNED_BY_GENERATOR);
#endif
#if PY_VERSION_HEX < 0x030a0000
    FIELD(code_lines, PyCodeObject, co_lnotab);
#elif PY_VERSION_HEX < 0x030b0000
    FIELD(code_lines, PyCodeObject, co_linetable);
#endif
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030d0000
    FIELD(state_frame, PyThreadState, cframe);
    FIELD(state_own_names, PyThreadState, root_cframe);
    FIELD(state_top, PyThreadState, datastack_top);
    FIELD(state_exception, PyThreadState, exc_info);
    FIELD(names_frame, _PyCFrame, current_frame);
    FIELD(frame_code, _PyInterpreterFrame, f_code);
    FIELD(frame_instruction, _PyInterpreterFrame, prev_instr);
    FIELD(generator_exception, PyGenObject, gi_exc_state);
    compare("size of _PyCFrame", 1, sizeof(_PyCFrame) <= 24);
#endif
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
    FIELD(frame_entry, _PyInterpreterFrame, is_entry);
#endif
#if PY_VERSION_HEX >= 0x030d0000
    FIELD(state_frame, PyThreadState, current_frame);
    FIELD(frame_code, _PyInterpreterFrame, f_executable);
    FIELD(frame_instruction, _PyInterpreterFrame, instr_ptr);
#endif
    FIELD(code_file, PyCodeObject, co_filename);
    FIELD(code_first_line, PyCodeObject, co_firstlineno);
    FIELD(text_state, PyASCIIObject, state);
    FIELD(text_length, PyASCIIObject, length);
    compare("size of PyASCIIObject", layout.text_ascii, sizeof(PyASCIIObject));
    compare("size of PyCompactUnicodeObject", layout.text_wide,
            sizeof(PyCompactUnicodeObject));
    compare("ob_type", 8, offsetof(PyObject, ob_type));
    compare("ob_size", 16, offsetof(PyVarObject, ob_size));
    compare("tp_basicsize", 32, offsetof(PyTypeObject, tp_basicsize));
    compare("ob_sval", 32, offsetof(PyBytesObject, ob_sval));
    if (differences == 0)
        printf("%s: as in its headers\n", PY_VERSION);
    return differences != 0;
}
