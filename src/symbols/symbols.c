/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All that is known about addresses, and the queue of those that are not known yet.
 *
 * Results are kept by file and offset, so that a library mapped by ten processes is read
 * once.  Questions wait in one list in their order; the first few of them are with the
 * helper, which answers in that order too.  If the helper dies, the first one is taken
 * for the cause: no more is asked about that file, and a new helper gets the rest.
 */
#include "config.h"

#include "symbols/symbols.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/procfs.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/intern.h"
#include "symbols/helper.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* This many questions fit into the socket, however long their paths are. */
#define ASKED_AT_ONCE 16

/* If this many helpers die one after the other the reason is not a file. */
#define DEATHS_MAX 16

struct symbol_file {
    struct symbol_file *next;
    const char *path;     /* NULL: generated code */
    bool failed;          /* a helper died while reading it */
    struct question_file identity;
};

struct symbol_place {
    struct symbol_file *file;
    uint64_t offset;
};

struct symbol_entry {
    struct symbol symbol; /* first: pointers to it are pointers to the entry */
    struct symbol_place place;
    UT_hash_handle hh;
    struct symbol_entry *next; /* next one waiting for an answer */
};

/* An address that has been asked for; its entry never changes. */
struct known {
    uint64_t address;
    struct symbol_entry *entry;
    UT_hash_handle hh;
};

struct module_range {
    uint64_t start, end, bias;
    struct symbol_file *file;
};

struct symbols_space {
    struct symbols_space *next;
    struct symbols *symbols;
    pid_t pid;
    struct module_range *ranges;
    size_t count, room;
    struct known *known;
    struct question_file owner;    /* of generated code */
    struct symbol_file *generated; /* NULL: the process says nothing about such code */
    struct stat map;               /* what that file was when last seen */
};

struct symbols {
    struct symbols_options options;
    struct symbols_space *spaces;
    struct symbol_file *files;
    struct intern_table texts;
    struct symbol_entry *entries;       /* by place */
    struct symbol_entry *first, **last; /* list of those that wait */
    struct symbol_entry *unsent; /* first one not sent; those before are at_helper */
    struct symbols_progress progress;
    struct helper helper;
    unsigned at_helper, deaths;
    bool has_helper;
};

static const struct symbol nowhere = {.state = SYMBOL_NO_MODULE};

struct symbols *
symbols_new(const struct symbols_options *options)
{
    struct symbols *symbols = calloc(1, sizeof *symbols);

    if (symbols == NULL)
        return NULL;
    if (options != NULL)
        symbols->options = *options;
    symbols->last = &symbols->first;
    return symbols;
}

static void
stop_helper(struct symbols *symbols)
{
    if (symbols->has_helper)
        helper_stop(&symbols->helper);
    symbols->has_helper = false;
    symbols->at_helper = 0;
    symbols->unsent = symbols->first;
}

static void
free_space(struct symbols_space *space)
{
    struct known *known, *next;

    HASH_ITER(hh, space->known, known, next) {
        HASH_DELETE(hh, space->known, known);
        free(known);
    }
    free(space->ranges);
    free(space);
}

void
symbols_free(struct symbols *symbols)
{
    struct symbol_entry *entry, *next_entry;

    if (symbols == NULL)
        return;
    stop_helper(symbols);
    for (struct symbols_space *space = symbols->spaces, *next; space != NULL;
         space = next) {
        next = space->next;
        free_space(space);
    }
    HASH_ITER(hh, symbols->entries, entry, next_entry) {
        HASH_DELETE(hh, symbols->entries, entry);
        free((void *)entry->symbol.frames);
        free(entry);
    }
    for (struct symbol_file *file = symbols->files, *next; file != NULL; file = next) {
        next = file->next;
        free(file);
    }
    intern_free(&symbols->texts);
    free(symbols);
}

/* ---- modules ---- */

struct symbols_space *
symbols_space(struct symbols *symbols, pid_t pid)
{
    struct symbols_space *space = calloc(1, sizeof *space);

    if (space == NULL)
        return NULL;
    space->symbols = symbols;
    space->pid = pid;
    space->owner = (struct question_file){
        .pid = pid, .generated = true, .own_pid = pid, .owner = geteuid()};
    if (pid > 0)
        images_find_owner(&space->owner);
    space->next = symbols->spaces;
    symbols->spaces = space;
    return space;
}

