/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What load.c, which takes the time, and phases.c, which has the phases, share. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread that takes steps. */
struct worker {
    pthread_t thread;
    unsigned index;
    uint64_t random;
    void **blocks;   /* those that the phase keeps; the table is not malloc's */
    size_t room;     /* in the table */
    size_t count;    /* of it, how many are used */
    double *batches; /* ns a step */
    unsigned batch_count;
};

/* A phase of a program's life.  Only run() is timed; the others may be NULL. */
struct phase {
    const char *name;
    void (*run)(struct worker *worker, uint64_t steps); /* NULL: not in this program */
    void (*prepare)(struct worker *worker);             /* once, before all steps */
    void (*after)(struct worker *worker);               /* after each batch */

    size_t kept_blocks;   /* live at once */
    uint64_t batch_steps; /* 0: the usual number */
    uint64_t warm_steps;  /* taken before the first batch; 0: a batch */
    bool until_full;      /* begins cold and ends when kept_blocks are live */
};

/* NULL if there is none of this name. */
const struct phase *phase_of(const char *name);

/* The names, between spaces. */
void phase_names(char *text, size_t size);

/* Each thread on its own processor, or they might take turns on one and never meet. */
void take_processor(unsigned index);

#endif
