/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks up symbols of the loaded objects, using nothing but their tables.
 *
 * Neither dlsym() nor dlopen() is called: both replace what the program's next dlerror()
 * would say, and both allocate if they find nothing.  Nothing is allocated or changed
 * here, and only mt_lookup_loaded() and mt_lookup_each() take a lock.
 */
#ifndef MEMTOP_LOOKUP_H
#define MEMTOP_LOOKUP_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* A definition, and the object that holds it; both NULL if there is none.  Of several
   versions this is the default one; of an ifunc, the form its resolver chooses for this
   machine. */
struct mt_symbol {
    void *address;
    struct link_map *map;
    size_t size; /* of mt_lookup_lasting() only: of the function or object */
};

/* A loaded object. */
struct mt_loaded {
    uintptr_t bias;
    const ElfW(Phdr) * headers;
    const ElfW(Dyn) * dynamic;
    unsigned header_count;
};

/*
 * Finds the list of objects and our own place in it.  This function, mt_lookup_next() and
 * mt_lookup_first() walk the list without a lock, so they may be called only while the
 * library starts.  That is either when the loader has loaded what the program needs and
 * runs the first of its code, in a single thread, or during a dlopen() that loads the
 * library, when the loader holds its lock until our constructor has returned.
 */
void mt_lookup_start(void);

/* The next definition after ours, in the order in which the loader searches what was
   loaded with the program.  If the library was loaded late, the first that is not
   ours. */
struct mt_symbol mt_lookup_next(const char *name);

/* The first definition, which may be ours. */
struct mt_symbol mt_lookup_first(const char *name);

/* The first definition in an object that was loaded with the program.  May be called at
   any time: such objects are never unloaded.  If the library was loaded late, it is not
   known which these are, and only the program itself is searched. */
struct mt_symbol mt_lookup_lasting(const char *name);

/* Was the library loaded behind the C library?  Then others call libc's functions instead
   of ours. */
bool mt_lookup_late(void);

/* The list of objects, and this library's entry in it; NULL if unknown. */
struct link_map *mt_lookup_list(void);
struct link_map *mt_lookup_own(void);

/* The C library's own definition, or NULL.  May be called at any time: libc is never
   unloaded. */
void *mt_lookup_libc(const char *name);

/* The first loaded object with that SONAME that defines NAME (NULL: any).  May be called
   at any time, but holds the lock of dl_iterate_phdr() meanwhile.  A caller that uses the
   object afterwards must know that it stays loaded. */
bool mt_lookup_loaded(const char *soname, const char *name, struct mt_loaded *found);

/* Calls visit as dl_iterate_phdr() does, which holds its lock meanwhile, for the objects
   that were loaded when the library started.  They are never unloaded. */
void mt_lookup_each(int (*visit)(struct dl_phdr_info *, size_t, void *), void *argument);

/* The address of NAME in that object, or NULL. */
void *mt_lookup_in(const struct mt_loaded *object, const char *name);

#endif