void
symbols_space_free(struct symbols_space *space)
{
    struct symbols_space **link;

    if (space == NULL)
        return;
    for (link = &space->symbols->spaces; *link != space;)
        link = &(*link)->next;
    *link = space->next;
    free_space(space);
}

static bool
identify(const struct symbols_space *space, const struct symbols_module *module,
         struct question_file *out)
{
    *out = (struct question_file){.pid = space->pid,
                                  .build_id_size = module->build_id_size,
                                  .device = module->device,
                                  .inode = module->inode,
                                  .mapped = module->start};
    if (module->build_id_size > sizeof out->build_id
        || strlen(module->path) >= sizeof out->path)
        return false;
    memcpy(out->build_id, module->build_id, module->build_id_size);
    strcpy(out->path, module->path);
    if (out->path[0] == '\0' && space->pid > 0)
        procfs_program(space->pid, out->path, sizeof out->path);
    return true;
}

/* The file with that identity, NULL if memory is short. */
static struct symbol_file *
file_of(struct symbols *symbols, const struct question_file *identity)
{
    for (struct symbol_file *file = symbols->files; file != NULL; file = file->next)
        if (question_same_file(&file->identity, identity))
            return file;
    struct symbol_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return NULL;
    if (!identity->generated)
        file->path = intern_text(&symbols->texts, identity->path);
    if (file->path == NULL && !identity->generated) {
        free(file);
        return NULL;
    }
    file->identity = *identity;
    file->next = symbols->files;
    symbols->files = file;
    return file;
}

static bool
is_mapped(const struct symbols_space *space, const struct symbols_module *module,
          const struct question_file *identity)
{
    for (size_t i = 0; i < space->count; i++) {
        const struct module_range *range = &space->ranges[i];
        if (range->start == module->start && range->end == module->end
            && range->bias == module->bias
            && question_same_file(&range->file->identity, identity))
            return true;
    }
    return false;
}

static bool
map_one(struct symbols_space *space, const struct symbols_module *module)
{
    struct question_file identity;

    if (!identify(space, module, &identity))
        return false;
    if (is_mapped(space, module, &identity))
        return true;
    struct symbol_file *file = file_of(space->symbols, &identity);
    if (file == NULL)
        return false;
    if (!ARRAY_GROW(space->ranges, space->room, space->count + 1))
        return false;
    space->ranges[space->count++] =
        (struct module_range){module->start, module->end, module->bias, file};
    return true;
}

bool
symbols_map(struct symbols_space *space, const struct symbols_module *modules,
            size_t count)
{
    bool done = true;

    for (size_t i = 0; i < count; i++)
        done = map_one(space, &modules[i]) && done;
    return done;
}

/* ---- answers ---- */

static bool
set_frames(struct symbols *symbols, struct symbol *symbol,
           const struct symbol_frame *frames, unsigned count)
{
    struct symbol_frame *own = calloc(count + 1, sizeof *own);

    if (own == NULL)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const struct symbol_frame *frame = &frames[i];
        own[i].function = intern_text(&symbols->texts, frame->function);
        own[i].file = intern_text(&symbols->texts, frame->file);
        own[i].line = own[i].file != NULL ? frame->line : 0;
        if (own[i].function == NULL) {
            free(own);
            return false;
        }
    }
    free((void *)symbol->frames); /* of an earlier answer */
    symbol->frames = own;
    symbol->count = count;
    return true;
}

/* Gives the first waiting entry its answer. */
static void
settle(struct symbols *symbols, enum symbol_state state,
       const struct symbol_frame *frames, unsigned count)
{
    struct symbol_entry *entry = symbols->first;

    if (symbols->unsent == entry)
        symbols->unsent = entry->next;
    symbols->first = entry->next;
    if (symbols->first == NULL)
        symbols->last = &symbols->first;
    symbols->progress.answered++;
    if (!set_frames(symbols, &entry->symbol, frames, count))
        state = SYMBOL_FAILED;
    entry->symbol.state = state;
}

