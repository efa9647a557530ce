/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values derived from one process's figures, and words for its state. */
#include "config.h"

#include "monitor/session.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"

int
process_coverage(const struct process *process)
{
    double share;

    if (!process->measured || process->rss_anon_peak == 0)
        return -1;
    share = 100.0 * (double)process->heap_peak / (double)process->rss_anon_peak;
    return share > 100 ? 100 : (int)(share + 0.5);
}

const char *
process_state_word(enum process_state state)
{
    static const char *const words[] = {
#define X(id, word, json) word,
        PROCESS_STATES(X)
#undef X
    };

    return _(words[state]);
}

const char *
process_state_json(enum process_state state)
{
    static const char *const names[] = {
#define X(id, word, json) json,
        PROCESS_STATES(X)
#undef X
    };

    return names[state];
}

const char *
process_signal_name(int signal)
{
    static char name[32];
    const char *known = sigabbrev_np(signal);

    if (known != NULL)
        snprintf(name, sizeof name, "SIG%s", known);
    else
        /* TRANSLATORS: a signal without a name. */
        snprintf(name, sizeof name, _("signal %d"), signal);
    return name;
}
