/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unwind tables: the input is .eh_frame_hdr and .eh_frame. */
#include "config.h"

#include "fuzz.h"
#include "preload/sites/cfi.h"

#ifdef ARCH_COLUMNS

static void
look(const struct cfi_tables *tables, uintptr_t pc)
{
    uintptr_t stack[16] = {pc, tables->header};
    const struct cfi_range range = {(uintptr_t)stack, (uintptr_t)(stack + 16)};
    struct cfi_registers registers = {.known = (1u << ARCH_COLUMNS) - 1};
    struct cfi_frame frame;

    for (unsigned i = 0; i < ARCH_COLUMNS; i++)
        registers.values[i] = (uintptr_t)(stack + i % 4);
    if (cfi_find(tables, pc, &frame) != CFI_FOUND)
        return;
    REQUIRE(frame.row.cfa_column < ARCH_COLUMNS);
    if (cfi_step(tables, &frame, &range, &registers) == CFI_STEPPED)
        REQUIRE(registers.known >> ARCH_RETURN & registers.known >> ARCH_STACK & 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uintptr_t start = (uintptr_t)data;
    const struct cfi_tables tables = {start, {start, start + size}};

    for (uintptr_t offset = 0; offset < 0x200; offset += 0x11)
        look(&tables, start + 0x100000 + offset); /* where the corpus has its code */
    for (size_t at = 12; at + 4 <= size && at < 200; at += 8) {
        int32_t function;

        memcpy(&function, data + at, sizeof function);
        look(&tables, start + (uintptr_t)(intptr_t)function);
    }
    return 0;
}

#else

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    return 0;
}

#endif
