/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The whole file is held as text and played once without effect when it is opened, so
 * that a mistake is reported at the start and not in the middle of a run.
 */
#include "config.h"

#include "support/script.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "monitor/process-list.h"
#include "monitor/tracked.h"
#include "base/figures.h"
#include "support/script-sites.h"

struct script {
    char *text;
    char **lines;
    size_t count, next;
    char *command;
    enum process_state state;
    struct process_list *process_list; /* rooted; made when it is first needed */
    struct script_sites *sites; /* likewise */
    struct profile_namer namer;
    int64_t start_ns;      /* of the first poll, -1: there was none */
};

#define FIELD(name, member)                                                              \
    {                                                                                    \
        name, offsetof(struct process, member)                                           \
    }
#define NOW(member) FIELD(#member, now.member)
static const struct {
    const char *name;
    size_t offset;
} words64[] =
    {
        FIELD("heap", now.live_bytes),
        FIELD("peak", now.peak_bytes),
        FIELD("usable", now.usable_bytes),
        FIELD("total", now.total_bytes),
        FIELD("blocks", now.live_blocks),
        FIELD("stack", now.stack_now),
        NOW(stack_peak),
        NOW(threads),
        NOW(unmatched),
        NOW(free_null),
        NOW(custom_made),
        NOW(custom_made_bytes),
        NOW(custom_freed),
        NOW(custom_freed_bytes),
        NOW(custom_live),
        NOW(custom_live_bytes),
        FIELD("rss", os.rss),
        FIELD("rss_anon", os.rss_anon),
        FIELD("rss_peak", rss_peak),
        FIELD("touched", stack_touched),
},
  words32[] = {
      FIELD("children", children),
      FIELD("children_seen", children_seen),
      FIELD("generations", generations),
};

static bool
parse_value(const char *text, uint64_t *out)
{
    char *end;
    unsigned shift = 0;

    errno = 0;
    *out = strtoull(text, &end, 10);
    if (end == text || errno || !isdigit((unsigned char)*text))
        return false;
    if (*end == 'K')
        shift = 10;
    else if (*end == 'M')
        shift = 20;
    else if (*end == 'G')
        shift = 30;
    *out <<= shift;
    return end[shift > 0] == '\0';
}

/* Takes FUNCTION, FUNCTION.bytes, ... */
static uint64_t *
function_word(struct process *process, const char *key)
{
    static const char *const names[] = {
#define X(id, name) name,
        SEGMENT_FUNCTIONS(X)
#undef X
    };

    for (int i = 0; i < FN_COUNT; i++) {
        size_t length = strlen(names[i]);

        if (strncmp(key, names[i], length) != 0)
            continue;
        if (key[length] == '\0')
            return &process->now.calls[i];
        if (strcmp(key + length, ".bytes") == 0)
            return &process->now.bytes[i];
        if (strcmp(key + length, ".failed") == 0)
            return &process->now.failed[i];
        if (strcmp(key + length, ".failed_bytes") == 0)
            return &process->now.failed_bytes[i];
    }
    return NULL;
}

/* Takes band.NAME: named parts of the RSS are known, the others are not. */
static bool
set_band(struct process *process, const char *name, uint64_t value)
{
    struct rss_breakdown *breakdown = &process->breakdown;

    for (int i = 0; !breakdown->known && i < BAND_COUNT; i++)
        breakdown->bytes[i] = BAND_UNKNOWN;
    breakdown->known = true;
    breakdown->run_ns = process->run_ns;
    if (strcmp(name, "mappings") == 0)
        breakdown->mappings = (unsigned)value;
    else if (strcmp(name, "pss") == 0)
        breakdown->pss = value;
    else if (strcmp(name, "swap") == 0)
        breakdown->swap = value;
    else if (strcmp(name, "absent") == 0)
        breakdown->absent = value;
    else if (strcmp(name, "unsure") == 0)
        breakdown->unsure = value;
    else if (strcmp(name, "reserve") == 0)
        breakdown->with_reserve = value != 0;
    else {
        for (int i = 0; i < BAND_COUNT; i++)
            if (strcmp(name, band_json((enum band)i)) == 0) {
                breakdown->bytes[i] = value;
                return true;
            }
        return false;
    }
    return true;
}

