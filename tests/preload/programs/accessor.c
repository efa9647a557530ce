/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that return a thread-local variable, in each form that the compiler and the
 * linker give them, and the library's reader of their code.  Built twice: as a program,
 * and as a shared object (SHARED) that tests/preload/accessor.sh preloads into it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef SHARED
#define NAME(model) shared_##model
#else
#define NAME(model) program_##model
#endif

/* Not the first, which lies at the beginning. */
static __thread void *before[3] __attribute__((used));

#define ACCESSOR(model, words)                                                           \
    static __thread void *NAME(variable_##model) __attribute__((tls_model(words)));      \
    void *NAME(model)(void)                                                              \
    {                                                                                    \
        return NAME(variable_##model);                                                   \
    }                                                                                    \
    void **NAME(address_##model)(void)                                                   \
    {                                                                                    \
        return &NAME(variable_##model);                                                  \
    }

#ifdef SHARED
extern __thread void *shared_variable_general;
__thread void *shared_variable_general __attribute__((tls_model("global-dynamic")));
void *
shared_general(void)
{
    return shared_variable_general;
}
void **
shared_address_general(void)
{
    return &shared_variable_general;
}
#else
ACCESSOR(general, "global-dynamic")
ACCESSOR(exec, "local-exec")
#endif
ACCESSOR(local, "local-dynamic")
ACCESSOR(initial, "initial-exec")

#ifndef SHARED
#include "preload/lookup.h"
#include "preload/sites/accessor.h"

static const char *const names[] = {"program_general", "program_exec",   "program_local",
                                    "program_initial", "shared_general", "shared_local",
                                    "shared_initial"};

/* Code of other functions. */
static int
other(void)
{
    return 3;
}

/* Are the variables where the code says they are, in this thread? */
static void *
compare(void *argument)
{
    static intptr_t distances[7];
    int *failures = argument;

    for (unsigned i = 0; i < 7; i++) {
        char address[64], *end = address;
        void **(*addressing)(void);

        for (const char *c = names[i]; *c != '\0'; c++) {
            *end++ = *c;
            if (*c == '_')
                end += sprintf(end, "address_");
        }
        *end = '\0';
        *(void **)&addressing = dlsym(RTLD_DEFAULT, address);
        if (distances[i] == 0)
            distances[i] = mt_accessor_distance(dlsym(RTLD_DEFAULT, names[i]));
        if (addressing == NULL || distances[i] == 0
            || mt_thread_pointer() + (uintptr_t)distances[i] != (uintptr_t)addressing()) {
            printf("FAIL: %s: %td\n", names[i], distances[i]);
            ++*failures;
        }
    }
    return NULL;
}

int
main(void)
{
    int failures = 0;
    pthread_t thread;

#if !defined __x86_64__ || !defined __LP64__
    printf("skipped: no code of this machine is understood\n");
    return 77;
#endif
    mt_lookup_start();
    compare(&failures);
    pthread_create(&thread, NULL, compare, &failures);
    pthread_join(thread, NULL);
    if (mt_accessor_distance((const void *)other) != 0
        || mt_accessor_distance((const void *)main) != 0
        || mt_accessor_distance(NULL) != 0) {
        printf("FAIL: other code is understood\n");
        failures++;
    }
    return failures;
}
#endif
