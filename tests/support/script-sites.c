/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sampled allocations of a script.  A place in a script's stack is a text,
 * "function@file:line"; its address is its position in the list of all texts.  The
 * sampled blocks of a site are alike, so estimates follow from their number.
 */
#include "config.h"

#include "support/script-sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MAX 128
#define SITES_MAX  128
#define BLOCKS_MAX 4096
#define STEP       UINT64_C(16)   /* between addresses; the name is the one before */

struct made_up {
    uint32_t stack;
    uint64_t size;
    uint64_t made, live, at_peak, gone[SITE_LIFETIMES];
    int64_t born_ns;
};

struct script_sites {
    double rate;
    unsigned unwinder;
    unsigned known;              /* this many places, from the first, have names */
    struct sites_lost lost;
    char *places[PLACES_MAX];
    size_t place_count;
    uint64_t pool[SITES_MAX * 16];
    size_t pool_count;
    struct made_up sites[SITES_MAX];
    size_t site_count;
};

struct script_sites *
script_sites_new(void)
{
    struct script_sites *sites = calloc(1, sizeof *sites);

    if (sites == NULL)
        return NULL;
    sites->pool_count = 1;
    sites->known = PLACES_MAX;
    return sites;
}

void
script_sites_free(struct script_sites *sites)
{
    if (sites == NULL)
        return;
    for (size_t i = 0; i < sites->place_count; i++)
        free(sites->places[i]);
    free(sites);
}

/* Takes "WORD=NUMBER" from *line and moves it behind that and blanks. */
static bool
take_word(const char **line, char *word, size_t size, double *value)
{
    const char *equals = *line + strcspn(*line, "= :");
    char *end;

    if (*equals != '=' || (size_t)(equals - *line) >= size)
        return false;
    snprintf(word, size, "%.*s", (int)(equals - *line), *line);
    *value = strtod(equals + 1, &end);
    if (*end == 'K')
        *value *= 1024;
    else if (*end == 'M')
        *value *= 1024 * 1024;
    end += *end == 'K' || *end == 'M';
    *line = end + strspn(end, " ");
    return *value >= 0 && (*end == ' ' || *end == '\0');
}

bool
script_sites_all(struct script_sites *sites, const char *line)
{
    char word[32];
    double value;

    for (line += strspn(line, " "); *line;) {
        if (!take_word(&line, word, sizeof word, &value))
            return false;
        if (strcmp(word, "every") == 0 && value >= 8)
            sites->rate = 8 / value;
        else if (strcmp(word, "unwinder") == 0)
            sites->unwinder = (unsigned)value;
        else if (strcmp(word, "known") == 0)
            sites->known = (unsigned)value;
        else if (strcmp(word, "lost") == 0)
            sites->lost.blocks = (uint64_t)value;
        else if (strcmp(word, "lost_bytes") == 0)
            sites->lost.bytes = value;
        else
            return false;
    }
    return true;
}

/* Returns the address of a place; 0 if there are too many. */
static uint64_t
place_address(struct script_sites *sites, const char *text, size_t length)
{
    size_t i;

    for (i = 0; i < sites->place_count; i++)
        if (strlen(sites->places[i]) == length
            && memcmp(sites->places[i], text, length) == 0)
            return (i + 1) * STEP;
    if (i == PLACES_MAX || (sites->places[i] = strndup(text, length)) == NULL)
        return 0;
    sites->place_count++;
    return (i + 1) * STEP;
}

/* Takes "f@x.c:1 < g < main"; returns 0 if it does not parse, or there is no space. */
static uint32_t
take_stack(struct script_sites *sites, const char *line)
{
    size_t begin = sites->pool_count, depth = 0;

    for (const char *end; *line; line = end + strspn(end, "< ")) {
        uint64_t address;

        end = strstr(line, " <");
        if (end == NULL)
            end = line + strlen(line);
        address = place_address(sites, line, (size_t)(end - line));
        if (!address || begin + depth + 2 > sizeof sites->pool / sizeof *sites->pool
            || depth == SITES_DEPTH_MAX)
            return 0;
        depth++;
        sites->pool[begin + depth] = address + 1; /* a return address, behind the call */
    }
    sites->pool[begin] = depth;
    for (size_t at = 1; at < begin; at += 1 + sites->pool[at])
        if (memcmp(sites->pool + at, sites->pool + begin, (depth + 1) * 8) == 0)
            return (uint32_t)at;
    if (depth == 0)
        return 0;
    sites->pool_count += depth + 1;
    return (uint32_t)begin;
}

static bool
set_figure(struct made_up *site, const char *word, double value)
{
    unsigned class;

    if (strcmp(word, "size") == 0)
        site->size = (uint64_t)value;
    else if (strcmp(word, "made") == 0)
        site->made = (uint64_t)value;
    else if (strcmp(word, "live") == 0)
        site->live = (uint64_t)value;
    else if (strcmp(word, "peak") == 0)
        site->at_peak = (uint64_t)value;
    else if (strcmp(word, "born") == 0)
        site->born_ns = (int64_t)value * 1000000;
    else if (sscanf(word, "gone.%u", &class) == 1 && class < SITE_LIFETIMES)
        site->gone[class] = (uint64_t)value;
    else
        return false;
    return true;
}

