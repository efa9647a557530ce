/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash finds an entry by its bytes, an array by its number. */
#include "config.h"

#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct intern_entry {
    UT_hash_handle hh;
    struct interned interned;
};

/* Adds the entry for bytes that are not in the table. */
static struct intern_entry *
add(struct intern_table *table, const void *bytes, size_t length)
{
    struct intern_entry *entry;

    if (!ARRAY_GROW(table->all, table->room, table->count + 1))
        return NULL;
    entry = calloc(1, sizeof *entry + length + 1);
    if (entry == NULL)
        return NULL;
    entry->interned.number = (uint32_t)table->count;
    memcpy(entry->interned.text, bytes, length);
    HASH_ADD_KEYPTR(hh, table->by_text, entry->interned.text, length, entry);
    if (entry->hh.tbl == NULL) {
        free(entry);
        return NULL;
    }
    table->all[table->count++] = &entry->interned;
    return entry;
}

const struct interned *
intern_bytes(struct intern_table *table, const void *bytes, size_t length)
{
    struct intern_entry *entry;

    HASH_FIND(hh, table->by_text, bytes, length, entry);
    if (entry == NULL)
        entry = add(table, bytes, length);
    return entry != NULL ? &entry->interned : NULL;
}

const char *
intern_text(struct intern_table *table, const char *text)
{
    const struct interned *interned;

    if (text == NULL)
        return NULL;
    interned = intern_bytes(table, text, strnlen(text, INTERN_TEXT_MAX));
    return interned != NULL ? interned->text : NULL;
}

void
intern_free(struct intern_table *table)
{
    struct intern_entry *entry, *next;

    HASH_ITER(hh, table->by_text, entry, next)
    {
        HASH_DELETE(hh, table->by_text, entry);
        free(entry);
    }
    free(table->all);
    *table = (struct intern_table){.count = 0};
}
