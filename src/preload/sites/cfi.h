/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads unwind tables: .eh_frame_hdr and .eh_frame (Linux Standard Base, Core, 10.6, with
 * the call frame instructions and expressions of DWARF 5, 2.5 and 6.4).
 *
 * The tables belong to the program and may be damaged.  Nothing outside the given ranges
 * is read, and all loops are bounded.  What is not understood (an instruction, an
 * augmentation, an encoding, an operation of an expression) is an answer of its own, and
 * the walk ends there.  Nothing is kept between calls.
 */
#ifndef MEMTOP_CFI_H
#define MEMTOP_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/sites/arch.h"

#ifdef ARCH_COLUMNS

/* Memory that may be read. */
struct cfi_range {
    uintptr_t start, end;
};

/* The tables of an object. */
struct cfi_tables {
    uintptr_t header;          /* .eh_frame_hdr */
    struct cfi_range readable; /* in which it and .eh_frame lie */
};

/* Where the caller's value of a register is. */
enum cfi_kind {
    CFI_SAME = 0, /* still in the register */
    CFI_UNDEFINED,
    CFI_SAVED,    /* in memory, at CFA + value */
    CFI_VALUE,    /* it is CFA + value */
    CFI_REGISTER, /* in the register of column value */
    CFI_SAVED_BY, /* in memory, where the expression at readable.start + value says */
    CFI_VALUE_BY  /* it is what that expression says */
};

/* What holds at one address.  The CFA, the frame's fixed address, is the stack pointer
   before the call that made the frame. */
struct cfi_row {
    uint8_t cfa_kind; /* CFI_VALUE: register cfa_column + cfa_value; CFI_VALUE_BY; else
                         unknown */
    uint8_t cfa_column;
    uint8_t kinds[ARCH_COLUMNS];
    int32_t cfa_value;
    int32_t values[ARCH_COLUMNS];
};

struct cfi_frame {
    struct cfi_row row;
    bool is_signal; /* of a signal handler's return */
};

enum cfi_answer {
    CFI_FOUND,
    CFI_NONE,   /* no table covers the address */
    CFI_UNKNOWN /* a table does, but is not understood */
};

/* Finds what the tables say about an address. */
enum cfi_answer cfi_find(const struct cfi_tables *tables, uintptr_t pc,
                         struct cfi_frame *frame);

/* The registers of a frame, by columns; known: a bit for each that is known. */
struct cfi_registers {
    uintptr_t values[ARCH_COLUMNS];
    uint32_t known;
};

enum cfi_step {
    CFI_STEPPED,
    CFI_OUTERMOST, /* there is no caller */
    CFI_NEEDS,     /* depends on a register that is not known */
    CFI_LOST       /* the return address is not on the stack, or not to be found */
};

/*
 * Replaces the registers of a frame by those of its caller, by what cfi_find() has said.
 * Of the memory only stack is read.  A register whose place lies elsewhere is not known
 * any more; the walk needs no more than the return address.
 */
enum cfi_step cfi_step(const struct cfi_tables *tables, const struct cfi_frame *frame,
                       const struct cfi_range *stack, struct cfi_registers *registers);

/* Computes an expression of the tables: a length and so many bytes, at readable.start +
   offset.  first is what its stack begins with; NULL: nothing. */
enum cfi_step cfi_compute(const struct cfi_tables *tables, uint32_t offset,
                          const struct cfi_registers *registers,
                          const struct cfi_range *stack, const uintptr_t *first,
                          uintptr_t *result);

#endif

#endif
