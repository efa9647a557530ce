/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of the addresses in stacks.  Each address is named once; until it has a final
 * name it is shown as file and offset in brackets.  Names of functions and files are
 * stored once and have numbers, by which rows are grouped.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/i18n.h"
#include "base/path.h"
#include "monitor/profile-private.h"
#include "monitor/wrappers.h"

/* A path and an offset. */
#define PROVISIONAL_MAX (SITE_PATH_LEN + 64)

/* Finds or makes the number of a function's name.  Returns false if memory is short. */
static bool
function_number(struct profile *profile, const char *name, uint32_t *number)
{
    const struct interned *function =
        intern_bytes(&profile->functions, name, strnlen(name, INTERN_TEXT_MAX));

    if (function != NULL)
        *number = function->number;
    return function != NULL;
}

/* The short name of a file that has functions without names.  Of several files with the
   same last part of their path, that part is the name of the first one only. */
static const char *
short_name(struct profile *profile, const char *path)
{
    const char *name = path_name(path);
    const char *kept = intern_text(&profile->paths, path);

    for (size_t i = 0; i < profile->unnamed_count; i++)
        if (strcmp(path_name(profile->unnamed[i]), name) == 0)
            return profile->unnamed[i] == kept ? name : path;
    if (kept == NULL
        || !ARRAY_GROW(profile->unnamed, profile->unnamed_room,
                       profile->unnamed_count + 1))
        return path;
    profile->unnamed[profile->unnamed_count++] = kept;
    return name;
}

/* "[libfoo.so+0x1234]"; "[jit 0x7f...]" in no file, where code is generated; "[0x7f...]"
   as long as nobody was asked. */
static void
provisional_name(struct profile *profile, char *text, size_t size,
                 const struct symbol *symbol, uint64_t address)
{
    if (symbol->module != NULL && symbol->module[0] != '\0')
        snprintf(text, size, "[%.*s+0x%" PRIx64 "]", (int)SITE_PATH_LEN,
                 short_name(profile, symbol->module), symbol->offset);
    else
        snprintf(text, size, "[%s0x%" PRIx64 "]",
                 symbol->state == SYMBOL_ASKED ? "" : "jit ", address);
}

/* Saved sessions contain provisional names, too. */
static bool
is_unnamed(const char *name)
{
    return name[0] == '[';
}

/* Gives the address this name.  Returns true if its functions have changed. */
static bool
set_name(struct profile *profile, struct profile_address *address,
         const struct symbol *symbol)
{
    unsigned known =
        symbol->count < PROFILE_INLINES_MAX ? symbol->count : PROFILE_INLINES_MAX;
    unsigned count = known > 0 ? known : 1;
    struct profile_place *frames = calloc(count, sizeof *frames);
    char text[PROVISIONAL_MAX];
    bool changed = address->frame_count != count;

    if (frames == NULL)
        return false;
    provisional_name(profile, text, sizeof text, symbol, address->address);
    for (unsigned i = 0; i < count; i++) {
        const struct symbol_frame unnamed = {.function = text};
        const struct symbol_frame *frame = known > 0 ? &symbol->frames[i] : &unnamed;

        frames[i] =
            (struct profile_place){.file = intern_text(&profile->paths, frame->file),
                                   .line = frame->line,
                                   .module = intern_text(&profile->paths, symbol->module),
                                   .offset = symbol->offset,
                                   .address = address->address,
                                   .inlined = i + 1 < count,
                                   .unnamed = is_unnamed(frame->function),
                                   .wrapper = wrappers_have(
                                       frame->function, symbol->module, frame->file)};
        if (!function_number(profile, frame->function, &frames[i].function)) {
            free(frames);
            return false;
        }
        changed = changed || frames[i].function != address->frames[i].function;
    }
    free(address->frames);
    address->frames = frames;
    address->frame_count = count;
    address->final = symbol->state != SYMBOL_ASKED;
    return changed;
}

static struct profile_address *
find_address(const struct profile *profile, uint64_t where)
{
    struct profile_address *address;

    HASH_FIND(hh, profile->addresses, &where, sizeof where, address);
    return address;
}

const struct profile_address *
profile_find_address(const struct profile *profile, uint64_t address)
{
    return find_address(profile, address);
}

static struct profile_address *
add_address(struct profile *profile, uint64_t where)
{
    struct profile_address *address = calloc(1, sizeof *address);

    if (address == NULL)
        return NULL;
    address->address = where;
    HASH_ADD(hh, profile->addresses, address, sizeof where, address);
    if (!NOT_ADDED(address))
        return address;
    free(address);
    return NULL;
}

