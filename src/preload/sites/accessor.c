/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The code of a function that returns a thread-local variable, read; see accessor.h.
 *
 * Code is compared byte by byte, and no byte is read behind the first that differs, so
 * nothing is read behind the function.  The table of the thread's variables (dtv) is
 * glibc's: a pair of words for each object, the first of them the address of the object's
 * variables in this thread.  It lies at thread pointer + 8; the pair before the first one
 * has their number.
 */
#include "config.h"

#include "preload/sites/accessor.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "preload/lookup.h"

#if defined __x86_64__ && defined __LP64__

/* Passes these bytes of code; false, passing none, if there are others. */
static bool
pass(const unsigned char **code, const char *bytes, size_t count)
{
    const unsigned char *wanted = (const void *)bytes;

    for (size_t i = 0; i < count; i++)
        if ((*code)[i] != wanted[i])
            return false;
    *code += count;
    return true;
}
#define PASS(code, bytes) pass(code, bytes, sizeof(bytes) - 1)

/* An operand of four bytes. */
static int32_t
operand(const unsigned char **code)
{
    int32_t value;

    memcpy(&value, *code, sizeof value);
    *code += sizeof value;
    return value;
}

/* An operand that is an address, counted from the end of the instruction. */
static const uintptr_t *
operand_address(const unsigned char **code)
{
    int32_t distance = operand(code);

    return (const void *)(*code + distance);
}

/* endbr64, push %rbp, mov %rsp,%rbp, push %rax, sub $8,%rsp */
static void
pass_prologue(const unsigned char **code)
{
    PASS(code, "\xf3\x0f\x1e\xfa");
    if (PASS(code, "\x55"))
        PASS(code, "\x48\x89\xe5");
    else if (!PASS(code, "\x50"))
        PASS(code, "\x48\x83\xec\x08");
}

/* add $8,%rsp, pop %rbp, pop %rcx: at the end, or before the variable is loaded */
static void
pass_leave(const unsigned char **code)
{
    if (!PASS(code, "\x48\x83\xc4\x08") && !PASS(code, "\x5d"))
        PASS(code, "\x59");
}

static bool
pass_return(const unsigned char **code)
{
    pass_leave(code);
    return PASS(code, "\xc3");
}

/* call __tls_get_addr, directly or by the GOT */
static bool
pass_call(const unsigned char **code)
{
    if (!PASS(code, "\x66\x66\x48\xe8") && !PASS(code, "\x66\x48\xff\x15")
        && !PASS(code, "\xe8") && !PASS(code, "\xff\x15"))
        return false;
    operand(code);
    return true;
}

/* The distance of an object's variables from the thread pointer, given the object's
   number; 0 if they are not where those of objects loaded with the program are, which is
   below the thread pointer and not far. */
#define STATIC_TLS_MAX ((uintptr_t)16 << 20)

static intptr_t
object_distance(uintptr_t number)
{
    const uintptr_t pointer = mt_thread_pointer();
    const uintptr_t *table = ((const uintptr_t *const *)pointer)[1];

    if (number == 0 || mt_lookup_libc("__libc_start_main") == NULL || number > table[-2])
        return 0;
    if (table[2 * number] >= pointer || pointer - table[2 * number] > STATIC_TLS_MAX)
        return 0;
    return (intptr_t)(table[2 * number] - pointer);
}

/* What follows a call of __tls_get_addr for the pair of an object's number and the
   variable's place there; in the local form the place is in the code instead. */
static intptr_t
read_called(const unsigned char **code, const uintptr_t *pair, bool local)
{
    intptr_t object, place;

    if (!pass_call(code))
        return 0;
    pass_leave(code);
    if (PASS(code, "\x48\x8b\x00")) /* mov (%rax),%rax */
        place = (intptr_t)pair[1];
    else if (local && PASS(code, "\x48\x8b\x80")) /* mov ...(%rax),%rax */
        place = operand(code);
    else
        return 0;
    object = pass_return(code) ? object_distance(pair[0]) : 0;
    return object != 0 ? object + place : 0;
}

/* mov %fs:0,%rax; then the forms the linker makes of calls */
static intptr_t
read_pointer(const unsigned char **code)
{
    intptr_t distance;

    pass_leave(code);
    if (PASS(code, "\x48\x8b\x80")) { /* mov ...(%rax),%rax */
        distance = operand(code);
        return pass_return(code) ? distance : 0;
    }
    if (PASS(code, "\x48\x8d\x80")) /* lea ...(%rax),%rax */
        distance = operand(code);
    else if (PASS(code, "\x48\x03\x05")) /* add ...(%rip),%rax */
        distance = (intptr_t)*operand_address(code);
    else
        return 0;
    pass_leave(code);
    return PASS(code, "\x48\x8b\x00") && pass_return(code) ? distance : 0;
}

static intptr_t
read_distance(const unsigned char **code)
{
    const uintptr_t *pair;
    intptr_t distance;
    bool local;

    if (PASS(code, "\x66\x66\x66\x64\x48\x8b\x04\x25\x00\x00\x00\x00")
        || PASS(code, "\x66\x66\x66\x66\x64\x48\x8b\x04\x25\x00\x00\x00\x00")
        || PASS(code, "\x64\x48\x8b\x04\x25\x00\x00\x00\x00"))
        return read_pointer(code);
    if (PASS(code, "\x64\x48\x8b\x04\x25")) { /* mov %fs:...,%rax */
        distance = operand(code);
        return pass_return(code) ? distance : 0;
    }
    local = PASS(code, "\x48\x8d\x3d"); /* lea ...(%rip),%rdi */
    if (local || PASS(code, "\x66\x48\x8d\x3d")) {
        pair = operand_address(code);
        return read_called(code, pair, local);
    }
    if (PASS(code, "\x48\x8b\x05")) /* mov ...(%rip),%rax */
        distance = (intptr_t)*operand_address(code);
    else if (PASS(code, "\x48\xc7\xc0")) /* mov $...,%rax */
        distance = operand(code);
    else
        return 0;
    /* mov %fs:(%rax),%rax */
    return PASS(code, "\x64\x48\x8b\x00") && pass_return(code) ? distance : 0;
}

intptr_t
mt_accessor_distance(const void *function)
{
    const unsigned char *code = function;

    if (function == NULL)
        return 0;
    pass_prologue(&code);
    return read_distance(&code);
}

#else

intptr_t
mt_accessor_distance(const void *function)
{
    (void)function;
    return 0;
}

#endif
