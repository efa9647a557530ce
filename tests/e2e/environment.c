/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded beside the library under test: gives perl a fixed environment. perl copies
 * its environment, in which the two tools have different variables.
 */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

int
__libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                  void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
                  void *stack_end)
{
    static char seed[] = "PERL_HASH_SEED=0", perturb[] = "PERL_PERTURB_KEYS=0";
    static char *fixed[] = {seed, perturb, NULL};
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void),
                void (*)(void), void (*)(void), void *);

    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    if (strcmp(argv[0], "perl") == 0) /* not memtop, into which this is preloaded as
                                         well */
        environ = fixed;
    return next(main, argc, argv, init, fini, rtld_fini, stack_end);
}
