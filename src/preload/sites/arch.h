/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the unwinder must know of the machine.  Columns are the numbers that unwind tables
 * give registers; without ARCH_COLUMNS no stacks are walked.
 */
#ifndef MEMTOP_ARCH_H
#define MEMTOP_ARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined __x86_64__ && defined __LP64__

/* System V ABI, AMD64 supplement, figure 3.36. */
#define ARCH_COLUMNS 17
#define ARCH_FRAME 6   /* rbp */
#define ARCH_STACK 7   /* rsp */
#define ARCH_RETURN 16 /* the return address: where the frame's code goes on */

/* A call returns with these as they were: rbx, rbp, r12 to r15. */
#define ARCH_PRESERVED (1u << 3 | 1u << 6 | 0xfu << 12)

/* Where a call puts the return address, seen from the stack pointer before it. */
#define ARCH_RETURN_AT (-8)

/* Writes the registers that a call preserves, the stack pointer and the address here to
   values[], by their columns. */
#define arch_registers(values)                                                           \
    __asm__ volatile("movq %%rbx, 24(%0)\n\t"                                            \
                     "movq %%rbp, 48(%0)\n\t"                                            \
                     "movq %%rsp, 56(%0)\n\t"                                            \
                     "movq %%r12, 96(%0)\n\t"                                            \
                     "movq %%r13, 104(%0)\n\t"                                           \
                     "movq %%r14, 112(%0)\n\t"                                           \
                     "movq %%r15, 120(%0)\n\t"                                           \
                     "leaq 0f(%%rip), %%rax\n"                                           \
                     "0:\tmovq %%rax, 128(%0)"                                           \
                     :                                                                   \
                     : "D"(values)                                                       \
                     : "rax", "memory")

/* The code to which a signal handler returns: mov $__NR_rt_sigreturn, %rax; syscall. */
#define ARCH_SIGNAL_CODE "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"

#endif

#endif
