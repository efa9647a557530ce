/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What conditions trigger.  Neither memtop nor the program waits for a command.  It runs
 * in its own process group, so that a ^C meant for the program does not reach it, and it
 * may outlive both.  The terminal belongs to the display.
 */
#include "config.h"

#include "programs/trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/output.h"
#include "programs/say.h"
#include "base/i18n.h"
#include "system/library.h"
#include "system/signals.h"
#include "report/snapshot.h"

/* Names of a snapshot's files; "": not saved. */
struct files {
    char text[256];
    char json[256];
    char png[256];
};

void
trigger_init(struct trigger *trigger, struct session *session,
             const char *const *conditions, size_t count, const char *command,
             enum unit unit, const bool *displayed)
{
    struct library_search module;

    *trigger = (struct trigger){
        .session = session, .command = command, .unit = unit, .displayed = displayed};
    for (size_t i = 0; i < count && i < TRIGGER_CONDITIONS; i++) {
        condition_parse(conditions[i], &trigger->conditions[i]);
        if (trigger->conditions[i].kind == CONDITION_SIGNAL)
            signals_claim(SIGUSR1);
        trigger->count++;
    }
    if (count == 0 || !library_find_module("memtop-png.so", &module))
        return;
    snprintf(trigger->module_path, sizeof trigger->module_path, "%s", module.path);
    trigger->png_module = trigger->module_path;
}

static void
tell(const struct trigger *trigger, enum severity severity, const char *condition,
     const char *text)
{
    if (*trigger->displayed)
        session_say(trigger->session, severity, "%s: %s", condition, text);
    else
        say("%s: %s", condition, text);
}

/* If a file was not saved, name holds the reason: reports it and clears name. */
static void
keep_name(const char *condition, bool is_saved, char *name)
{
    if (is_saved)
        return;
    output_lost_as("%s: %s", condition, name);
    name[0] = '\0';
}

static void
save(const struct trigger *trigger, const char *condition, struct files *files)
{
    const struct tracked *root = session_root(trigger->session);
    char line[sizeof *files + 64];

    files->png[0] = '\0';
    keep_name(condition,
              snapshot_save_text(root, trigger->unit, files->text, sizeof files->text),
              files->text);
    keep_name(condition, snapshot_save_json(root, files->json, sizeof files->json),
              files->json);
    if (trigger->png_module != NULL)
        keep_name(condition,
                  snapshot_save_png(root, trigger->unit, trigger->png_module, files->png,
                                    sizeof files->png),
                  files->png);
    snprintf(line, sizeof line, "%s %s %s", files->text, files->json, files->png);
    if (strspn(line, " ") == strlen(line))
        return;
    char text[sizeof line + 64];
    snprintf(text, sizeof text, _("Saved %s"), line);
    tell(trigger, SEVERITY_STATE, condition, text);
}

static void
set_number(const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    setenv(name, text, 1);
}

static void
set_name(const char *name, const char *value)
{
    if (value[0] != '\0')
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Sets the command's variables.  Unknown values are unset. */
static void
set_environment(const struct process *process, const char *condition,
                const struct files *files)
{
    static const char *const measured[] = {"MEMTOP_HEAP",  "MEMTOP_PEAK",
                                           "MEMTOP_TOTAL", "MEMTOP_LIVE",
                                           "MEMTOP_STACK", "MEMTOP_STACK_PEAK"};
    const struct snapshot *now = &process->now;
    const uint64_t values[] = {now->live_bytes,  now->peak_bytes, now->total_bytes,
                               now->live_blocks, now->stack_now,  now->stack_peak};

    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        if (process->measured)
            set_number(measured[i], values[i]);
        else
            unsetenv(measured[i]);
    if (process->os_known)
        set_number("MEMTOP_RSS", process->os.rss);
    else
        unsetenv("MEMTOP_RSS");
    set_number("MEMTOP_PID", (uint64_t)process->pid);
    set_number("MEMTOP_T_NS", process->run_ns > 0 ? (uint64_t)process->run_ns : 0);
    setenv("MEMTOP_STATE", process_state_json(process->state), 1);
    setenv("MEMTOP_CONDITION", condition, 1);
    set_name("MEMTOP_TEXT", files->text);
    set_name("MEMTOP_JSON", files->json);
    set_name("MEMTOP_PNG", files->png);
}

/* The standard output may carry the program's data, so the command's output goes where
   memtop's messages go, or nowhere while the display is up. */
static void
redirect(bool display)
{
    int null = open("/dev/null", O_RDWR);

    dup2(null, STDIN_FILENO);
    if (display)
        dup2(null, STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (null > STDERR_FILENO)
        close(null);
}

static _Noreturn void
run_child(const struct trigger *trigger, const char *condition, const struct files *files)
{
    setpgid(0, 0);
    signals_restore_in_child();
    redirect(*trigger->displayed);
    set_environment(session_process(trigger->session), condition, files);
    execl("/bin/sh", "sh", "-c", trigger->command, (char *)NULL);
    _exit(127);
}

static void
run_command(struct trigger *trigger, const char *condition, const struct files *files)
{
    size_t place = 0;

    while (place < TRIGGER_COMMANDS && trigger->running[place] != 0)
        place++;
    if (place == TRIGGER_COMMANDS) {
        tell(trigger, SEVERITY_WARNING, condition,
             _("command not started: too many earlier ones are still running"));
        return;
    }
    fflush(NULL); /* otherwise the child would inherit buffered text */
    pid_t child = fork();
    if (child == 0)
        run_child(trigger, condition, files);
    if (child < 0)
        tell(trigger, SEVERITY_ERROR, condition, strerror(errno));
    else
        trigger->running[place] = child;
}

/* Collects ended commands and reports those that failed. */
static void
reap(struct trigger *trigger)
{
    for (size_t i = 0; i < TRIGGER_COMMANDS; i++) {
        char text[128];
        int status = 0;

        if (trigger->running[i] == 0
            || waitpid(trigger->running[i], &status, WNOHANG) == 0)
            continue;
        trigger->running[i] = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        snprintf(text, sizeof text, _("the command failed (status %d)"),
                 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        tell(trigger, SEVERITY_WARNING, "--exec", text);
    }
}

void
trigger_look(struct trigger *trigger, bool asked)
{
    const struct process *process = session_process(trigger->session);

    for (size_t i = 0; i < trigger->count; i++) {
        const char *condition = trigger->conditions[i].text;
        struct files files;

        if (!condition_look(&trigger->conditions[i], process, asked))
            continue;
        session_read_rss(trigger->session);
        save(trigger, condition, &files);
        if (trigger->command != NULL)
            run_command(trigger, condition, &files);
    }
    reap(trigger);
}
