/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the reports by block size and the log file that the command line asks for. */
#include "config.h"

#include "programs/blockreports.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "programs/output.h"
#include "programs/say.h"
#include "base/i18n.h"
#include "report/blockreport.h"

#define MS_NS 1000000u

/* Is it like "C:\Temp", as in the parameter files of the article? */
static bool
is_of_windows(const char *directory)
{
    return isalpha((unsigned char)directory[0]) && directory[1] == ':'
           && (directory[2] == '\\' || directory[2] == '\0');
}

const char *
blockreports_directory(const struct report_options *options,
                       const struct blockparams *params)
{
    if (options->log_directory != NULL)
        return options->log_directory;
    return is_of_windows(params->directory) ? "." : params->directory;
}

struct blocksizes *
blockreports_new(const struct report_options *options, const struct blockparams *params,
                 bool has_time)
{
    struct counts counts;

    blockreport_counts(params, options->compat, &counts);
    return blocksizes_new(&counts, !has_time         ? BLOCKSIZES_NO_CLOCK
                                   : options->compat ? MS_NS
                                                     : 1);
}

static int
compare_places(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

static bool
is_named(const struct report_options *options, uint64_t size)
{
    for (size_t i = 0; i < options->size_count; i++)
        if (options->sizes[i] == size)
            return true;
    return false;
}

uint32_t *
blockreports_choose(const struct report_options *options,
                    const struct blocksizes *blocks, unsigned top, size_t *count)
{
    size_t all = blocksizes_count(blocks);
    uint32_t *order = NULL;

    *count = 0;
    if (options->size_count > 0 || top > 0)
        order = blockreport_order(blocks, BLOCK_BY_COUNT, true);
    if (order == NULL)
        return NULL;
    for (size_t i = 0; i < all; i++)
        if (options->size_count > 0
                ? is_named(options, blocksizes_at(blocks, order[i])->size)
                : *count < top)
            order[(*count)++] = order[i];
    qsort(order, *count, sizeof *order, compare_places);
    return order;
}

/* ---- the log file ---- */

struct log_result {
    char path[PATH_MAX];  /* as reports show it */
    int error;
};

static void
write_log(const struct blockreports *reports, struct log_result *result)
{
    const struct report_options *options = reports->options;
    const struct blocklog_files files = {
        .params = reports->params,
        .directory = blockreports_directory(options, reports->params),
        .name = options->log_name != NULL ? options->log_name : reports->log_name,
    };
    size_t count;
    uint32_t *chosen =
        blockreports_choose(options, reports->blocks, options->top, &count);

    if (chosen != NULL)
        blocklog_choose(reports->log, chosen, count);
    free(chosen);
    result->error = blocklog_write(reports->log, reports->blocks, &files);
    blocklog_name(&files, result->path, sizeof result->path);
    if (result->error != 0)
        output_lost(result->path, result->error);
    if (options->compat && is_of_windows(reports->params->directory)) {
        snprintf(result->path, sizeof result->path, "%.*s\\%s%s%s",
                 PATH_MAX - 2 * BLOCKPARAMS_TEXT_MAX - 8, reports->params->directory,
                 files.name, reports->params->extension[0] != '\0' ? "." : "",
                 reports->params->extension);
    }
}

/* ---- the reports ---- */

static bool
write_report(const struct blockreports *reports, const struct blockreport *report)
{
    switch (reports->options->format) {
    case REPORT_JSON:
        return blockreport_json(reports->out, report);
    case REPORT_CSV:
        return blockreport_csv(reports->out, report);
    default:
        return reports->options->compat ? blockreport_compat(reports->out, report)
                                        : blockreport_text(reports->out, report);
    }
}

enum reported
blockreports_write(const struct blockreports *reports)
{
    const struct report_options *options = reports->options;
    struct log_result log = {"", 0};
    const bool logged = reports->log != NULL && reports->params->reports & BLOCK_LOG;
    const bool counted = blocksizes_total(reports->blocks).allocations > 0;

    if (logged && counted)
        write_log(reports, &log);
    const struct blockreport report = {
        .blocks = reports->blocks,
        .params = reports->params,
        .caption = options->caption != NULL ? options->caption : reports->caption,
        .log_name = logged && counted ? log.path : NULL,
        .log_error = log.error != 0 ? strerror(-log.error) : NULL,
        .pool = reports->pool,
        .runs = reports->runs,
    };
    errno = 0;
    if (!write_report(reports, &report)) {
        /* The caller reports failed writes. */
        if (!ferror(reports->out))
            output_lost_as(_("cannot write the report: %s"), strerror(ENOMEM));
        return NOT_REPORTED;
    }
    return log.error == 0 ? REPORTED : REPORTED_ALONE;
}

/* Separates the two reports.  JSON lines need no separation, because each names its
   subject; in CSV each table has its own headings. */
void
blockreports_part(const struct report_options *options, FILE *out)
{
    if (options->format == REPORT_TEXT)
        fprintf(out, "\n%s\n", _("Blocks of the program's own pool:"));
    else if (options->format == REPORT_CSV)
        fputc('\n', out);
}

bool
blockreports_params(const struct report_options *options,
                    const struct blockparams *params, bool *created)
{
    struct output output;
    int error;

    *created = false;
    if (options->params_out == NULL)
        return true;
    error = output_open(&output, options->params_out);
    if (error != 0) {
        output_lost(options->params_out, error);
        return false;
    }
    *created = output.created;
    output_check(&output, blockparams_write(output.file, params));
    output_close(&output);
    return !output.failed;
}
