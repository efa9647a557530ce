/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plugin whose function calls another, with a frame of ROOM bytes.  Plugins of two
   sizes are the same otherwise, so that one takes the place of the other. */
#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

#ifdef __x86_64__
__asm__(".text\n"
        ".globl with_room\n"
        ".type with_room, @function\n"
        "with_room:\n"
        ".cfi_startproc\n"
        "subq $" TEXT(ROOM) ", %rsp\n"
        ".cfi_adjust_cfa_offset " TEXT(ROOM) "\n"
        "call *%rdi\n"
        "addq $" TEXT(ROOM) ", %rsp\n"
        ".cfi_adjust_cfa_offset -" TEXT(ROOM) "\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size with_room, .-with_room\n");
#endif
