/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In which loaded object an address lies, and where that has its unwind tables. */
#ifndef MEMTOP_OBJECTS_H
#define MEMTOP_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/sites/cfi.h"

#ifdef ARCH_COLUMNS

struct code_object {
    struct cfi_range mapped;
    struct cfi_tables tables; /* header: 0 if there are none that can be read */
};

/* Before glibc 2.35 the loader has no answer that takes no lock.  Then this notes the
   objects that were loaded with the program; others stay unknown.  Holds the loader's
   lock meanwhile: call it from our constructor, or from a function the program calls. */
void mt_objects_start(void);

/* Finds the object of an address.  Takes no lock; objects that threads return to are not
   unloaded meanwhile.  Returns false if there is none, or it is unknown. */
bool mt_objects_find(uintptr_t address, struct code_object *object);

#endif

#endif
