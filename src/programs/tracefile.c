/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads recorded calls once, in bounded memory, and reports what is odd about their
   file. */
#include "config.h"

#include "programs/tracefile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "programs/output.h"
#include "programs/say.h"
#include "programs/status.h"
#include "base/i18n.h"
#include "base/figures.h"
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

void
tracefile_say_error(const char *path, int error, enum file_kind kind, enum file_use use)
{
    const char *why = error == -EPROTONOSUPPORT ? _("it was written by a later version "
                                                    "of memtop")
                      : error == -ENODATA       ? _("it is empty")
                                                : strerror(-error);

    if (error == -ENOEXEC)
        use_refuse(path, kind, use);
    else
        say(_("cannot read %s: %s"), use_name(path), why);
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
        say(ngettext("%s: %" PRIu64 " byte is damaged; what it was part of is left out",
                     "%s: %" PRIu64 " bytes are damaged; what they were part of is left "
                     "out",
                     plural(info->damaged)),
            path, info->damaged);
    if (info->refused > 0)
        say(ngettext("%s: %" PRIu64 " line is not a call: line %" PRIu64,
                     "%s: %" PRIu64 " lines are not calls; the first is line %" PRIu64,
                     plural(info->refused)),
            path, info->refused, info->refused_first);
}

/* ---- reading ---- */

/* A trace being read. */
struct trace_reading {
    const char *path;
    struct progress progress;
    struct trace_progress shown;
    struct trace *trace;
};

/* Returns 0, or reports an error and returns the exit status. */
static int
begin(struct trace_reading *reading, const char *path, enum file_use use)
{
    enum file_kind kind = KIND_BINARY;
    int error;

    *reading = (struct trace_reading){.path = path};
    reading->shown = (struct trace_progress){progress_tell, &reading->progress};
    progress_begin(&reading->progress, path);
    error = trace_open_any(path, &reading->shown, &kind, &reading->trace);
    if (error == 0)
        return 0;
    progress_end(&reading->progress);
    tracefile_say_error(path, error, kind, use);
    return status_of(STATUS_INPUT);
}

/* Returns the exit status after reading a file to its end, or up to an error. */
static int
status_after(const struct trace_reading *reading, int error)
{
    const struct trace_info *about = trace_about(reading->trace);

    if (error == 0) {
        tracefile_say_oddities(reading->path, about);
        return about->refused > 0 ? status_of(STATUS_REFUSED) : 0;
    }
    if (error != -ECANCELED) /* output failed */
        tracefile_say_error(reading->path, error, about->kind, USE_CALLS);
    return status_of(error == -ECANCELED ? STATUS_OUTPUT : STATUS_INPUT);
}

/* Passes all events to take(), which returns 0 or -errno, and closes the trace.  Returns
   the exit status, which is not 0 if lines were refused. *whole: everything was read. */
static int
read_all(struct trace_reading *reading,
         int (*take)(void *context, const struct trace_info *info,
                     const struct trace_event *event),
         void *context, bool *whole)
{
    static struct trace_event events[AT_ONCE];
    long got;
    int status;

    while ((got = trace_read(reading->trace, events, AT_ONCE)) > 0)
        for (long i = 0; i < got; i++) {
            int error = take(context, trace_about(reading->trace), &events[i]);

            if (error != 0) {
                got = error;
                break;
            }
        }
    progress_end(&reading->progress);
    *whole = got == 0;
    status = status_after(reading, (int)got);
    trace_close(reading->trace);
    return status;
}

/* ---- drawing ---- */

struct drawing {
    struct follow follow;
    struct ledger ledger;
    struct timeline *timeline;
    struct dat *about;
    bool time_based;
    bool depths; /* depths of stacks are known */
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
    timeline_add(drawing->timeline, drawing->time_based ? event->time_ns : about->count,
                 heap, event->depth, true);
    about->count++;
    raise_to(&about->heap_peak, heap);
    raise_to(&about->stack_peak, event->depth);
    raise_to(&about->sum_peak, heap + event->depth);
    return 0;
}

static bool
has_process(const struct follow *follow, const char *path)
{
    if (follow->begun || follow->pid == 0)
        return true;
    say(_("%s has no process %" PRIu64), path, follow->pid);
    return false;
}

bool
tracefile_timeline(const char *path, uint64_t pid, bool time_based,
                   struct timeline *timeline, struct dat *about, int *status)
{
    struct drawing drawing = {.follow = {.pid = pid},
                              .timeline = timeline,
                              .about = about,
                              .time_based = time_based};
    struct trace_reading reading;
    bool whole;

    memset(about, 0, sizeof *about);
    *status = begin(&reading, path, USE_DRAW);
    if (*status != 0)
        return false;
    *status = read_all(&reading, draw_event, &drawing, &whole);
    if (!drawing.depths)
        about->stack_peak = HISTORY_UNKNOWN;
    ledger_fini(&drawing.ledger);
    if (whole && !has_process(&drawing.follow, path)) {
        *status = status_of(STATUS_FAILED);
        return false;
    }
    return whole;
}

/* ---- exports ---- */

/* Context of an export; the process followed, for formats with one process. */
struct chosen {
    struct follow follow;
    struct export *export;
};

static int
export_event(void *context, const struct trace_info *info,
             const struct trace_event *event)
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
    struct trace_reading reading;
    int status = begin(&reading, path, USE_CALLS), error;
    bool whole;

    if (status != 0)
        return status;
    error = export_new(format, output, &chosen.export);
    if (error != 0) {
        progress_end(&reading.progress);
        trace_close(reading.trace);
        output_lost(output, error);
        return status_of(STATUS_OUTPUT);
    }
    status = read_all(&reading, export_event, &chosen, &whole);
    if (whole && !export_of_all(chosen.export) && !has_process(&chosen.follow, path)) {
        whole = false;
        status = status_of(STATUS_FAILED);
    }
    error = export_end(chosen.export, whole);
    if (error == 0)
        return status;
    output_lost(output, error);
    return status_of(STATUS_OUTPUT);
}
