/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the function, file and line of an address of the program.  Questions are asked
 * here and answered by a process of memtop's own (helper.h), so that drawing never waits
 * and a broken file with debugging information does not end memtop.
 *
 *     symbols = symbols_new(&options);
 *     space = symbols_space(symbols, pid);
 *     symbols_map(space, modules, count);               whenever there are more
 *     symbol = symbols_at(space, address);              SYMBOL_ASKED at first
 *     poll() on symbols_descriptor(), then symbols_take(), and draw again
 *
 * Single-threaded; only symbols_wait() waits.  All strings come from files of the program
 * and are unsanitised (use base/textwidth.h before printing them to a terminal).
 */
#ifndef MEMTOP_SYMBOLS_H
#define MEMTOP_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct symbols;       /* everything that is known, and the helper */
struct symbols_space; /* the addresses of one process image */

#define SYMBOLS_BUILD_ID_MAX 32

/* One file mapped into the program.  Strings are copied. */
struct symbols_module {
    uint64_t start, end;  /* the addresses it takes, end is exclusive */
    uint64_t bias;        /* an address minus this is the file's own */
    const char *path;     /* as the program knows it; "": the program itself */
    uint64_t device;      /* st_dev and st_ino; inode 0: unknown */
    uint64_t inode;
    uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
    unsigned build_id_size; /* 0: it has none */
};

enum symbol_state {
    SYMBOL_ASKED,        /* unknown so far */
    SYMBOL_KNOWN,        /* there are frames */
    SYMBOL_UNNAMED,      /* its file names no function there */
    SYMBOL_NO_MODULE,    /* in no file: generated code, or an unknown module */
    SYMBOL_FILE_GONE,    /* its file cannot be read */
    SYMBOL_FILE_CHANGED, /* its file is not the one the program has mapped */
    SYMBOL_FAILED        /* its file could not be understood */
};

struct symbol_frame {
    const char *function; /* demangled; equal names are equal pointers */
    const char *file;     /* as passed to the compiler, or NULL */
    unsigned line;        /* of the call, or 0 */
};

/* The result for one address.  Stays in place until symbols_free(); its contents change
   once, in symbols_take(), when it is no longer SYMBOL_ASKED, or once more after
   symbols_refresh(). */
struct symbol {
    enum symbol_state state;
    const char *module;  /* path of its file; NULL: in none, generated if it is known */
    uint64_t offset;     /* in the file's own addresses; the address if it is in none, 0
                            with SYMBOL_NO_MODULE */
    unsigned count;      /* of frames, > 0 only if known: first the innermost inlined
                            function, last the one that contains the code */
    const struct symbol_frame *frames;
};

struct symbols_options {
    bool debuginfod;     /* ask the servers of $DEBUGINFOD_URLS for missing files */
};

/* options NULL: the defaults.  Returns NULL if memory is short.  Starts no process
   yet. */
struct symbols *symbols_new(const struct symbols_options *options);

/* Also ends the process, whatever it is doing; symbols may be NULL. */
void symbols_free(struct symbols *symbols);

/*
 * Makes a new space for the addresses of a process, owned by symbols until
 * symbols_space_free().  pid: files are looked up as this process sees them while it
 * lives, then as memtop does; 0: only as memtop does.  Returns NULL if memory is short.
 */
struct symbols_space *symbols_space(struct symbols *symbols, pid_t pid);

/* Forgets the addresses; results about files are kept.  space may be NULL. */
void symbols_space_free(struct symbols_space *space);

/*
 * Adds mapped modules to those added before; addresses already known are not asked again.
 * If modules overlap the one added last counts, for addresses not asked for yet.  Returns
 * false if memory is short.
 */
bool symbols_map(struct symbols_space *space, const struct symbols_module *modules,
                 size_t count);

/* Has the module's file opened and kept, because it may vanish before its names are asked
   for: it may be deleted, or seen only by its process.  Nothing of it is read yet. */
void symbols_hold(struct symbols_space *space, const struct symbols_module *module);

/*
 * Looks whether the process has written more about code that it generates
 * (/tmp/perf-PID.map, see perfmap.h); what is older than since_ns (CLOCK_REALTIME) is of
 * an earlier process.  Returns true if there is more: then addresses with
 * SYMBOL_NO_MODULE are to be asked for again.
 */
bool symbols_refresh(struct symbols_space *space, int64_t since_ns);

/*
 * Returns what is at address, which must belong to an instruction: for a return address
 * use address - 1, which belongs to the call.  Asks if it is not known.  Never returns
 * NULL; NO_MODULE also if memory is short.
 */
const struct symbol *symbols_at(struct symbols_space *space, uint64_t address);

/* Readable (poll) if there are answers; -1 as long as nothing was asked.  May change with
   every call of a function here. */
int symbols_descriptor(const struct symbols *symbols);

/* Takes the available answers.  Returns true if there were any. */
bool symbols_take(struct symbols *symbols);

/* Takes answers until none is missing or timeout_ms has passed (< 0: never).  Returns
   true if none is missing. */
bool symbols_wait(struct symbols *symbols, int timeout_ms);

/* The number of addresses asked for, and how many were answered. */
struct symbols_progress {
    size_t asked, answered;
    const char *file;    /* being read now, or NULL */
};
struct symbols_progress symbols_progress(const struct symbols *symbols);

#endif
