/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps texts once: equal ones share a copy and a number. */
#ifndef MEMTOP_INTERN_H
#define MEMTOP_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct interned {
    uint32_t number; /* in the order of addition, from 0 */
    char text[];     /* with a '\0' behind it */
};

/* All zeros at first. */
struct intern_table {
    struct intern_entry *by_text; /* private */
    const struct interned **all;  /* by number */
    size_t count, room;
};

/* Finds or adds bytes, text or other.  The result stays in place until intern_free();
   NULL if memory is short. */
const struct interned *intern_bytes(struct intern_table *table, const void *bytes,
                                    size_t length);

/* The kept copy of a text, cut after INTERN_TEXT_MAX bytes; NULL for NULL, or if memory
   is short. */
#define INTERN_TEXT_MAX 4096 /* names of C++ templates can be endless */
const char *intern_text(struct intern_table *table, const char *text);

void intern_free(struct intern_table *table);

#endif