static void
append(struct symbols *symbols, struct symbol_entry *entry)
{
    entry->next = NULL;
    *symbols->last = entry;
    symbols->last = &entry->next;
    if (symbols->unsent == NULL)
        symbols->unsent = entry;
}

/* Fails all waiting entries of a file that has failed; of all files, if file is NULL. */
static void
give_up(struct symbols *symbols, const struct symbol_file *file)
{
    struct symbol_entry *entry = symbols->first;
    struct symbol_entry **link = &symbols->first;

    symbols->last = link;
    symbols->unsent = NULL;
    for (struct symbol_entry *next; entry != NULL; entry = next) {
        next = entry->next;
        if (file == NULL || entry->place.file == file) {
            entry->symbol.state = SYMBOL_FAILED;
            symbols->progress.answered++;
        } else {
            append(symbols, entry);
        }
    }
    *symbols->last = NULL;
}

/* The helper died; its first question, if it had one, is the cause. */
static void
bury_helper(struct symbols *symbols)
{
    struct symbol_file *cause =
        symbols->at_helper > 0 ? symbols->first->place.file : NULL;

    stop_helper(symbols);
    symbols->deaths++;
    if (cause != NULL)
        cause->failed = true;
    if (cause != NULL || symbols->deaths >= DEATHS_MAX)
        give_up(symbols, symbols->deaths < DEATHS_MAX ? cause : NULL);
}

/* Sends the helper as many questions as it may have. */
static void
ask(struct symbols *symbols)
{
    if (symbols->unsent == NULL)
        return;
    if (!symbols->has_helper) {
        if (helper_start(&symbols->helper, symbols->options.debuginfod) != 0) {
            give_up(symbols, NULL);
            return;
        }
        symbols->has_helper = true;
    }
    while (symbols->unsent != NULL && symbols->at_helper < ASKED_AT_ONCE) {
        const struct symbol_place *place = &symbols->unsent->place;
        const struct symbol_question question = {place->offset, place->file->identity};
        if (!helper_ask(&symbols->helper, &question))
            return;
        symbols->at_helper++;
        symbols->unsent = symbols->unsent->next;
    }
}

/* ---- asking ---- */

static struct symbol_entry *
entry_at(struct symbols *symbols, struct symbol_file *file, uint64_t offset)
{
    struct symbol_place place;
    struct symbol_entry *entry;

    memset(&place, 0, sizeof place); /* its bytes are the key */
    place.file = file;
    place.offset = offset;
    HASH_FIND(hh, symbols->entries, &place, sizeof place, entry);
    if (entry != NULL)
        return entry;
    entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->place = place;
    entry->symbol.module = file->path;
    entry->symbol.offset = offset;
    HASH_ADD(hh, symbols->entries, place, sizeof entry->place, entry);
    if (entry->hh.tbl == NULL) {
        free(entry);
        return NULL;
    }
    if (file->failed) {
        entry->symbol.state = SYMBOL_FAILED;
        return entry;
    }
    symbols->progress.asked++;
    append(symbols, entry);
    ask(symbols);
    return entry;
}

static bool
remember(struct symbols_space *space, uint64_t address, struct symbol_entry *entry)
{
    struct known *known;

    HASH_FIND(hh, space->known, &address, sizeof address, known);
    if (known != NULL) {
        known->entry = entry;
        return true;
    }
    known = calloc(1, sizeof *known);
    if (known == NULL)
        return false;
    known->address = address;
    known->entry = entry;
    HASH_ADD(hh, space->known, address, sizeof known->address, known);
    if (known->hh.tbl == NULL) {
        free(known);
        return false;
    }
    return true;
}

static struct symbol_entry *
recall(const struct symbols_space *space, uint64_t address)
{
    struct known *known;

    HASH_FIND(hh, space->known, &address, sizeof address, known);
    return known != NULL ? known->entry : NULL;
}

void
symbols_hold(struct symbols_space *space, const struct symbols_module *module)
{
    struct question_file identity;
    struct symbol_file *file = NULL;

    if (identify(space, module, &identity))
        file = file_of(space->symbols, &identity);
    if (file != NULL)
        entry_at(space->symbols, file, QUESTION_HOLD);
}

/* ---- generated code ---- */

