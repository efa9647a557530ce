/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Saves snapshots and runs a command when conditions of the command line come true. */
#ifndef MEMTOP_TRIGGER_H
#define MEMTOP_TRIGGER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "programs/condition.h"
#include "monitor/session.h"
#include "base/units.h"

#define TRIGGER_CONDITIONS 16
/* Commands that may run at the same time. */
#define TRIGGER_COMMANDS   8

struct trigger {
    struct session *session;
    struct condition conditions[TRIGGER_CONDITIONS];
    size_t count;          /* number of conditions; 0: nothing to do */
    const char *command;   /* for /bin/sh -c, or NULL; borrowed */
    enum unit unit;
    const char *png_module; /* NULL: no pictures */
    char module_path[PATH_MAX];
    const bool *displayed; /* the display uses the terminal; borrowed */
    pid_t running[TRIGGER_COMMANDS]; /* pids of commands; 0: none */
};

/* Conditions must be valid.  If one of them needs SIGUSR1, that signal is no longer
   forwarded to the program.  All pointers are borrowed; command may be NULL. */
void trigger_init(struct trigger *trigger, struct session *session,
                  const char *const *conditions, size_t count, const char *command,
                  enum unit unit, const bool *displayed);

/*
 * Call it after each poll.  Saves the snapshots of conditions that have come true,
 * starts the command for each, and reaps commands that have ended.  Never waits.
 */
void trigger_look(struct trigger *trigger, bool asked);

#endif
