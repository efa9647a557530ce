/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of the addresses in stacks.  Each address is named once; until it has a final
 * name it is shown as file and offset.  Names of functions and files are stored once and
 * have numbers, by which rows are grouped.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "monitor/profile-private.h"
#include "base/array.h"

#define NAME_MAX_BYTES 4096   /* of a function: template names can be endless */

static uint64_t
text_key(const char *text, size_t length)
{
    uint64_t key = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++)
        key = (key ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return key;
}

/* Finds or makes the number of a function's name.  Returns false if memory is short. */
static bool
intern_function(struct profile *profile, const char *name, uint32_t *id)
{
    size_t length = strnlen(name, NAME_MAX_BYTES);
    uint64_t key = text_key(name, length);
    struct profile_named *function;

    HASH_FIND(hh, profile->functions_by_key, &key, sizeof key, function);
    if (!function) {
        if (!ARRAY_GROW(profile->functions, profile->function_room,
                       profile->function_count + 1)
            || !(function = calloc(1, sizeof *function + length + 1)))
            return false;
        function->key = key;
        function->id = (uint32_t)profile->function_count;
        memcpy(function->name, name, length);
        HASH_ADD(hh, profile->functions_by_key, key, sizeof key, function);
        if (NOT_ADDED(function)) {
            free(function);
            return false;
        }
        profile->functions[profile->function_count++] = function;
    }
    *id = function->id;
    return true;
}

/* Returns a lasting copy of text; NULL for NULL, or if memory is short. */
static const char *
intern_text(struct profile *profile, const char *text)
{
    size_t length;
    uint64_t key;
    struct kept_text *kept;

    if (!text)
        return NULL;
    length = strnlen(text, NAME_MAX_BYTES);
    key = text_key(text, length);
    HASH_FIND(hh, profile->texts, &key, sizeof key, kept);
    if (kept)
        return kept->text;
    kept = calloc(1, sizeof *kept + length + 1);
    if (!kept)
        return NULL;
    kept->key = key;
    memcpy(kept->text, text, length);
    HASH_ADD(hh, profile->texts, key, sizeof key, kept);
    if (NOT_ADDED(kept)) {
        free(kept);
        return NULL;
    }
    return kept->text;
}

/* "libfoo.so+0x1234", or the plain address if it lies in no file. */
static void
provisional_name(char *text, size_t size, const struct profile_name *name)
{
    const char *slash = name->module ? strrchr(name->module, '/') : NULL;

    if (name->module && name->module[0])
        snprintf(text, size, "%s+0x%llx", slash ? slash + 1 : name->module,
                 (unsigned long long)name->offset);
    else
        snprintf(text, size, "0x%llx", (unsigned long long)name->offset);
}

/* Gives the address this name.  Returns true if its functions have changed. */
static bool
set_name(struct profile *profile, struct profile_address *address,
         const struct profile_name *name)
{
    unsigned count = name->count > 0 ? name->count : 1;
    struct profile_place *frames = calloc(count, sizeof *frames);
    char text[512];
    bool changed = address->frame_count != count;

    if (!frames)
        return false;
    provisional_name(text, sizeof text, name);
    for (unsigned i = 0; i < count; i++) {
        const struct profile_frame *frame = name->count > 0 ? &name->frames[i] : NULL;

        frames[i] = (struct profile_place){
            .file = intern_text(profile, frame ? frame->file : NULL),
            .line = frame ? frame->line : 0,
            .module = intern_text(profile, name->module),
            .offset = name->offset,
            .inlined = i + 1 < count};
        if (!intern_function(profile, frame && frame->function ? frame->function : text,
                             &frames[i].function)) {
            free(frames);
            return false;
        }
        changed = changed || frames[i].function != address->frames[i].function;
    }
    free(address->frames);
    address->frames = frames;
    address->frame_count = count;
    address->final = name->final;
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

    if (!address)
        return NULL;
    address->address = where;
    HASH_ADD(hh, profile->addresses, address, sizeof where, address);
    if (!NOT_ADDED(address))
        return address;
    free(address);
    return NULL;
}

/* Asks the namer about an address.  Returns true if its name has changed. */
static bool
name_address(struct profile *profile, struct profile_address *address,
             const struct profile_namer *namer)
{
    struct profile_name name = {.final = namer != NULL, .offset = address->address};
    bool was_final = address->final, changed;

    if (namer)
        namer->name(namer->context, address->address, &name);
    else if (address->frame_count > 0)
        return false;
    if (name.count > PROFILE_INLINES_MAX)
        name.count = PROFILE_INLINES_MAX;
    changed = set_name(profile, address, &name);
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

        for (unsigned i = 0; pcs && i < depth; i++) {
            uint64_t where = sites_call(pcs[i]);

            if (!find_address(profile, where) && add_address(profile, where))
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
        if (!address->final || address->frames[0].module)
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
    return function < profile->function_count ? profile->functions[function]->name : "?";
}

size_t
profile_places(const struct profile *profile, uint32_t stack, struct profile_place *out,
               size_t capacity)
{
    unsigned depth;
    const uint64_t *pcs = sites_stack(&profile->reading, stack, &depth);
    size_t count = 0;

    for (unsigned i = 0; pcs && i < depth; i++) {
        const struct profile_address *address =
            profile_find_address(profile, sites_call(pcs[i]));

        for (uint32_t k = 0; address && k < address->frame_count; k++, count++)
            if (count < capacity)
                out[count] = address->frames[k];
    }
    return count;
}

void
profile_names_free(struct profile *profile)
{
    struct profile_address *address, *next_address;
    struct profile_named *function, *next_function;
    struct kept_text *text, *next_text;

    HASH_ITER(hh, profile->addresses, address, next_address)
    {
        HASH_DEL(profile->addresses, address);
        free(address->frames);
        free(address);
    }
    HASH_ITER(hh, profile->functions_by_key, function, next_function)
    {
        HASH_DEL(profile->functions_by_key, function);
        free(function);
    }
    HASH_ITER(hh, profile->texts, text, next_text)
    {
        HASH_DEL(profile->texts, text);
        free(text);
    }
    free(profile->functions);
}
