/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the maps of generated code of some processes, and reads what is new in them. */
#include "config.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/helper.h"
#include "symbols/perfmap.h"

/* Of so many processes; then the one that has waited longest makes room. */
#define MAPS 8

static struct generated_map {
    struct question_file file;
    dev_t device;
    ino_t inode;
    struct perfmap *map; /* NULL: this place is free */
    unsigned long used;  /* when */
} maps[MAPS];

static struct generated_map *
map_of(const struct question_file *file)
{
    static unsigned long turn;
    struct generated_map *found = NULL, *oldest = maps;

    for (unsigned i = 0; i < MAPS && found == NULL; i++) {
        if (maps[i].map != NULL && question_same_file(&maps[i].file, file))
            found = &maps[i];
        else if (maps[i].used < oldest->used)
            oldest = &maps[i];
    }
    if (found == NULL) {
        found = oldest;
        perfmap_free(found->map);
        *found = (struct generated_map){.file = *file, .map = perfmap_new()};
    }
    found->used = ++turn;
    return found->map != NULL ? found : NULL;
}

/* Another file, or one that was begun again, is read from its beginning. */
static void
begin_again(struct generated_map *of, const struct stat *st)
{
    of->device = st->st_dev;
    of->inode = st->st_ino;
    perfmap_free(of->map);
    of->map = perfmap_new();
}

static void
read_new(struct generated_map *of, int descriptor)
{
    static char part[1 << 16];
    struct stat st;
    ssize_t got;

    if (fstat(descriptor, &st) != 0)
        return;
    if (st.st_dev != of->device || st.st_ino != of->inode
        || (uint64_t)st.st_size < perfmap_size(of->map))
        begin_again(of, &st);
    while (of->map != NULL
           && (got = pread(descriptor, part, sizeof part, (off_t)perfmap_size(of->map)))
                  > 0)
        if (!perfmap_add(of->map, part, (size_t)got))
            break;
}

void
generated_answer(const struct symbol_question *question, struct answer *out)
{
    struct generated_map *of = map_of(&question->file);
    int descriptor = of != NULL ? images_open_map(&question->file) : -1;
    const char *name = NULL;

    if (descriptor >= 0) {
        read_new(of, descriptor);
        close(descriptor);
    }
    if (of != NULL && of->map != NULL)
        name = perfmap_find(of->map, question->offset);
    answer_begin(out, name != NULL ? SYMBOL_KNOWN : SYMBOL_NO_MODULE);
    if (name != NULL)
        answer_add(out, name, NULL, 0);
}
