/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Converts a process to JSON and back.  One table holds the names of the figures; json.h
 * explains them.
 */
#ifndef MEMTOP_FIELDS_H
#define MEMTOP_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/session.h"

/* Groups of figures that are known together. */
enum field_group {
    FIELDS_SYSTEM,      /* figures of /proc in reports and session files */
    FIELDS_SYSTEM_MORE, /* figures of /proc in session files only */
    FIELDS_HEAP,
    FIELDS_COUNTERS,
    FIELDS_COUNTERS_MORE,
    FIELDS_USABLE,
    FIELDS_VAIN,        /* failed calls, free(NULL) */
    FIELDS_STACK,       /* depth of the stack at calls */
    FIELDS_RATES,
    FIELDS_TOUCHED,
    FIELDS_CUSTOM,      /* of programs that report their own pools */
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

/* An object being built.  If jansson lacks memory it returns NULL, which its setters
   refuse; complete is false after any such failure. */
struct object {
    json_t *json;
    bool complete;
};

struct object object_new(void);
void object_set(struct object *object, const char *name, json_t *value); /* takes
                                                                            ownership of
                                                                            value */
void object_set_object(struct object *object, const char *name, struct object value);
void object_set_number(struct object *object, const char *name, uint64_t value);
/* A value above most, the readers' limit, becomes most.  A time is limited to
   0..FIELDS_TIME_MAX. */
void object_set_limited(struct object *object, const char *name, uint64_t value,
                        uint64_t most);
void object_set_time(struct object *object, const char *name, int64_t run_ns);
/* Sets text of at most size bytes, which may be any bytes. */
void object_set_text(struct object *object, const char *name, const char *text,
                     size_t size);

/* Writes the object as one line and frees it.  Returns false if that failed or the
   object is not complete. */
bool object_write(FILE *out, struct object object);

/* JSON values, owned by the caller; NULL if memory is short.  Numbers above 2^63-1
   become that. text has at most size bytes, any bytes. */
json_t *fields_number(uint64_t value);
json_t *fields_text(const char *text, size_t size);
json_t *fields_real(double value);   /* limited to 0..FIELDS_REAL_MAX; not a number: 0 */
json_t *fields_time(int64_t run_ns); /* limited like object_set_time() */

/* Sets what every object has: type, pid, time and state, and whether the process is
   measured, or else why not. */
void fields_put_head(struct object *object, const char *type,
                     const struct process *process);

/* Sets the figures of groups (bits 1 << FIELDS_HEAP...), except unknown ones. */
void fields_put(struct object *object, unsigned groups, const struct process *process);

/* Set other parts of a process, if known: calls of the mmap family, the RSS breakdown,
   how it ended, its identity, and the blocks by size. */
void fields_put_mappings(struct object *object, const struct process *process);
void fields_put_rss(struct object *object, const struct process *process);
void fields_put_end(struct object *object, const struct process *process);
void fields_put_identity(struct object *object, const struct process *process);
void fields_put_sizes(struct object *object, const struct process *process);

/* ---- reading ---- */

/* The limit of run times. */
#define FIELDS_TIME_MAX PROCESS_RUN_MAX_NS

/* The limit of estimates and rates. */
#define FIELDS_REAL_MAX 1e18

/* The first error found; name is NULL if there is none. */
struct fault {
    const char *name; /* name of a field */
    const char *what; /* marked for translation: "is no number" */
};

/* Read a field from object.  Return false, or STATE_GONE, if it is absent or wrong; if it
   is wrong, fault is set.  A number must be 0..most. */
bool fields_take_number(const json_t *object, const char *name, uint64_t most,
                        uint64_t *out, struct fault *fault);

bool fields_take_real(const json_t *object, const char *name, double *out,
                      struct fault *fault); /* 0..FIELDS_REAL_MAX */
bool fields_take_flag(const json_t *object, const char *name, struct fault *fault);
enum process_state fields_take_state(const json_t *object, struct fault *fault);

/* Reads a string, cut to size.  Returns false and sets "" if it is absent or wrong. */
bool fields_take_text(const json_t *object, const char *name, char *out, size_t size,
                      struct fault *fault);

/*
 * Reads a process; *process is overwritten.  Unknown fields are ignored.
 * process->missing says what is missing; a process without its heap is not measured.
 * Returns false if there is a fault.
 */
bool fields_take_process(const json_t *object, struct process *process,
                         struct fault *fault);

#endif
