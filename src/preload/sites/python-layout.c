/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of layouts, and the reader of CPython's own table; see python-layout.h. */
#include "config.h"

#include "preload/sites/python-layout.h"

#include <stddef.h>
#include <string.h>

static const struct python_layout layouts[] = {
    {
        .version = 0x0309,
        .key = 584,
        .current = 568,
        .newest = 32,
        .main = 40,
        .state_interpreter = 16,
        .state_frame = 24,
        .frame_code = 32,
        .frame_previous = 24,
        .frame_instruction = 104,
        .code_size = 176,
        .code_name = 112,
        .code_file = 104,
        .code_first_line = 40,
        .code_lines = 120,
        .text_state = 32,
        .text_length = 16,
        .text_ascii = 48,
        .text_wide = 72,
        .lines = PYTHON_LNOTAB,
        .instruction_bytes = 1,
    },
    {
        .version = 0x030a,
        .key = 584,
        .current = 568,
        .newest = 32,
        .main = 40,
        .state_interpreter = 16,
        .state_frame = 24,
        .frame_code = 32,
        .frame_previous = 24,
        .frame_instruction = 96,
        .code_size = 176,
        .code_name = 112,
        .code_file = 104,
        .code_first_line = 40,
        .code_lines = 120,
        .text_state = 32,
        .text_length = 16,
        .text_ascii = 48,
        .text_wide = 72,
        .lines = PYTHON_RANGES,
        .instruction_bytes = 2,
    },
    {
        .version = 0x030b,
        .key = 592,
        .current = 576,
        .newest = 40,
        .main = 48,
        .state_interpreter = 16,
        .state_frame = 56,
        .state_own_names = 336,
        .state_chunk = 296,
        .state_top = 304,
        .state_exception = 120,
        .names_frame = 8,
        .frame_code = 32,
        .frame_previous = 48,
        .frame_instruction = 56,
        .frame_owner = 69,
        .frame_entry = 68,
        .frame_size = 72,
        .generator_frame = 80,
        .generator_exception = 48,
        .code_size = 184,
        .code_name = 128,
        .code_file = 112,
        .code_first_line = 72,
        .code_lines = 136,
        .code_instructions = 184,
        .text_state = 32,
        .text_length = 16,
        .text_ascii = 48,
        .text_wide = 72,
        .lines = PYTHON_LOCATIONS,
    },
    {
        .version = 0x030c,
        .newest = 40,
        .main = 48,
        .state_interpreter = 16,
        .state_frame = 56,
        .state_own_names = 272,
        .state_chunk = 232,
        .state_top = 240,
        .state_exception = 104,
        .names_frame = 0,
        .frame_code = 0,
        .frame_previous = 8,
        .frame_instruction = 56,
        .frame_owner = 70,
        .frame_size = 72,
        .generator_frame = 72,
        .generator_exception = 40,
        .code_size = 192,
        .code_name = 128,
        .code_file = 112,
        .code_first_line = 68,
        .code_lines = 136,
        .code_instructions = 192,
        .text_state = 32,
        .text_length = 16,
        .text_ascii = 40,
        .text_wide = 56,
        .lines = PYTHON_LOCATIONS,
    },
};

/* Places of words in _Py_DebugOffsets, which differ from version to version. */
struct official {
    uint16_t version;
    uint8_t newest_interpreter, interpreter, frame, chunk;
    uint8_t previous, executable, instruction, locals, owner;
    uint8_t file, qualified_name, lines, first_line, instructions;
    uint8_t state, length, ascii_size;
    uint8_t generator_frame; /* 0: not in the table */
};

