/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by load.c, which measures the time, and phases.c, which has the phases. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread that runs the steps of a phase. */
struct worker {
    pthread_t thread;
    unsigned index;
    uint64_t random;
    void **blocks;   /* blocks that the phase keeps; the table is not from malloc */
    size_t room;     /* in the table */
    size_t count;    /* used entries of the table */
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
    bool until_full;      /* begins without warming up; ends when kept_blocks are live */
};

/* The phase of that name; NULL if there is none. */
const struct phase *phase_of(const char *name);

/* Writes the names of all phases, separated by spaces. */
void phase_names(char *text, size_t size);

/* Binds the calling thread to a processor of its own; otherwise threads might take turns
   on one and never contend. */
void take_processor(unsigned index);

#endif
