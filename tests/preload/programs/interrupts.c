/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In front of glibc's _dl_find_object: one of the calls raises a signal, for programs
   that want to be interrupted while the library walks a stack. */
#include <dlfcn.h>
#include <signal.h>

/* Which call does: 1 is the next; 0: none. */
volatile sig_atomic_t raised_after;

struct dl_find_object;

int
_dl_find_object(void *address, struct dl_find_object *found)
{
    static int (*next)(void *, struct dl_find_object *);

    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "_dl_find_object");
    if (raised_after > 0 && --raised_after == 0)
        raise(SIGUSR1);
    return next != NULL ? next(address, found) : -1;
}
