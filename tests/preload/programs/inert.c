/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library that does nothing, to be preloaded instead of libmemtop.so.  Its
   thread-local memory takes an entry in each thread's table, as libmemtop's does.  It
   loads the library that INERT_LOADS names at the start. */
#include <dlfcn.h>
#include <stdlib.h>

__thread char inert[64] __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void
load(void)
{
    if (getenv("INERT_LOADS") != NULL)
        dlopen(getenv("INERT_LOADS"), RTLD_NOW);
}