/* Is there a map, and another one than before? */
static bool
map_has_changed(struct symbols_space *space, int64_t since_ns)
{
    struct stat *before = &space->map, st = {.st_size = 0};
    int descriptor = images_open_map(&space->owner);
    bool changed;

    if (descriptor < 0)
        return false;
    changed = fstat(descriptor, &st) == 0 && st.st_size > 0
              && (int64_t)st.st_mtim.tv_sec >= since_ns / INT64_C(1000000000)
              && (st.st_size != before->st_size || st.st_ino != before->st_ino
                  || st.st_dev != before->st_dev);
    close(descriptor);
    if (changed)
        *before = st;
    return changed;
}

/* Asks again for what the map did not have. */
static void
ask_again(struct symbols_space *space)
{
    struct symbols *symbols = space->symbols;
    struct known *known, *next;

    HASH_ITER(hh, space->known, known, next)
    {
        struct symbol_entry *entry = known->entry;

        if (entry->place.file != space->generated
            || entry->symbol.state != SYMBOL_NO_MODULE)
            continue;
        entry->symbol.state = SYMBOL_ASKED;
        symbols->progress.asked++;
        append(symbols, entry);
    }
    ask(symbols);
}

bool
symbols_refresh(struct symbols_space *space, int64_t since_ns)
{
    if (space->pid <= 0 || !map_has_changed(space, since_ns))
        return false;
    if (space->generated == NULL)
        space->generated = file_of(space->symbols, &space->owner);
    if (space->generated == NULL)
        return false;
    ask_again(space);
    return true;
}

const struct symbol *
symbols_at(struct symbols_space *space, uint64_t address)
{
    struct symbol_entry *entry = recall(space, address);

    /* A module may have come to lie there. */
    if (entry != NULL && entry->place.file->identity.generated)
        entry = NULL;
    for (size_t i = space->count; entry == NULL && i-- > 0;) {
        const struct module_range *range = &space->ranges[i];
        if (address < range->start || address >= range->end)
            continue;
        entry = entry_at(space->symbols, range->file, address - range->bias);
        if (entry == NULL || !remember(space, address, entry))
            break;
    }
    if (entry == NULL && space->generated != NULL) {
        entry = entry_at(space->symbols, space->generated, address);
        if (entry != NULL)
            remember(space, address, entry);
    }
    return entry != NULL ? &entry->symbol : &nowhere;
}

int
symbols_descriptor(const struct symbols *symbols)
{
    return symbols->has_helper ? symbols->helper.socket : -1;
}

/* Takes one answer.  Returns false if there is none yet. */
static bool
take_one(struct symbols *symbols)
{
    static struct answer answer;
    struct symbol_frame frames[ANSWER_FRAMES];
    enum symbol_state state;
    int got = helper_receive(&symbols->helper, &answer);

    if (got == 0)
        return false;
    int count = got > 0 ? answer_read(&answer, &state, frames) : got;
    if (count < 0 || symbols->at_helper == 0) {
        bury_helper(symbols);
        return true;
    }
    symbols->at_helper--;
    settle(symbols, state, frames, (unsigned)count);
    return true;
}

bool
symbols_take(struct symbols *symbols)
{
    bool any = false;

    while (symbols->has_helper && take_one(symbols)) {
        any = true;
        ask(symbols);
    }
    return any;
}

bool
symbols_wait(struct symbols *symbols, int timeout_ms)
{
    int64_t end = clock_ns(CLOCK_MONOTONIC) + (int64_t)timeout_ms * 1000000;

    while (symbols->first != NULL) {
        struct pollfd source = {.fd = symbols_descriptor(symbols), .events = POLLIN};
        int64_t left = end - clock_ns(CLOCK_MONOTONIC);
        if (timeout_ms >= 0 && left <= 0)
            return false;
        poll(&source, 1, timeout_ms < 0 ? -1 : (int)((left + 999999) / 1000000));
        symbols_take(symbols);
    }
    return true;
}

struct symbols_progress
symbols_progress(const struct symbols *symbols)
{
    struct symbols_progress progress = symbols->progress;

    progress.file = symbols->first != NULL ? symbols->first->place.file->path : NULL;
    return progress;
}
