/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exports recorded calls in four formats.  What a format cannot express is left out:
   times, threads, the program's own pools. */
#include "config.h"

#include "programs/tracefile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "programs/output.h"
#include "base/textwidth.h"
#include "segment/logline.h"
#include "files/as-log.h"
#include "files/dat.h"
#include "files/trace.h"
#include "files/ledger.h"

struct export {
    enum export_format format;
    struct output output;
    uint64_t events, calls;
    uint64_t ended_ns;
    /* EXPORT_DAT */
    struct dat_writer *dat;
    uint64_t epoch_ns;
    struct follow follow;  /* the image that the ledger belongs to */
    struct ledger ledger;
    /* EXPORT_LOGALLOC */
    struct as_log *log;
};

int
export_new(enum export_format format, const char *output, struct export **out)
{
    struct export *export = calloc(1, sizeof *export);
    int error = -ENOMEM;

    if (export == NULL)
        return error;
    export->format = format;
    if (format == EXPORT_LOGALLOC && (export->log = as_log_new()) == NULL) {
        free(export);
        return error;
    }
    if (format == EXPORT_DAT)
        error = dat_create(output != NULL ? output : "/dev/stdout", output == NULL, 0,
                           DAT_BUFFER_MAX, &export->dat);
    else
        error = output_open(&export->output, output != NULL ? output : "-");
    if (error == 0) {
        *out = export;
    } else {
        as_log_free(export->log);
        free(export);
    }
    return error;
}

bool
export_of_all(const struct export *export)
{
    return export->format == EXPORT_LOGALLOC || export->format == EXPORT_JSON;
}

static bool
write_bytes(struct export *export, const char *bytes, size_t length)
{
    return fwrite_unlocked(bytes, 1, length, export->output.file) == length;
}

/* ---- an allocation log ---- */

static int
take_log(struct export *export, const struct trace_info *info,
         const struct trace_event *event)
{
    struct logalloc_line line;
    char text[LOGALLOC_LINE_MAX];
    int made = as_log_line(export->log, info, event, &line);

    if (made <= 0)
        return made;
    return write_bytes(export, text, logalloc_format(text, LOGALLOC_RAW, &line))
               ? 0
               : -ECANCELED;
}

/* ---- memusage's data file ---- */

static int
take_dat(struct export *export, const struct trace_info *info,
         const struct trace_event *event)
{
    struct ledger *ledger = &export->ledger;
    int taken;

    if (follow_take(&export->follow, info, event) == FOLLOW_NEW) {
        ledger_fini(ledger);
        if (!ledger_init(ledger, info->process[event->process].baseline_bytes,
                         info->sizes_of_freed, false))
            return -ENOMEM;
    }
    taken = ledger_take(ledger, event);
    if (export->epoch_ns == 0)
        export->epoch_ns = (uint64_t)info->began_epoch_ns;
    export->ended_ns = event->time_ns;
    if (taken <= 0)
        return taken;
    const struct dat_record record = {
        .heap = ledger->now.live_bytes,
        .stack = event->depth,
        .time = export->epoch_ns + event->time_ns,
    };
    return dat_write(export->dat, &record) == 0 ? 0 : -ECANCELED;
}

/* ---- a table of events ---- */

static bool
write_row(struct export *export, uint64_t time_ns, const char *op, uint64_t address,
          uint64_t size)
{
    return fprintf(export->output.file,
                   "%" PRIu64 ".%06" PRIu64 ",%s,0x%" PRIx64 ",%" PRIu64 "\n",
                   time_ns / 1000000, time_ns % 1000000, op, address, size)
           > 0;
}

static int
take_csv(struct export *export, const struct trace_info *info,
         const struct trace_event *event)
{
    bool fine = true;

    (void)info;
    if (export->events++ == 0)
        fine = fputs("t_ms,op,addr,size\n", export->output.file) >= 0;
    if (event->kind == FN_FREE || event->kind == EVENT_REALLOC_FROM)
        fine = fine
               && write_row(export, event->time_ns, "free", event->address, event->size);
    else if (event->kind < FN_COUNT || event->kind == EVENT_REALLOC_TO
             || event->kind == EVENT_REALLOC_KEPT)
        fine = fine
               && write_row(export, event->time_ns, "alloc", event->address, event->size);
    return fine ? 0 : -ECANCELED;
}

/* ---- JSON ---- */

static const char *
call_name(unsigned kind)
{
    static const char *const names[FN_COUNT] = {
#define X(id, name) name,
        SEGMENT_FUNCTIONS(X)
#undef X
    };

    switch (kind) {
    case EVENT_REALLOC_FROM:
        return "realloc-from";
    case EVENT_REALLOC_TO:
        return "realloc-to";
    case EVENT_REALLOC_FREED:
        return "realloc-freed";
    case EVENT_REALLOC_KEPT:
        return "realloc-kept";
    case EVENT_CUSTOM_MADE:
        return "pool-made";
    case EVENT_CUSTOM_FREED:
        return "pool-freed";
    default:
        return kind < FN_COUNT ? names[kind] : NULL;
    }
}

