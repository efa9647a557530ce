/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The answer of the helper that names addresses (symbols/question.h), which a hostile
   file may have taken over. */
#include "config.h"

#include "fuzz.h"
#include "symbols/question.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct answer answer;
    struct symbol_frame frames[ANSWER_FRAMES];
    enum symbol_state state;

    answer.used = size < sizeof answer.bytes ? size : sizeof answer.bytes;
    memcpy(answer.bytes, data, answer.used);
    int count = answer_read(&answer, &state, frames);
    if (count < 0)
        return 0;
    REQUIRE(state != SYMBOL_ASKED && (state == SYMBOL_KNOWN) == (count > 0));
    for (int i = 0; i < count; i++) {
        REQUIRE(strlen(frames[i].function) < answer.used);
        REQUIRE(frames[i].file == NULL || strlen(frames[i].file) < answer.used);
    }
    return 0;
}