static bool
set_number(struct process *process, const char *key, uint64_t value)
{
    uint64_t *word = function_word(process, key), size;

    for (size_t i = 0; word == NULL && i < sizeof words64 / sizeof *words64; i++)
        if (strcmp(key, words64[i].name) == 0)
            word = (uint64_t *)(void *)((char *)process + words64[i].offset);
    if (word != NULL) {
        *word = value;
        if (word == &process->now.live_bytes)
            process->measured = true;
        return true;
    }
    for (size_t i = 0; i < sizeof words32 / sizeof *words32; i++) {
        if (strcmp(key, words32[i].name) == 0) {
            *(unsigned *)(void *)((char *)process + words32[i].offset) = (unsigned)value;
            return true;
        }
    }
    if (strncmp(key, "band.", 5) == 0)
        return set_band(process, key + 5, value);
    if (strncmp(key, "size.", 5) != 0 || !parse_value(key + 5, &size))
        return false;
    process->sizes.allocated[histogram_cell(size)] = value;
    process->sizes.live[histogram_coarse(size)] = value;
    return true;
}

static bool
set_state(struct script *script, const char *name)
{
    for (int i = 0; i < STATE_EXITED; i++) {
        if (strcmp(name, process_state_json((enum process_state)i)) == 0) {
            script->state = (enum process_state)i;
            return true;
        }
    }
    return false;
}

static void
set_end(struct process *process, enum process_state state, int wait_status)
{
    process->ended = true;
    process->state = state;
    process->wait_status = wait_status;
    process->children = 0;
}

static bool
apply(struct script *script, struct process *process, const char *key, const char *text)
{
    uint64_t value;

    if (strcmp(key, "state") == 0)
        return set_state(script, text);
    if (!parse_value(text, &value))
        return false;
    if (strcmp(key, "exit") == 0)
        set_end(process, STATE_EXITED, W_EXITCODE((int)(value & 255), 0));
    else if (strcmp(key, "signal") == 0)
        set_end(process, STATE_KILLED, W_EXITCODE(0, (int)(value & 127)));
    else
        return set_number(process, key, value);
    return true;
}

static void
settle(struct process *process)
{
    raise_to(&process->now.peak_bytes, process->now.live_bytes);
    raise_to(&process->now.stack_peak, process->now.stack_now);
    raise_to(&process->rss_peak, process->os.rss);
    process->os.rss_peak = process->rss_peak;
    process->os_known = process->os.rss > 0;
    raise_to(&process->rss_anon_peak, process->os.rss_anon);
    raise_to(&process->heap_peak, process->now.peak_bytes);
    raise_to(&process->heap_peak, process->now.usable_bytes);
    process->breakdown.rss = 0;
    for (int i = 0; i < BAND_COUNT; i++)
        if (process->breakdown.bytes[i] != BAND_UNKNOWN)
            process->breakdown.rss += process->breakdown.bytes[i];
}

/* ---- other processes ---- */

static bool
state_of(const char *name, enum process_state *state)
{
    for (int i = 0; i < STATE_COUNT; i++)
        if (strcmp(name, process_state_json((enum process_state)i)) == 0) {
            *state = (enum process_state)i;
            return true;
        }
    return false;
}

/* Takes "sh>env". */
static void
set_before(struct process_entry *entry, const char *names)
{
    size_t used = 0;

    for (; *names && used + 4 < sizeof entry->before; names++)
        used += (size_t)snprintf(entry->before + used, sizeof entry->before - used,
                                 *names == '>' ? " > " : "%c", *names);
    entry->generations++;
}

static bool
set_entry(struct process_entry *entry, const char *key, const char *text)
{
    uint64_t value;

    if (strcmp(key, "state") == 0)
        return state_of(text, &entry->state);
    if (strcmp(key, "before") == 0) {
        set_before(entry, text);
        return true;
    }
    if (!parse_value(text, &value))
        return false;
    if (strcmp(key, "heap") == 0) {
        entry->heap = value;
        entry->measured = true;
    } else if (strcmp(key, "peak") == 0) {
        entry->heap_peak = value;
    } else if (strcmp(key, "rss") == 0) {
        entry->rss = value;
    } else if (strcmp(key, "allocations") == 0) {
        entry->allocations = (double)value;
    } else if (strcmp(key, "start") == 0) {
        entry->start_ns = value * 1000000;
    } else {
        return false;
    }
    return true;
}

/* Takes PID PARENT [WORD=VALUE]... : COMMAND; entry is the process as it was before. */
static bool
play_entry(const char *line, struct process_entry *entry)
{
    char word[64];
    int at = 0;

    if (sscanf(line, "%*d %d%n", &entry->parent, &at) != 1)
        return false;
    line += at;
    entry->state = STATE_RUNNING;
    for (;;) {
        char *equals;

        line += strspn(line, " ");
        if (*line == ':') {
            snprintf(entry->command, sizeof entry->command, "%s",
                     line + 1 + strspn(line + 1, " "));
            break;
        }
        if (sscanf(line, "%63s%n", word, &at) != 1
            || (equals = strchr(word, '=')) == NULL)
            return false;
        *equals = '\0';
        if (!set_entry(entry, word, equals + 1))
            return false;
        line += at;
    }
    entry->ended = entry->state >= STATE_EXITED;
    return true;
}

