/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads recorded calls once, in bounded memory, and says what is odd about their
   file. */
#include "config.h"

#include "programs/tracefile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "programs/export.h"
#include "programs/output.h"
#include "programs/progress.h"
#include "programs/say.h"
#include "base/i18n.h"
#include "base/figures.h"
#include "files/follow.h"
#include "files/ledger.h"
#include "files/trace.h"

#define AT_ONCE 4096u

const char *const export_names[] = {"logalloc", "dat", "csv", "json", NULL};

bool
tracefile_is_stream(const char *path)
{
    struct stat st;

    if (strcmp(path, "-") == 0)
        return true;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bool
tracefile_is(const char *path)
{
    struct trace *trace;
    int error;

    if (tracefile_is_stream(path))
        return true;
    error = trace_open(path, NULL, &trace);
    if (error == 0)
        trace_close(trace);
    return error == 0 || error == -EPROTONOSUPPORT;
}

void
tracefile_say_error(const char *path, int error)
{
    const char *why = error == -EPROTONOSUPPORT ? _("it is of a later version of memtop")
                      : error == -ENOEXEC && tracefile_is_stream(path)
                          ? _("no record of calls (data files and sessions cannot be "
                              "read from a pipe)")
                      : error == -ENOEXEC       ? _("not a record of calls")
                      : error == -ENODATA       ? _("it is empty")
                                                : strerror(-error);

    say(_("cannot read %s: %s"), path, why);
}

void
tracefile_say_oddities(const char *path, const struct trace_info *info)
{
    if (info->cut)
        say(_("%s was not completed: the record ends early"), path);
    if (info->lost > 0)
        say(ngettext("%s: %" PRIu64 " call was not recorded",
                     "%s: %" PRIu64 " calls were not recorded", plural(info->lost)),
            path, info->lost);
    if (info->damaged > 0)
        say(ngettext("%s: %" PRIu64 " byte is damaged, and what it was part of left out",
                     "%s: %" PRIu64 " bytes are damaged, and what they were part of left out",
                     plural(info->damaged)),
            path, info->damaged);
    if (info->refused > 0)
        say(ngettext("%s: %" PRIu64 " line is no call, line %" PRIu64,
                     "%s: %" PRIu64 " lines are no calls, the first is line %" PRIu64,
                     plural(info->refused)),
            path, info->refused, info->refused_first);
}

/* Hands all events to take(), which returns 0 or -errno.  False, having said why. */
static bool
read_all(const char *path,
         int (*take)(void *context, const struct trace_info *info,
                     const struct trace_event *event),
         void *context)
{
    static struct trace_event events[AT_ONCE];
    struct progress progress;
    const struct trace_progress shown = {progress_tell, &progress};
    struct trace *trace = NULL;
    long got;

    progress_begin(&progress, path);
    got = trace_open(path, &shown, &trace);
    while (got >= 0 && (got = trace_read(trace, events, AT_ONCE)) > 0)
        for (long i = 0; i < got; i++) {
            int error = take(context, trace_about(trace), &events[i]);

            if (error != 0) {
                got = error;
                break;
            }
        }
    progress_end(&progress);
    if (got < 0 && got != -ECANCELED) /* the reader of the export is gone */
        tracefile_say_error(path, (int)got);
    else if (got == 0)
        tracefile_say_oddities(path, trace_about(trace));
    trace_close(trace);
    return got == 0;
}

/* ---- a curve ---- */

struct drawing {
    struct follow follow;
    struct ledger ledger;
    struct curve *curve;
    struct dat *about;
    bool time_based;
    bool depths;        /* stacks are known */
};

static int
draw_event(void *context, const struct trace_info *info, const struct trace_event *event)
{
    struct drawing *drawing = context;
    struct dat *about = drawing->about;
    int changed;

    about->nanoseconds = info->has_time;
    drawing->depths = info->has_depth;
    switch (follow_take(&drawing->follow, info, event)) {
    case FOLLOW_OTHER:
        return 0;
    case FOLLOW_NEW:
        ledger_fini(&drawing->ledger);
        if (!ledger_init(&drawing->ledger, info->process[event->process].baseline_bytes,
                         info->sizes_of_freed, false))
            return -ENOMEM;
        break;
    case FOLLOW_ON:
        break;
    }
    raise_to(&about->end, event->time_ns);
    changed = ledger_take(&drawing->ledger, event);
    if (changed <= 0)
        return changed;
    uint64_t heap = drawing->ledger.now.live_bytes;
    curve_add(drawing->curve, drawing->time_based ? event->time_ns : about->count, heap,
              event->depth);
    about->count++;
    raise_to(&about->heap_peak, heap);
    raise_to(&about->stack_peak, event->depth);
    raise_to(&about->sum_peak, heap + event->depth);
    return 0;
}

static bool
say_no_process(const struct follow *follow, const char *path)
{
    if (follow->begun || follow->pid == 0)
        return true;
    say(_("%s has no process %" PRIu64), path, follow->pid);
    return false;
}

bool
tracefile_curve(const char *path, uint64_t pid, bool time_based, struct curve *curve,
                struct dat *about)
{
    struct drawing drawing = {.follow = {.pid = pid}, .curve = curve, .about = about,
                              .time_based = time_based};
    bool done;

    memset(about, 0, sizeof *about);
    done = read_all(path, draw_event, &drawing);
    if (!drawing.depths)
        about->stack_peak = HISTORY_UNKNOWN;
    ledger_fini(&drawing.ledger);
    return done && say_no_process(&drawing.follow, path);
}

/* ---- exports ---- */

/* Of one process. */
struct chosen {
    struct follow follow;
    struct export *export;
};

static int
export_event(void *context, const struct trace_info *info, const struct trace_event *event)
{
    struct chosen *chosen = context;
    enum followed followed = follow_take(&chosen->follow, info, event);

    return followed == FOLLOW_OTHER && !export_of_all(chosen->export)
               ? 0
               : export_take(chosen->export, info, event);
}

int
tracefile_export(const char *path, enum export_format format, uint64_t pid,
                 const char *output)
{
    struct chosen chosen = {.follow = {.pid = pid}};
    int error = export_new(format, output, &chosen.export);
    bool done;

    if (error != 0) {
        output_lost(output, error);
        return 1;
    }
    done = read_all(path, export_event, &chosen);
    if (done)
        done = export_of_all(chosen.export) || say_no_process(&chosen.follow, path);
    error = export_end(chosen.export, done);
    if (error != 0)
        output_lost(output, error);
    return done && error == 0 ? 0 : 1;
}
