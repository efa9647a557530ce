/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which function, file and line an address of the program is: asked here, found out
 * by a process of memtop's own (helper.h), so that neither a drawing waits nor a
 * broken file with debugging information ends memtop.
 *
 *     symbols = symbols_new(&options);
 *     space = symbols_space(symbols, pid);
 *     symbols_map(space, modules, count);               whenever there are more
 *     symbol = symbols_at(space, address);              SYMBOL_ASKED at first
 *     poll() on symbols_descriptor(), then symbols_take(), and draw again
 *
 * Single-threaded; nothing here waits but symbols_wait().  Every string is from files
 * of the program and unsanitised (report/textwidth.h before it meets a terminal).
 */
#ifndef MEMTOP_SYMBOLS_H
#define MEMTOP_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct symbols;       /* all that is known, and who finds out more */
struct symbols_space; /* the addresses of one process image */

#define SYMBOLS_BUILD_ID_MAX 32

/* One file mapped into the program.  Strings are copied. */
struct symbols_module {
    uint64_t start, end;  /* the addresses it takes, end excluded */
    uint64_t bias;        /* an address less this is the file's own */
    const char *path;     /* as the program knows it; "" the program itself */
    uint64_t device;      /* st_dev and st_ino; inode 0: not known */
    uint64_t inode;
    uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
    unsigned build_id_size; /* 0: it has none */
};

enum symbol_state {
    SYMBOL_ASKED,        /* not known yet */
    SYMBOL_KNOWN,        /* there are frames */
    SYMBOL_UNNAMED,      /* its file names no function there */
    SYMBOL_NO_MODULE,    /* in no file: generated code, or a module that is not known */
    SYMBOL_FILE_GONE,    /* its file cannot be read */
    SYMBOL_FILE_CHANGED, /* its file is another one than the program has mapped */
    SYMBOL_FAILED        /* its file could not be understood */
};

struct symbol_frame {
    const char *function; /* demangled; equal names are equal pointers */
    const char *file;     /* as the compiler was told it, or NULL */
    unsigned line;        /* of the call, or 0 */
};

/* What is at one address.  Stays where it is until symbols_free(); its content
   changes once, in symbols_take(), when it is no longer SYMBOL_ASKED. */
struct symbol {
    enum symbol_state state;
    const char *module;  /* path of its file; NULL with SYMBOL_NO_MODULE */
    uint64_t offset;     /* in the file's own addresses; 0 with SYMBOL_NO_MODULE */
    unsigned count;      /* of frames, > 0 only if known: first the function that was
                            inlined last, at the end the one that has the code */
    const struct symbol_frame *frames;
};

struct symbols_options {
    bool debuginfod;     /* ask the servers of $DEBUGINFOD_URLS for what is not here */
};

/* options NULL: the defaults.  NULL if memory is short.  Starts no process yet. */
struct symbols *symbols_new(const struct symbols_options *options);

/* Ends the process too, whatever it is at; NULL is fine. */
void symbols_free(struct symbols *symbols);

/*
 * The addresses of a process, NULL if memory is short: a new space at each call, owned
 * by symbols until symbols_space_free().  pid: files are looked for as this process sees them as long as it lives,
 * then as memtop does; 0: only so.
 */
struct symbols_space *symbols_space(struct symbols *symbols, pid_t pid);

/* Forgets the addresses; what was found out of files is kept.  NULL is fine. */
void symbols_space_free(struct symbols_space *space);

/*
 * Says what is mapped there, besides what was said before; what is known already is not
 * asked again.  Where modules overlap the one that was said last counts, for addresses
 * that have not been asked for yet.  False if memory is short.
 */
bool symbols_map(struct symbols_space *space, const struct symbols_module *modules,
                 size_t count);

/*
 * What is at address, which is one of an instruction: of a return address the one
 * before it, address - 1, belongs to the call.  Asks if that is not known.  Never
 * NULL; NO_MODULE also if memory is short.
 */
const struct symbol *symbols_at(struct symbols_space *space, uint64_t address);

/* Readable (poll) when there are answers; -1 as long as nothing was asked, and it
   may change with every call of a function here. */
int symbols_descriptor(const struct symbols *symbols);

/* Takes the answers that are there.  True if there were any. */
bool symbols_take(struct symbols *symbols);

/* Takes answers until none is missing or so much time has passed (< 0 for ever).
   True if none is missing. */
bool symbols_wait(struct symbols *symbols, int timeout_ms);

/* Of the addresses asked for so far, how many were answered. */
struct symbols_progress {
    size_t asked, answered;
    const char *file;    /* being read now, or NULL */
};
struct symbols_progress symbols_progress(const struct symbols *symbols);

#endif
