/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dlclose() is passed on; what was kept about the code of objects is forgotten after it,
   because other code may be there next time. */
#include "config.h"

#include <dlfcn.h>
#include <stddef.h>

#include "preload/lookup.h"
#include "preload/public.h"
#include "preload/real.h"
#include "preload/sites/steps.h"

typedef int (*closer)(void *handle);

/* Before glibc 2.34 it is in a library of its own, which may have been loaded late. */
static closer
real_dlclose(void)
{
    struct mt_loaded library;
    closer found = mt_real.dlclose;

    if (found == NULL)
        *(void **)&found = mt_lookup_libc("dlclose");
    if (found == NULL && mt_lookup_loaded("libdl.so.2", "dlclose", &library))
        *(void **)&found = mt_lookup_in(&library, "dlclose");
    return found;
}

PUBLIC int
dlclose(void *handle)
{
    const closer next = real_dlclose();
    int result = next != NULL ? next(handle) : -1;

    mt_steps_forget();
    return result;
}
