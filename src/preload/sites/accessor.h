/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds a thread-local variable that no symbol table names: by the machine code of a
 * function that returns its value and does nothing else.
 *
 * Such a function has one of a few forms, which the ABI gives the compiler and the linker
 * (ELF Handling For Thread-Local Storage, chapters 4 and 5).  Nothing is executed, and
 * __tls_get_addr() is not called, because it may allocate.
 */
#ifndef MEMTOP_ACCESSOR_H
#define MEMTOP_ACCESSOR_H

#include <stdint.h>

/*
 * Returns the distance of the variable from the thread pointer, or 0 if the code is of no
 * known form.  The function must be of an object that was loaded with the program: its
 * variables lie at the same distance in all threads.
 */
intptr_t mt_accessor_distance(const void *function);

/* The thread pointer: with such a distance added, the address of this thread's
   variable.  0 where no code is understood. */
static inline uintptr_t
mt_thread_pointer(void)
{
#if defined __x86_64__ && defined __LP64__
    uintptr_t pointer;

    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
#else
    return 0;
#endif
}

#endif