/* Writes bytes as a JSON string: valid UTF-8, quoted. */
static void
put_string(FILE *file, const char *bytes, size_t length)
{
    char clean[2 * SEGMENT_ARGS_LEN], utf8[4 * SEGMENT_ARGS_LEN];

    text_utf8(utf8, sizeof utf8, text_sanitise(clean, sizeof clean, bytes, length));
    putc('"', file);
    for (const char *at = utf8; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            putc('\\', file);
        putc(*at, file);
    }
    putc('"', file);
}

static void
put_process(FILE *file, const struct trace_event *event,
            const struct trace_process *process)
{
    fprintf(file,
            "{\"type\":\"process\",\"t_ns\":%" PRIu64 ",\"process\":%" PRIu32
            ",\"pid\":%" PRIu64 ",\"parent\":%" PRIu64 ",\"generation\":%" PRIu32
            ",\"baseline\":%" PRIu64,
            event->time_ns, event->process, process->pid, process->parent,
            process->generation, process->baseline_bytes);
    if (process->program != NULL) {
        fputs(",\"program\":", file);
        put_string(file, process->program, strlen(process->program));
    }
    if (process->args != NULL) {
        const char *separator = ",\"args\":[";

        for (size_t at = 0; at < process->args_size;) {
            size_t length = strlen(process->args + at);

            fputs(separator, file);
            put_string(file, process->args + at, length);
            separator = ",";
            at += length + 1;
        }
        putc(']', file);
    }
    fputs("}\n", file);
}

static void
put_call(FILE *file, const struct trace_event *event, const struct trace_process *process,
         const char *name)
{
    fprintf(file,
            "{\"type\":\"call\",\"t_ns\":%" PRIu64 ",\"process\":%" PRIu32
            ",\"tid\":%" PRIu64 ",\"call\":\"%s\",\"address\":\"0x%" PRIx64
            "\",\"size\":%" PRIu64,
            event->time_ns, event->process,
            event->thread < process->threads ? process->thread[event->thread] : 0, name,
            event->address, event->size);
    if (event->alignment != 0)
        fprintf(file, ",\"alignment\":%" PRIu64, UINT64_C(1) << (event->alignment % 64));
    if (event->depth != 0)
        fprintf(file, ",\"stack\":%" PRIu32, event->depth);
    fputs("}\n", file);
}

static int
take_json(struct export *export, const struct trace_info *info,
          const struct trace_event *event)
{
    const struct trace_process *process = &info->process[event->process];
    const char *name = call_name(event->kind);
    FILE *file = export->output.file;

    if (export->events++ == 0)
        fprintf(file, "{\"v\":1,\"type\":\"trace\",\"began_ns\":%" PRId64 "}\n",
                info->began_epoch_ns);
    export->ended_ns = event->time_ns;
    if (event->kind == TRACE_BEGAN)
        put_process(file, event, process);
    else if (event->kind == TRACE_ENDED || event->kind == TRACE_LOST)
        fprintf(file,
                "{\"type\":\"%s\",\"t_ns\":%" PRIu64 ",\"process\":%" PRIu32
                ",\"calls\":%" PRIu64 "}\n",
                event->kind == TRACE_ENDED ? "ended" : "lost", event->time_ns,
                event->process, event->size);
    else if (name != NULL)
        put_call(file, event, process, name);
    export->calls += name != NULL;
    return ferror(file) == 0 ? 0 : -ECANCELED;
}

static void
end_json(const struct export *export, bool whole)
{
    fprintf(export->output.file,
            "{\"type\":\"end\",\"t_ns\":%" PRIu64 ",\"calls\":%" PRIu64
            ",\"complete\":%s}\n",
            export->ended_ns, export->calls, whole ? "true" : "false");
}

/* ---- all formats ---- */

int
export_take(struct export *export, const struct trace_info *info,
            const struct trace_event *event)
{
    switch (export->format) {
    case EXPORT_LOGALLOC:
        return take_log(export, info, event);
    case EXPORT_DAT:
        return take_dat(export, info, event);
    case EXPORT_CSV:
        return take_csv(export, info, event);
    case EXPORT_JSON:
        return take_json(export, info, event);
    }
    return 0;
}

int
export_end(struct export *export, bool whole)
{
    FILE *file = export->output.file;
    int error = 0;

    if (export->format == EXPORT_DAT) {
        error = dat_close(export->dat, export->epoch_ns + export->ended_ns);
    } else {
        errno = 0;
        if (export->format == EXPORT_JSON)
            end_json(export, whole);
        if (fflush(file) != 0 || ferror(file))
            error = errno != 0 ? -errno : -EIO;
        if (file != stdout)
            fclose(file);
    }
    ledger_fini(&export->ledger);
    as_log_free(export->log);
    free(export);
    return error;
}
