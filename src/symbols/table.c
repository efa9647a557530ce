/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds functions by symbol tables alone, for a memtop without libdw: in the file's own
 * table and in that of a separate file with its build id under /usr/lib/debug.  The table
 * of a file is read once, sorted, and kept.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/elffile.h"
#include "symbols/demangle.h"
#include "symbols/functions.h"
#include "symbols/helper.h"

struct symbol_table {
    struct symbol_table *next;
    struct question_file file;
    enum symbol_state failure; /* SYMBOL_ASKED: no failure */
    struct functions functions;
};

static struct symbol_table *tables;

static void
add(const struct elffile_function *found, void *context)
{
    struct functions *functions = context;
    const struct function function = {found->address, found->size, strdup(found->name),
                                      found->global};

    if (function.name != NULL)
        functions_add(functions, &function);
}

static void
read_separate(struct symbol_table *table)
{
    char path[128 + 2 * SYMBOLS_BUILD_ID_MAX] = "/usr/lib/debug/.build-id/";
    size_t length = strlen(path);

    for (unsigned i = 0; i < table->file.build_id_size; i++)
        length += (size_t)snprintf(path + length, sizeof path - length, "%02x%s",
                                   table->file.build_id[i], i == 0 ? "/" : "");
    snprintf(path + length, sizeof path - length, ".debug");
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0) {
        elffile_functions(descriptor, add, &table->functions);
        close(descriptor);
    }
}

static struct symbol_table *
table_for(const struct question_file *file)
{
    for (struct symbol_table *table = tables; table != NULL; table = table->next)
        if (question_same_file(&table->file, file))
            return table;

    struct symbol_table *table = calloc(1, sizeof *table);
    if (table == NULL)
        return NULL;
    table->file = *file;
    table->next = tables;
    tables = table;
    int descriptor = images_open(file);
    if (descriptor < 0) {
        table->failure = descriptor == -ESTALE ? SYMBOL_FILE_CHANGED : SYMBOL_FILE_GONE;
        return table;
    }
    if (elffile_functions(descriptor, add, &table->functions) != 0)
        table->failure = SYMBOL_FAILED;
    close(descriptor);
    if (file->build_id_size > 0)
        read_separate(table);
    functions_sort(&table->functions);
    return table;
}

void
resolver_answer(const struct symbol_question *question, struct answer *out)
{
    const struct symbol_table *table = table_for(&question->file);
    const struct function *function;
    char *name;

    if (table == NULL || table->failure != SYMBOL_ASKED) {
        answer_begin(out, table != NULL ? table->failure : SYMBOL_FAILED);
        return;
    }
    function = functions_find(&table->functions, question->offset);
    name = function != NULL ? demangle(function->name) : NULL;
    answer_begin(out, name != NULL ? SYMBOL_KNOWN : SYMBOL_UNNAMED);
    if (name != NULL)
        answer_add(out, name, NULL, 0);
    free(name);
}
