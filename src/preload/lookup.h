/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols of the loaded objects, found by their tables alone.
 *
 * Neither dlsym() nor dlopen() is called: both replace what the program's next dlerror()
 * would say, and allocate where they find nothing.  Nothing is allocated here, nothing is
 * changed, and no lock is taken but by mt_lookup_loaded().
 */
#ifndef MEMTOP_LOOKUP_H
#define MEMTOP_LOOKUP_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* A definition, and the object that holds it; both NULL: there is none.  Of several
   versions it is the default one; of a function with several forms the one that the
   object chooses for this machine. */
struct mt_symbol {
    void *address;
    struct link_map *map;
};

/* An object, wherever it stands. */
struct mt_loaded {
    uintptr_t bias;
    const ElfW(Phdr) * headers;
    const ElfW(Dyn) * dynamic;
    unsigned header_count;
};

/*
 * Finds the list of objects and our own place in it.  Going through the list, as this
 * function, mt_lookup_next() and mt_lookup_first() do, takes no lock, and belongs to the
 * start of the library alone.  It starts when the loader has loaded what the program
 * needs and has run none of it, or the first of it, which is one thread; or when the
 * loader loads us later, and then it holds its lock until our constructor has returned.
 */
void mt_lookup_start(void);

/* The next definition after ours, in the order in which the loader searches what was
   loaded with the program.  If we were loaded later, the first that is not ours. */
struct mt_symbol mt_lookup_next(const char *name);

/* The first definition, which may be ours. */
struct mt_symbol mt_lookup_first(const char *name);

/* Were we loaded behind the C library, whose functions others call then? */
bool mt_lookup_late(void);

/* The list, and the object that we are in it; NULL: unknown. */
struct link_map *mt_lookup_list(void);
struct link_map *mt_lookup_own(void);

/* The C library's own definition, or NULL.  At any time: it is never unloaded. */
void *mt_lookup_libc(const char *name);

/* The first loaded object with that SONAME that defines NAME (NULL: any, of either).
   At any time, but it takes the lock of dl_iterate_phdr() meanwhile.  Whoever uses
   the object afterwards has to know that it stays. */
bool mt_lookup_loaded(const char *soname, const char *name, struct mt_loaded *found);

/* NAME in that object, or NULL. */
void *mt_lookup_in(const struct mt_loaded *object, const char *name);

#endif
