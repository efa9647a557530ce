/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The environment: MEMTOP_OPTIONS=word,word=value,... and what memusage's library
 * understands.  environ is read directly, because programs define their own getenv (bash
 * does), which may not work yet.
 */
#include "config.h"

#include "preload/options.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "segment/rate.h"
#include "segment/sites-layout.h"

struct mt_options mt_options;

/* The first letter is compared first: most variables need no more. */
static const char *
environment(const char *name)
{
    size_t length = strlen(name);

    for (char **entry = environ; entry != NULL && *entry != NULL; entry++)
        if ((*entry)[0] == name[0] && strncmp(*entry, name, length) == 0
            && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

/* If word[0..length) is NAME=VALUE, returns VALUE and its length. */
static const char *
word_value(const char *word, size_t *length, const char *name)
{
    size_t prefix = strlen(name);

    if (*length < prefix || strncmp(word, name, prefix) != 0)
        return NULL;
    *length -= prefix;
    return word + prefix;
}

static bool
word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

/* A number that fits a process id; 0 for anything else. */
static uint32_t
number(const char *digits, size_t length)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length; i++) {
        if (digits[i] < '0' || digits[i] > '9' || value > INT32_MAX)
            return 0;
        value = value * 10 + (uint64_t)(digits[i] - '0');
    }
    return value <= INT32_MAX ? (uint32_t)value : 0;
}

/* Rounds up to a capacity that a segment may have; 0 stays 0 (no rings). */
static uint64_t
ring_capacity(uint32_t wanted)
{
    uint64_t capacity = RING_CAPACITY_MIN;

    if (wanted == 0)
        return 0;
    while (capacity < wanted && capacity < RING_CAPACITY_MAX)
        capacity *= 2;
    return capacity;
}

