/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of a name and a value; the values are aligned, however long the names are in a
   language. */
#ifndef MEMTOP_FACTS_H
#define MEMTOP_FACTS_H

#include <stddef.h>
#include <stdio.h>

#define FACTS_MAX       24 /* further ones are dropped */
#define FACTS_VALUE_MAX 256

struct fact_list {
    size_t count;
    struct {
        const char *name; /* borrowed */
        char value[FACTS_VALUE_MAX];
    } list[FACTS_MAX];
};

void facts_add(struct fact_list *facts, const char *name, const char *value);

/* Writes all lines and removes them; names take at least cols columns. */
void facts_write(FILE *out, struct fact_list *facts, size_t cols);

#endif
