/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Snapshots, and a command, when a condition of the command line comes true. */
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
#define TRIGGER_COMMANDS   8 /* that run at a time */

struct trigger {
    struct session *session;
    struct condition conditions[TRIGGER_CONDITIONS];
    size_t count;          /* of conditions; 0: none of this is of use */
    const char *command;   /* for /bin/sh -c, or NULL; borrowed */
    enum unit unit;
    const char *png_module; /* NULL: no pictures */
    char module_path[PATH_MAX];
    const bool *displayed; /* whether the terminal is the display's; borrowed */
    pid_t running[TRIGGER_COMMANDS]; /* commands; 0: none */
};

/* Conditions must be right; SIGUSR1 is taken from the program if one of them
   asks for it.  All pointers are borrowed; command may be NULL. */
void trigger_init(struct trigger *trigger, struct session *session,
                  const char *const *conditions, size_t count, const char *command,
                  enum unit unit, const bool *displayed);

/*
 * After each poll: saves what conditions that came true ask for, starts the
 * command for each, and reaps those that have ended.  Waits for nothing.
 */
void trigger_look(struct trigger *trigger, bool asked);

#endif