static bool
play_process(struct script *script, const char *line, bool check, pid_t root)
{
    struct process_entry scratch = {0}, *entry = &scratch;
    pid_t pid = (pid_t)strtol(line, NULL, 10);

    if (pid <= 0)
        return false;
    if (!check) {
        if (script->process_list == NULL) {
            script->process_list = process_list_new(true);
            if (script->process_list == NULL
                || process_list_add(script->process_list, root) == NULL)
                return false;
        }
        entry = process_list_find(script->process_list, pid);
        if (entry == NULL)
            entry = process_list_add(script->process_list, pid);
    }
    return entry != NULL && play_entry(line, entry);
}

static void
arrange(struct script *script, const struct process *root)
{
    struct process_entry *entry;

    if (script->process_list == NULL
        && ((script->process_list = process_list_new(true)) == NULL
            || process_list_add(script->process_list, root->pid) == NULL))
        return;
    entry = process_list_first(script->process_list);
    snprintf(entry->command, sizeof entry->command, "%s",
             script->command != NULL ? script->command : "script");
    process_list_copy_process(entry, root);
    process_list_arrange(script->process_list, (uint64_t)root->run_ns);
}

/* ---- sites ---- */

/* While the script is checked nothing may be kept. */
static bool
play_sites(struct script *script, const char *word, const char *line, bool check)
{
    struct script_sites *sites = script->sites;
    bool good;

    if (sites == NULL)
        sites = script_sites_new();
    if (sites == NULL)
        return false;
    good = strcmp(word, "sites") == 0 ? script_sites_all(sites, line)
                                      : script_sites_one(sites, line);
    if (check)
        script_sites_free(sites);
    else
        script->sites = sites;
    return good;
}

/* Plays the words behind a line's time.  session may be NULL. */
static bool
play(struct script *script, const char *line, struct session *session,
     struct process *process)
{
    char word[64];

    while (*(line += strspn(line, " \t"))) {
        size_t length = strcspn(line, " \t");
        char *equals;

        if (length >= sizeof word)
            return false;
        snprintf(word, sizeof word, "%.*s", (int)length, line);
        line += length;
        if (strcmp(word, "process") == 0) {
            if (!play_process(script, line + strspn(line, " "), session == NULL,
                              process->pid))
                return false;
            break;
        }
        if (strcmp(word, "why") == 0 || strcmp(word, "say") == 0) {
            line += strspn(line, " \t");
            if (word[0] == 's' && session != NULL)
                session_say(session, SEVERITY_STATE, "%s", line);
            if (word[0] == 'w') {
                snprintf(process->why_not, sizeof process->why_not, "%s", line);
                process->measured = false;
            }
            break;
        }
        if (strcmp(word, "sites") == 0 || strcmp(word, "site") == 0) {
            if (!play_sites(script, word, line, session == NULL))
                return false;
            break;
        }
        equals = strchr(word, '=');
        if (equals == NULL)
            return false;
        *equals = '\0';
        if (!apply(script, process, word, equals + 1))
            return false;
    }
    settle(process);
    return true;
}

/* Reads a line's time; *rest is what follows it. */
static bool
line_time(const char *line, int64_t *time_ns, const char **rest)
{
    char *end;
    long long ms = strtoll(line, &end, 10);

    if (end == line || ms < 0 || ms > INT32_MAX
        || (*end && !isspace((unsigned char)*end)))
        return false;
    *time_ns = ms * 1000000;
    *rest = end;
    return true;
}

static bool
is_silent(const char *line)
{
    line += strspn(line, " \t");
    return *line == '\0' || *line == '#';
}

/* Takes lines that apply to the whole script; *pid gets theirs. */
static bool
is_heading(struct script *script, const char *line, pid_t *pid)
{
    if (strncmp(line, "program ", 8) == 0) {
        if (script != NULL) {
            free(script->command);
            script->command = strdup(line + 8);
        }
        return true;
    }
    if (strncmp(line, "pid ", 4) != 0)
        return false;
    *pid = (pid_t)strtol(line + 4, NULL, 10);
    return true;
}

