/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A limit is exceeded, kept, or cannot be judged because a process it applies to was not
 * measured.  An exceeded limit counts even if other processes were not measured.
 */
#include "config.h"

#include "programs/budget.h"

#include <stdio.h>
#include <string.h>

#include "programs/say.h"
#include "programs/status.h"
#include "base/i18n.h"
#include "base/path.h"
#include "base/textwidth.h"

#define SUM_INTERVAL_NS INT64_C(20000000)

bool
judge_prepare(struct session *session, const struct judge_options *options)
{
    const struct budget *budget = options->budget;
    const struct usage_options wanted = {
        .sum = budget->scope == SCOPE_SUM,
        .only = options->only,
    };

    if (!budget_given(budget) || budget->scope == SCOPE_ROOT)
        return true;
    return session_keep_usage(session, &wanted);
}

bool
judge_polls(const struct budget *budget)
{
    return budget_given(budget) && budget->scope == SCOPE_SUM;
}

int64_t
judge_poll(struct session *session, const struct budget *budget)
{
    if (!judge_polls(budget))
        return INT64_MAX;
    session_poll_usage(session);
    return SUM_INTERVAL_NS;
}

/* ---- exceeded limits ---- */

static bool
judge_limit(struct session *session, const struct judge_options *options,
            enum usage_kind kind, uint64_t used, pid_t pid, const char *whose)
{
    const struct history *history = pid == session_process(session)->pid
                                        ? session_history(session)
                                        : NULL;
    struct budget_excess excess;
    char text[512];

    if (!budget_exceeded(options->budget, kind, used, history, &excess))
        return false;
    budget_text(kind, whose, &excess, options->unit, text, sizeof text);
    say("%s", text);
    return true;
}

static bool
judge_process(struct session *session, const struct judge_options *options,
              enum usage_kind kind, const struct usage_most *most)
{
    char name[4 * sizeof most->name], whose[sizeof name + 64];

    if (most->pid == 0)
        return false;
    text_sanitise(name, sizeof name, most->name, strnlen(most->name, sizeof most->name));
    /* TRANSLATORS: a program and the number of its process. */
    snprintf(whose, sizeof whose, _("%s (process %ld)"), name, (long)most->pid);
    return judge_limit(session, options, kind, most->value, most->pid, whose);
}

static bool
judge_tree(struct session *session, const struct judge_options *options,
           const struct usage_result *result)
{
    bool passed = false;

    for (enum usage_kind kind = 0; kind < USAGE_KINDS; kind++)
        passed |= options->budget->scope == SCOPE_SUM
                      ? judge_limit(session, options, kind, result->sum[kind], 0,
                                    _("all processes together"))
                      : judge_process(session, options, kind, &result->most[kind]);
    return passed;
}

static bool
judge_root(struct session *session, const struct judge_options *options)
{
    const struct process *process = session_process(session);
    bool passed = false;

    for (enum usage_kind kind = 0; kind < USAGE_KINDS; kind++) {
        struct usage_most most = {usage_of(kind, &process->now), process->pid, ""};

        snprintf(most.name, sizeof most.name, "%.63s",
                 path_name(process->identity.program));
        passed |= judge_process(session, options, kind, &most);
    }
    return passed;
}

/* ---- limits that cannot be judged ---- */

static void
say_not_judged(const char *why)
{
    char text[1024];

    text_sanitise(text, sizeof text, why, strlen(why));
    say(_("cannot check the limits: %s"), text[0] != '\0' ? text : _("not measured"));
}

bool
judge_left_out(const struct process *process, const char *only)
{
    return only != NULL && !process->measured && !process->was_measured
           && process->identity.reason == REASON_OTHER_PROGRAM;
}

static bool
root_is_judged(const struct process *process)
{
    if (process->ended && process_knows(process, PART_COUNTERS))
        return true;
    say_not_judged(process->ended ? process->why_not : _("the program is still running"));
    return false;
}

/* Were all processes measured that the limits apply to?  If not, reports why. */
static bool
tree_is_judged(const struct process *process, const struct judge_options *options,
               const struct usage_result *result)
{
    char text[512];

    if (!process->measured && !judge_left_out(process, options->only)) {
        say_not_judged(process->why_not);
    } else if (result->unmeasured > 1) {
        unsigned more = result->unmeasured - 1;

        snprintf(text, sizeof text,
                 /* TRANSLATORS: %s is "sh executed ./a, which did not load...". */
                 ngettext("%s; %u more program was not measured",
                          "%s; %u more programs were not measured", more),
                 result->why, more);
        say_not_judged(text);
    } else if (result->unmeasured == 1) {
        say_not_judged(result->why);
    } else if (result->processes == 0) {
        snprintf(text, sizeof text, _("no program called %s was run"),
                 options->only != NULL ? options->only : "?");
        say_not_judged(text);
    } else {
        return true;
    }
    return false;
}

static void
say_running(unsigned running)
{
    if (running > 0)
        say(ngettext("limits: %u process is still running; only what it has used so far "
                     "is checked",
                     "limits: %u processes are still running; only what they have used "
                     "so far is checked",
                     running),
            running);
}

int
judge_budget(struct session *session, const struct judge_options *options)
{
    const struct process *process = session_process(session);
    struct usage_result result;
    bool judged, passed = false;

    if (!budget_given(options->budget))
        return 0;
    if (process->ended && session_usage(session, &result)) {
        passed = judge_tree(session, options, &result);
        say_running(result.running);
        judged = tree_is_judged(process, options, &result);
    } else {
        judged = root_is_judged(process);
        passed = judged && judge_root(session, options);
    }
    return passed ? status_of(STATUS_LIMIT) : judged ? 0 : status_of(STATUS_FAILED);
}