static const struct official officials[] = {
    {
        .version = 0x030d,
        .newest_interpreter = 5,
        .interpreter = 22,
        .frame = 23,
        .chunk = 26,
        .previous = 29,
        .executable = 30,
        .instruction = 31,
        .locals = 32,
        .owner = 33,
        .file = 35,
        .qualified_name = 37,
        .lines = 38,
        .first_line = 39,
        .instructions = 43,
        .state = 68,
        .length = 69,
        .ascii_size = 70,
    },
    {
        .version = 0x030e,
        .newest_interpreter = 5,
        .interpreter = 25,
        .frame = 26,
        .chunk = 29,
        .previous = 32,
        .executable = 33,
        .instruction = 34,
        .locals = 35,
        .owner = 36,
        .file = 40,
        .qualified_name = 42,
        .lines = 43,
        .first_line = 44,
        .instructions = 48,
        .state = 78,
        .length = 79,
        .ascii_size = 80,
        .generator_frame = 85,
    },
};

#define WORD_VERSION 1
#define WORD_FREE_THREADED 2

/* In 3.13 this is not in the table. */
#define GENERATOR_FRAME_3_13 72

/* A str that is not ASCII has the length and the address of its UTF-8 form as well. */
#define WIDE_MORE 16

/* No offset that is read is larger: a larger one is not an offset. */
#define RUNTIME_MAX 4096
#define OFFSET_MAX 1024

static bool
read_official(const struct official *official, const uint64_t *words,
              struct python_layout *layout)
{
    *layout = (struct python_layout){
        .version = official->version,
        .newest = (uint32_t)words[official->newest_interpreter],
        /* the pointer after that one */
        .main = (uint32_t)words[official->newest_interpreter] + sizeof(void *),
        .state_interpreter = (uint16_t)words[official->interpreter],
        .state_frame = (uint16_t)words[official->frame],
        .state_chunk = (uint16_t)words[official->chunk],
        .frame_code = (uint16_t)words[official->executable],
        .frame_previous = (uint16_t)words[official->previous],
        .frame_instruction = (uint16_t)words[official->instruction],
        .frame_owner = (uint16_t)words[official->owner],
        .frame_size = (uint16_t)words[official->locals],
        .generator_frame = official->generator_frame != 0
                               ? (uint16_t)words[official->generator_frame]
                               : GENERATOR_FRAME_3_13,
        .code_size = (uint16_t)words[official->instructions],
        .code_name = (uint16_t)words[official->qualified_name],
        .code_file = (uint16_t)words[official->file],
        .code_first_line = (uint16_t)words[official->first_line],
        .code_lines = (uint16_t)words[official->lines],
        .code_instructions = (uint16_t)words[official->instructions],
        .text_state = (uint16_t)words[official->state],
        .text_length = (uint16_t)words[official->length],
        .text_ascii = (uint16_t)words[official->ascii_size],
        .text_wide = (uint16_t)words[official->ascii_size] + WIDE_MORE,
        .lines = PYTHON_LOCATIONS,
    };
    if (words[official->newest_interpreter] > RUNTIME_MAX)
        return false;
    for (const uint8_t *place = &official->interpreter;
         place <= &official->generator_frame; place++)
        if (*place != 0 && words[*place] > OFFSET_MAX)
            return false;
    return true;
}

static bool
find_official(uint32_t version, const void *runtime, struct python_layout *layout,
              bool *free_threaded)
{
    const uint64_t *words = runtime;

    for (unsigned i = 0; i < sizeof officials / sizeof officials[0]; i++) {
        if (officials[i].version != version >> 16)
            continue;
        if (memcmp(words, "xdebugpy", sizeof *words) != 0
            || words[WORD_VERSION] != version)
            return false;
        *free_threaded = words[WORD_FREE_THREADED] != 0;
        return read_official(&officials[i], words, layout);
    }
    return false;
}

/* Layouts are settled in release candidates. */
#define LEVEL_CANDIDATE 0xc

bool
mt_python_layout(uint32_t version, const void *runtime, struct python_layout *layout,
                 bool *free_threaded)
{
    *free_threaded = false;
    if ((version >> 4 & 0xf) < LEVEL_CANDIDATE)
        return false;
    for (unsigned i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (layouts[i].version == version >> 16) {
            *layout = layouts[i];
            return true;
        }
    return find_official(version, runtime, layout, free_threaded);
}