/* What the process itself said about a frame of an interpreter's language. */
static void
name_place(const struct profile *profile, uint64_t word, struct symbol *symbol,
           struct symbol_frame *frame)
{
    const struct site_place *place = sites_place(&profile->reading, word);

    *symbol = (struct symbol){.state = place != NULL ? SYMBOL_KNOWN : SYMBOL_UNNAMED};
    if (place == NULL)
        return;
    *frame = (struct symbol_frame){
        .function = place->name, .file = place->file, .line = place->line};
    symbol->count = 1;
    symbol->frames = frame;
}

/* Asks the namer about an address.  Returns true if its name has changed. */
static bool
name_address(struct profile *profile, struct profile_address *address,
             const struct profile_namer *namer)
{
    const struct symbol nobody_asked = {.state = SYMBOL_ASKED};
    const struct symbol *symbol = &nobody_asked;
    bool was_final = address->final, changed;
    struct symbol_frame frame;
    struct symbol named;

    if (site_is_place(address->address)) {
        name_place(profile, address->address, &named, &frame);
        symbol = &named;
    } else if (namer != NULL)
        symbol = namer->name(namer->context, address->address);
    else if (address->frame_count > 0)
        return false;
    changed = set_name(profile, address, symbol);
    profile->nameless -= !was_final && address->final;
    return changed;
}

/* Enters the addresses of new stacks. */
static void
enter_addresses(struct profile *profile)
{
    for (; profile->entered < profile->stack_count; profile->entered++) {
        uint32_t id = profile->stacks[profile->entered]->id;
        unsigned depth;
        const uint64_t *pcs = sites_stack(&profile->reading, id, &depth);

        for (unsigned i = 0; pcs != NULL && i < depth; i++) {
            uint64_t where = sites_call(pcs[i]);

            if (find_address(profile, where) == NULL
                && add_address(profile, where) != NULL)
                profile->nameless++;
        }
    }
}

bool
profile_resolve(struct profile *profile, const struct profile_namer *namer)
{
    struct profile_address *address, *next;
    bool changed = false;

    enter_addresses(profile);
    if (profile->nameless == 0)
        return false;
    HASH_ITER(hh, profile->addresses, address, next)
    {
        if (!address->final)
            changed |= name_address(profile, address, namer);
    }
    return changed;
}

void
profile_reopen_names(struct profile *profile)
{
    struct profile_address *address, *next;

    HASH_ITER(hh, profile->addresses, address, next)
    {
        if (!address->final || address->frames[0].module != NULL
            || !address->frames[0].unnamed)
            continue;
        address->final = false;
        profile->nameless++;
    }
}

const char *
profile_function(const struct profile *profile, uint32_t function)
{
    if (function == PROFILE_NO_STACK)
        return _("(stack not known)");
    if (function == PROFILE_HIDDEN)
        /* TRANSLATORS: call frames that a filter leaves out. */
        return _("(hidden)");
    return function < profile->functions.count ? profile->functions.all[function]->text
                                               : "?";
}

size_t
profile_places(const struct profile *profile, uint32_t stack, struct profile_place *out,
               size_t capacity)
{
    unsigned depth;
    const uint64_t *pcs = sites_stack(&profile->reading, stack, &depth);
    size_t count = 0;

    for (unsigned i = 0; pcs != NULL && i < depth; i++) {
        const struct profile_address *address =
            profile_find_address(profile, sites_call(pcs[i]));

        for (uint32_t k = 0; address != NULL && k < address->frame_count; k++, count++)
            if (count < capacity)
                out[count] = address->frames[k];
    }
    return count;
}

void
first_place_look(struct first_place *first, const struct profile_place *place,
                 size_t index)
{
    bool generated = place->module == NULL && !place->unnamed;

    if (place->wrapper || first->generated || (first->found && !generated))
        return;
    *first = (struct first_place){index, true, generated};
}

size_t
profile_first_place(const struct profile_place *places, size_t count)
{
    struct first_place first = {.index = 0};

    for (size_t i = 0; i < count; i++)
        first_place_look(&first, &places[i], i);
    return first.index;
}

void
profile_names_free(struct profile *profile)
{
    struct profile_address *address, *next_address;

    HASH_ITER(hh, profile->addresses, address, next_address)
    {
        HASH_DEL(profile->addresses, address);
        free(address->frames);
        free(address);
    }
    free(profile->unnamed);
    intern_free(&profile->functions);
    intern_free(&profile->paths);
}
