/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames as a program registers them that compiles code itself: here for 16 bytes of
 * text that are never executed.  The unwinder then searches these frames first.
 */
#ifndef MEMTOP_TESTS_FRAMES_H
#define MEMTOP_TESTS_FRAMES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From libgcc; no header declares them. */
struct dwarf_eh_bases {
    void *tbase, *dbase, *func;
};
void __register_frame(void *begin);
void __deregister_frame(void *begin);
const void *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

#ifdef __cplusplus
}
#endif

/* An .eh_frame section: a CIE, an FDE, the end.  (Linux Standard Base, Core, 10.6) */
struct frames {
    uint32_t cie_length, cie_id;
    unsigned char cie[16];   /* version 1, no augmentation, factors 1 and -8, ... */
    uint32_t fde_length, fde_cie;
    uintptr_t begin, size;
    uint32_t end;
};

static inline void
frames_make(struct frames *frames, uintptr_t text)
{
    /* ... return address in 16, CFA is 7 + 8; no unwinder reads these. */
    static const struct frames of_nothing = {
        20, 0, {1, 0, 1, 0x78, 16, 0x0c, 7, 8}, 20, 28, 0, 16, 0
    };

    *frames = of_nothing;
    frames->begin = text;
}

#endif