static bool
check(struct script *script)
{
    struct process *scratch = calloc(1, sizeof *scratch);
    int64_t before_ns = 0, time_ns;
    bool good = scratch != NULL;

    for (size_t i = 0; good && i < script->count; i++) {
        const char *rest;

        if (is_silent(script->lines[i])
            || is_heading(script, script->lines[i], &scratch->pid))
            continue;
        good = line_time(script->lines[i], &time_ns, &rest) && time_ns >= before_ns
               && play(script, rest, NULL, scratch);
        before_ns = time_ns;
    }
    free(scratch);
    script->state = STATE_RUNNING;
    return good;
}

static char *
read_file(const char *name)
{
    FILE *file = fopen(name, "re");
    char *text = NULL;
    size_t room = 0;

    if (file == NULL)
        return NULL;
    /* A script has no NUL, so this reads the whole file. */
    if (getdelim(&text, &room, '\0', file) < 0) {
        free(text);
        text = NULL;
        errno = EINVAL;
    }
    fclose(file);
    return text;
}

static void
script_free(void *state)
{
    struct script *script = state;

    process_list_free(script->process_list);
    script_sites_free(script->sites);
    free(script->lines);
    free(script->text);
    free(script->command);
    free(script);
}

/* Plays the next line if it is due: true, and process is as it says, run_ns being the
   line's time.  Messages go to session. */
static bool
play_next(struct script *script, int64_t elapsed_ns, struct session *session,
          struct process *process)
{
    while (script->next < script->count) {
        const char *line = script->lines[script->next], *rest;
        int64_t time_ns;

        if (is_silent(line) || is_heading(NULL, line, &process->pid)) {
            script->next++;
            continue;
        }
        if (process->ended || !line_time(line, &time_ns, &rest) || time_ns > elapsed_ns)
            return false;
        script->next++;
        process->run_ns = time_ns;
        if (process->generations == 0)
            process->generations = 1;
        play(script, rest, session, process);
        return true;
    }
    return false;
}

/* Every line that is due gives a sample, however rarely we are called. */
static void
play_due(struct script *script, struct session *session, struct tracked *root,
         int64_t now_ns)
{
    struct process *process = &root->process;

    if (script->start_ns < 0)
        script->start_ns = now_ns;
    while (play_next(script, now_ns - script->start_ns, session, process))
        tracked_digest(root, session, script->start_ns + process->run_ns, NULL, 0, 0);
    arrange(script, process);
    if (process->ended)
        return;
    process->run_ns = now_ns - script->start_ns;
    tracked_digest(root, session, now_ns, NULL, 0, 0);
    process->state = script->state;
    if (process->state == STATE_RUNNING && meter_idle(&root->meter, now_ns))
        process->state = STATE_IDLE;
    arrange(script, process);
}

static void
script_poll(void *state, struct session *session, struct tracked *root, int64_t now_ns,
            bool with_sizes)
{
    struct script *script = state;

    (void)with_sizes;
    play_due(script, session, root, now_ns);
    if (root->profile != NULL && script->sites != NULL
        && script_sites_read(script->sites, profile_reading(root->profile)))
        profile_digest(root->profile, root->process.run_ns, 0);
}

static const struct process_list *
script_processes(const void *state)
{
    const struct script *script = state;

    return script->process_list;
}

static const struct profile_namer *
script_namer(void *state)
{
    struct script *script = state;

    if (script->sites == NULL)
        return NULL;
    script->namer = script_sites_namer(script->sites);
    return &script->namer;
}

static const char *
script_command(const void *state)
{
    const struct script *script = state;

    return script->command != NULL ? script->command : "script";
}

static const struct source_class script_source = {
    .poll = script_poll,
    .processes = script_processes,
    .namer = script_namer,
    .command = script_command,
    .free = script_free,
};

static bool
split(struct script *script)
{
    char *rest = script->text;

    for (const char *line; (line = strsep(&rest, "\n")) != NULL;) {
        char **lines = reallocarray(script->lines, script->count + 1, sizeof *lines);

        if (lines == NULL)
            return false;
        script->lines = lines;
        script->lines[script->count++] = (char *)(uintptr_t)line;
    }
    return true;
}

bool
script_open(const char *name, struct session_source *out)
{
    struct script *script = calloc(1, sizeof *script);

    if (script == NULL)
        return false;
    script->start_ns = -1;
    script->text = read_file(strncmp(name, "script:", 7) == 0 ? name + 7 : name);
    if (script->text == NULL) {
        free(script);
        return false;
    }
    if (!split(script) || !check(script)) {
        script_free(script);
        errno = EINVAL;
        return false;
    }
    *out = (struct session_source){&script_source, script};
    return true;
}

struct session *
script_session(const char *name)
{
    struct session_source source;
    const struct session_options options = {.source = &source};

    return script_open(name, &source) ? session_new(&options) : NULL;
}
