/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process as JSON, there and back: which figure has which name stands in one
 * table.  json.h says what they mean.
 */
#ifndef MEMTOP_FIELDS_H
#define MEMTOP_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/session.h"

/* Figures that are known together. */
enum field_group {
    FIELDS_SYSTEM,      /* what reports tell of /proc ... */
    FIELDS_SYSTEM_MORE, /* ... and what only session files do */
    FIELDS_HEAP,
    FIELDS_COUNTERS,
    FIELDS_COUNTERS_MORE,
    FIELDS_USABLE,
    FIELDS_VAIN,        /* calls that came to nothing */
    FIELDS_STACK,       /* its depth at calls */
    FIELDS_RATES,
    FIELDS_TOUCHED,
    FIELDS_CUSTOM,      /* of programs that tell of their pools */
    FIELD_GROUPS
};

enum field_kind {
    FIELD_NUMBER,         /* uint64_t */
    FIELD_UNSIGNED,       /* unsigned */
    FIELD_REAL,           /* double */
    FIELD_LETTER,         /* char */
    FIELD_FUNCTIONS,      /* uint64_t[FN_COUNT] */
    FIELD_FUNCTION_RATES, /* double[FN_COUNT] */
};

struct field {
    const char *name;
    enum field_group group;
    enum field_kind kind;
    size_t offset; /* in struct process */
};

extern const struct field fields_table[];
extern const size_t fields_count;

/* ---- writing ---- */

/* An object in the making.  Failed allocations inside jansson leave a NULL
   somewhere, which its setters refuse: complete tells whether any did. */
struct object {
    json_t *json;
    bool complete;
};

struct object object_new(void);
void object_set(struct object *object, const char *name, json_t *value); /* takes it */
void object_set_object(struct object *object, const char *name, struct object value);
void object_set_number(struct object *object, const char *name, uint64_t value);
/* What is above most, which readers take, becomes most; a time of the run is from 0 to
   FIELDS_TIME_MAX. */
void object_set_limited(struct object *object, const char *name, uint64_t value,
                        uint64_t most);
void object_set_time(struct object *object, const char *name, int64_t run_ns);
/* Of at most size bytes, of any bytes. */
void object_set_text(struct object *object, const char *name, const char *text,
                     size_t size);

/* Writes it as one line and lets go of it; false if that failed or it lacks
   something. */
bool object_write(FILE *out, struct object object);

/* A number as JSON has it: what is above 2^63-1 stays there.  Text of at most size
   bytes, of any bytes.  NULL if memory is short. */
json_t *fields_number(uint64_t value);
json_t *fields_text(const char *text, size_t size);
json_t *fields_real(double value);   /* from 0 to FIELDS_REAL_MAX; not a number: 0 */
json_t *fields_time(int64_t run_ns); /* as object_set_time() */

/* Who, when, in which state: what every object has.  Whether it is measured, and
   if not why. */
void fields_put_head(struct object *object, const char *type,
                     const struct process *process);

/* Groups of figures, a bit each (1 << FIELDS_HEAP...), but for what is not known. */
void fields_put(struct object *object, unsigned groups, const struct process *process);

/* Calls of the mmap family, where the resident memory went, how it ended, what it
   is, blocks by size: each if it is known. */
void fields_put_mappings(struct object *object, const struct process *process);
void fields_put_rss(struct object *object, const struct process *process);
void fields_put_end(struct object *object, const struct process *process);
void fields_put_identity(struct object *object, const struct process *process);
void fields_put_sizes(struct object *object, const struct process *process);

/* ---- reading ---- */

/* Run times are below this. */
#define FIELDS_TIME_MAX PROCESS_RUN_MAX_NS

/* Estimates and rates are not above this. */
#define FIELDS_REAL_MAX 1e18

/* What was found wrong first; name is NULL if nothing was. */
struct fault {
    const char *name; /* of a field */
    const char *what; /* marked for translation: "is no number" */
};

/* A number from 0 to most; false if it is not there, or wrong. */
bool fields_take_number(const json_t *object, const char *name, uint64_t most,
                        uint64_t *out, struct fault *fault);

bool fields_take_real(const json_t *object, const char *name, double *out,
                      struct fault *fault); /* not negative */
bool fields_take_flag(const json_t *object, const char *name, struct fault *fault);
enum process_state fields_take_state(const json_t *object, struct fault *fault);

/* A string, cut to size; false and "" if it is not there, or wrong. */
bool fields_take_text(const json_t *object, const char *name, char *out, size_t size,
                      struct fault *fault);

/*
 * Reads a process.  Fields that are unknown are ignored; of what is missing
 * process->missing tells, or it is not measured or not known as with any other
 * process.  False if there is a fault.  process may hold anything before.
 */
bool fields_take_process(const json_t *object, struct process *process,
                         struct fault *fault);

#endif