bool
script_sites_one(struct script_sites *sites, const char *line)
{
    const char *stack = strstr(line, ": ");
    struct made_up asked = {0}, *site;
    char word[32];
    double value;
    size_t i;

    if (stack == NULL || !(asked.stack = take_stack(sites, stack + 2)))
        return false;
    for (line += strspn(line, " "); line < stack && *line != ':';)
        if (!take_word(&line, word, sizeof word, &value)
            || !set_figure(&asked, word, value))
            return false;
    for (i = 0; i < sites->site_count; i++)
        if (sites->sites[i].stack == asked.stack && sites->sites[i].size == asked.size)
            break;
    if (i == SITES_MAX)
        return false;
    site = &sites->sites[i];
    sites->site_count += i == sites->site_count;
    *site = asked;
    return true;
}

static struct site_figures
figures(const struct script_sites *sites, const struct made_up *site, uint64_t blocks)
{
    double weight = sites_weight(sites->rate, site->size) * (double)blocks;

    return (struct site_figures){weight * (double)site->size, weight, blocks, blocks};
}

static void
put_site(const struct script_sites *sites, const struct made_up *from,
         struct sites_reading *reading)
{
    struct site *to = &reading->sites[reading->site_count];
    double bytes = figures(sites, from, from->live).bytes;

    *to = (struct site){.stack = from->stack,
                        .bucket = histogram_coarse(from->size),
                        .made = figures(sites, from, from->made),
                        .freed = figures(sites, from, from->made - from->live),
                        .live = figures(sites, from, from->live),
                        .at_peak = figures(sites, from, from->at_peak),
                        .first_ns = (uint64_t)from->born_ns,
                        .last_ns = (uint64_t)from->born_ns};
    for (unsigned i = 0; i < SITE_LIFETIMES; i++)
        to->freed_after[i] = figures(sites, from, from->gone[i]);
    for (uint64_t i = 0; i < from->live && reading->block_count < BLOCKS_MAX; i++) {
        size_t block = reading->block_count++;

        reading->blocks[block] =
            (struct sampled_block){.address = block + 1,
                                   .size = from->size,
                                   .born_ns = (uint64_t)from->born_ns,
                                   .samples = 1,
                                   .site = (uint32_t)reading->site_count};
    }
    reading->site_count++;
    reading->sampled += from->made;
    reading->live_bytes += bytes;
}

bool
script_sites_read(const struct script_sites *sites, struct sites_reading *reading)
{
    sites_free(reading);
    if (sites->rate <= 0)
        return false;
    reading->sites = calloc(SITES_MAX + 1, sizeof *reading->sites);
    reading->blocks = calloc(BLOCKS_MAX, sizeof *reading->blocks);
    reading->pool = calloc(sites->pool_count, sizeof *reading->pool);
    if (reading->sites == NULL || reading->blocks == NULL || reading->pool == NULL) {
        sites_free(reading);
        return false;
    }
    memcpy(reading->pool, sites->pool, sites->pool_count * sizeof *reading->pool);
    reading->pool_count = sites->pool_count;
    reading->rate = sites->rate;
    reading->depth = SITES_DEPTH_DEFAULT;
    reading->unwinder = (enum site_unwinder)sites->unwinder;
    reading->has_modules = true;
    reading->lost = sites->lost;
    reading->sites[0].bucket = SITE_ANY_SIZE;
    reading->site_count = 1;
    for (size_t i = 0; i < sites->site_count; i++)
        put_site(sites, &sites->sites[i], reading);
    reading->peak_bytes = reading->live_bytes;
    return true;
}

/* Names an address "function@file:line". */
static const struct symbol *
name(void *context, uint64_t address)
{
    static char function[256], file[256]; /* valid until the next call */
    static struct symbol_frame frame;
    static struct symbol out;
    const struct script_sites *sites = context;
    size_t index = (size_t)((address + STEP - 1) / STEP) - 1;
    const char *at, *line;

    out = (struct symbol){.module = "/usr/bin/prog",
                          .offset = address,
                          .state = index < sites->known ? SYMBOL_UNNAMED : SYMBOL_ASKED};
    if (index >= sites->known || index >= sites->place_count)
        return &out;
    at = strchr(sites->places[index], '@');
    line = strrchr(sites->places[index], ':');
    snprintf(function, sizeof function, "%.*s",
             (int)strcspn(sites->places[index], "@"), sites->places[index]);
    frame = (struct symbol_frame){.function = function};
    out.state = SYMBOL_KNOWN;
    out.count = 1;
    out.frames = &frame;
    if (at == NULL || line == NULL || line < at)
        return &out;
    snprintf(file, sizeof file, "%.*s", (int)(line - at) - 1, at + 1);
    frame.file = file;
    frame.line = (unsigned)strtoul(line + 1, NULL, 10);
    return &out;
}

struct profile_namer
script_sites_namer(struct script_sites *sites)
{
    return (struct profile_namer){sites, name};
}