static enum unwind_choice
unwind_choice(const char *name, size_t length)
{
    static const char *const names[] = {
        [UNWIND_CHOICE_AUTO] = "auto",
        [UNWIND_CHOICE_DWARF] = "dwarf",
        [UNWIND_CHOICE_FRAMES] = "fp",
        [UNWIND_CHOICE_NONE] = "none",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (word_is(name, length, names[i]))
            return (enum unwind_choice)i;
    return UNWIND_CHOICE_AUTO;
}

/* sites, sites=RATE, sites=off.  An invalid rate means the library's choice. */
static void
take_sites(struct mt_options *options, const char *value, size_t length)
{
    options->sites = options->sites_asked = true;
    options->sites_rate = 0;
    if (word_is(value, length, "off"))
        options->sites = options->sites_asked = false;
    else if (!sampling_rate_parse(value, length, &options->sites_rate))
        options->sites_rate = 0;
}

/* Takes the words about sampling sites. */
static bool
take_sites_word(struct mt_options *options, const char *word, size_t length)
{
    const char *value;
    size_t left = length;

    if (word_is(word, length, "sites"))
        take_sites(options, "", 0);
    else if ((value = word_value(word, &left, "sites=")) != NULL)
        take_sites(options, value, left);
    else if ((value = word_value(word, &left, "sites-memory=")) != NULL)
        options->sites_memory = (uint64_t)number(value, left) << 10;
    else if ((value = word_value(word, &left, "unwind=")) != NULL)
        options->unwind = unwind_choice(value, left);
    else if ((value = word_value(word, &left, "depth=")) != NULL) {
        uint32_t depth = number(value, left);
        if (depth > 0)
            options->sites_depth = depth < SITES_DEPTH_MAX ? depth : SITES_DEPTH_MAX;
    } else
        return false;
    return true;
}

/* Unknown words are ignored: a newer memtop may know more than we do. */
static void
take_word(struct mt_options *options, const char *word, size_t length)
{
    const char *value;
    size_t left = length;

    if (word_is(word, length, "mmap"))
        options->mappings = true;
    else if (word_is(word, length, "exact"))
        options->exact = true;
    else if (word_is(word, length, "root-only"))
        options->root_only = true;
    else if (word_is(word, length, "old-kernel"))
        options->old_kernel = true;
    else if (word_is(word, length, "drop"))
        options->drop = true;
    else if (word_is(word, length, "dormant"))
        options->dormant = true;
    else if ((value = word_value(word, &left, "rings=")) != NULL)
        options->ring_capacity = ring_capacity(number(value, left));
    else if (word_is(word, length, "accounting=requested"))
        options->accounting = ACCOUNTING_REQUESTED;
    else if (word_is(word, length, "accounting=usable"))
        options->accounting = ACCOUNTING_USABLE;
    else if (take_sites_word(options, word, length))
        return;
    else if ((value = word_value(word, &left, "keep=")) != NULL)
        options->keeper = number(value, left);
    else if ((value = word_value(word, &left, "segment=")) != NULL
             && left < sizeof options->segment) {
        memcpy(options->segment, value, left);
        options->segment[left] = '\0';
    }
}

static void
take_words(struct mt_options *options, const char *words)
{
    size_t length = strlen(words);

    memcpy(options->words, words,
           length < sizeof options->words ? length : sizeof options->words - 1);
    while (*words != '\0') {
        size_t word = strcspn(words, ",");
        take_word(options, words, word);
        words += word + (words[word] == ',');
    }
}

void
mt_options_read(struct mt_options *options, const char **memtop_dir,
                const char **runtime_dir)
{
    const char *words = environment("MEMTOP_OPTIONS");
    const char *program = environment("MEMUSAGE_PROG_NAME");
    const char *output = environment("MEMUSAGE_OUTPUT");

    memset(options, 0, sizeof *options);
    options->sites_depth = SITES_DEPTH_DEFAULT;
    options->sites = true;
    if (words != NULL)
        take_words(options, words);
    options->log = environment("MALLOC_LOG");
    options->log_minimal = environment("MALLOC_LOG_MINIMAL") != NULL;
    /* The log and the rings record all calls; and without the vdso each look at the clock
       is a system call. */
    if (options->ring_capacity > 0 || (options->log != NULL && options->log[0] != '\0')
        || getauxval(AT_SYSINFO_EHDR) == 0)
        options->dormant = false;
    /* Those who record every call, or whose calls are counted otherwise, pay for samples
       at each call: they must want them. */
    if (!options->sites_asked
        && (options->ring_capacity > 0 || options->accounting == ACCOUNTING_USABLE
            || (options->log != NULL && options->log[0] != '\0')))
        options->sites = false;
    if (environment("MEMUSAGE_TRACE_MMAP") != NULL)
        options->mappings = true;
    options->output_ignored = output != NULL && output[0] != '\0';
    options->other_program =
        program != NULL && strcmp(program, program_invocation_short_name) != 0;
    *memtop_dir = environment("MEMTOP_DIR");
    *runtime_dir = environment("XDG_RUNTIME_DIR");
}

/* ---- LD_PRELOAD ---- */

/* Entries are separated by colons or spaces, ld.so(8). */
static size_t
entry_length(const char *list)
{
    return strcspn(list, ": ");
}

static const char *
base_name(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/')
        length--;
    return path + length;
}

/* Is the entry this library: the same path, or its bare name? */
static bool
is_own(const char *entry, size_t length, const char *own_path)
{
    const char *own_name = base_name(own_path, strlen(own_path));

    return word_is(entry, length, own_path) || word_is(entry, length, own_name);
}

void
mt_options_leave_preload(const char *own_path)
{
    char *list = (char *)environment("LD_PRELOAD");

    while (list != NULL && *list != '\0') {
        size_t length = entry_length(list);
        size_t skip = length + (list[length] != '\0');

        if (is_own(list, length, own_path))
            memmove(list, list + skip, strlen(list + skip) + 1);
        else
            list += skip;
    }
}
