/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads what an ELF file says: before a program runs, enough to know whether a preloaded
   library will see its calls of malloc; and where its functions are. */
#ifndef MEMTOP_ELFFILE_H
#define MEMTOP_ELFFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An allocator linked into the program. */
enum elffile_allocator {
    ELFFILE_ALLOCATOR_NONE,
    ELFFILE_ALLOCATOR_MALLOC,   /* defines malloc: all calls end there */
    ELFFILE_ALLOCATOR_PRIVATE,  /* a malloc that only the program itself sees */
    ELFFILE_ALLOCATOR_JEMALLOC, /* uses other names, beside the C library's malloc */
    ELFFILE_ALLOCATOR_MIMALLOC,
    ELFFILE_ALLOCATOR_TCMALLOC,
    ELFFILE_ALLOCATOR_GO
};

struct elffile {
    unsigned class_bits;      /* 32 or 64 */
    bool big_endian;
    uint16_t machine;         /* EM_* */
    bool runnable;            /* type and program headers are those of a program */
    bool dynamic;             /* started by a loader */
    bool is_loader;           /* the program is the loader itself */
    char loader[256];         /* PT_INTERP, "" if there is none */
    enum elffile_allocator allocator;
    const char *sanitizer;    /* its name, or NULL */
};

/*
 * Reads the ELF file open at descriptor.  Returns 0, -ENOEXEC if it is not an ELF file or
 * is damaged, or another -errno.  Nothing in the file is trusted; a table of impossible
 * size is ignored, as if the file had been stripped.
 */
int elffile_read(int descriptor, struct elffile *out);

/* A function in a symbol table.  The name comes from the file, is untrusted, and valid
   only during the visit; size is 0 if the table does not say. */
struct elffile_function {
    const char *name;
    uint64_t address;    /* the file's own */
    uint64_t size;
    bool global;
};
typedef void elffile_visit(const struct elffile_function *function, void *context);

/* Visits the functions of .symtab and .dynsym, in any order, those in both twice.
   Returns 0, also if there are none, or an error like elffile_read(), for a file of any
   ELF type. */
int elffile_functions(int descriptor, elffile_visit *visit, void *context);

/* Copies at most size bytes of the GNU build id and returns how many it has, 0 for none.
   Errors as with elffile_functions(). */
int elffile_build_id(int descriptor, uint8_t *out, size_t size);

#endif
