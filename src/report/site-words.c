/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words and figures of allocation sites.  An estimate is always shown with its error or a
   way to get it, and with what it lacks. */
#include "config.h"

#include "report/site-words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "base/path.h"

const char *
site_mode_word(enum profile_mode mode)
{
    static const char *const words[PROFILE_MODES] = {
        [PROFILE_LIVE] = N_("alive now"),
        [PROFILE_PEAK] = N_("alive at the peak"),
        [PROFILE_MADE] = N_("allocated"),
        [PROFILE_SINCE] = N_("since the mark"),
    };

    return _(words[mode]);
}

const char *
site_form_word(enum profile_form form)
{
    static const char *const words[PROFILE_FORMS] = {
        [PROFILE_STACKS] = N_("call stacks"),
        [PROFILE_CALLERS] = N_("functions and their callers"),
        [PROFILE_CALLEES] = N_("functions and what they call"),
    };

    return _(words[form]);
}

/* Names the unwinder that walked the call stacks. */
static const char *
unwinder_words(enum site_unwinder unwinder)
{
    switch (unwinder) {
    case UNWIND_LIBUNWIND:
        return _("stacks by libunwind");
    case UNWIND_GLIBC:
        return _("stacks by backtrace()");
    case UNWIND_TABLES:
        return _("stacks by unwind tables");
    case UNWIND_FRAMES:
        return _("stacks by frame pointers");
    default:
        return _("no call stacks");
    }
}

const char *
site_lack_text(enum sites_state state)
{
    switch (state) {
    case SITES_WAITING:
    case SITES_READY:
        return _("There is no sample yet: the program has allocated too little.");
    case SITES_NO_SPACE:
        return _("Not sampled: the program had no memory or no addresses for samples "
                 "(ulimit -v).");
    case SITES_SHUT_IN:
        return _("Not sampled: the program had shut itself in (seccomp) before its first "
                 "sample.");
    case SITES_OLD_KERNEL:
        return _("Not sampled: the kernel is older than Linux 5.14; --sites samples all "
                 "the same.");
    case SITES_FILE_LIMIT:
        return _("Not sampled: the limit on the size of files is too low (ulimit -f).");
    case SITES_CUT_OFF:
        return _("Not sampled: a signal handler forked this process while a sample was "
                 "taken.");
    default:
        return _(
            "Not sampled: --sites=off was given, or calls are recorded or counted in "
            "a way that makes samples dear; --sites samples all the same.");
    }
}

const char *
site_answer_text(const struct profile_table *table, enum sites_state state)
{
    switch (table->answer) {
    case PROFILE_ANSWERED:
        if (table->few > 0)
            return _("All rows have fewer samples than the filter asks for.");
        return _("There are no samples to show here.");
    case PROFILE_NOTHING_KNOWN:
        return site_lack_text(state);
    case PROFILE_NOT_RECORDED:
        return _("Allocation sites were not recorded at this moment.");
    case PROFILE_NOT_MARKED:
        return _("No mark is set, or sites were not recorded there; p sets one.");
    case PROFILE_LIFE_UNKNOWN:
        return _("Lifetimes are recorded neither for the peak nor for the past.");
    default:
        return _("Not enough memory");
    }
}

char *
site_error_text(char *text, size_t size, const struct profile_figures *figures)
{
    double error = profile_error(figures) * 100;

    if (error < 0)
        snprintf(text, size, "-");
    else if (error >= 999.5)
        snprintf(text, size, ">999%%");
    else
        snprintf(text, size, error > 0 && error < 9.95 ? "%.1f%%" : "%.0f%%", error);
    return text;
}

char *
site_bytes_text(char *text, size_t size, double bytes, enum unit unit)
{
    size_t sign = bytes <= -0.5 && size > 1;

    if (sign)
        text[0] = '-';
    units_bytes(text + sign, size - sign, (uint64_t)(fabs(bytes) + 0.5), unit);
    return text;
}

char *
site_count_text(char *text, size_t size, double count)
{
    size_t sign = count <= -0.5 && size > 1;

    if (sign)
        text[0] = '-';
    units_count_compact(text + sign, size - sign, (uint64_t)(fabs(count) + 0.5));
    return text;
}

/* " (file.c:12)", or "" if that is not known. */
static const char *
source_text(char *text, size_t size, const struct profile *profile,
            const struct profile_table *table, size_t row)
{
    struct profile_place place;

    text[0] = '\0';
    if (!profile_table_place(table, profile, row, &place) || place.file == NULL)
        return text;
    if (place.line > 0)
        snprintf(text, size, " (%s:%u)", path_name(place.file), place.line);
    else
        snprintf(text, size, " (%s)", path_name(place.file));
    return text;
}

char *
site_path_text(char *text, size_t size, const struct profile *profile,
               const struct profile_table *table, size_t row, bool sources)
{
    size_t length, used = 0;
    const uint32_t *path = profile_table_path(table, profile, row, &length);
    char source[512];

    text[0] = '\0';
    for (size_t i = 0; i < length && used + 4 < size; i++) {
        int count = snprintf(
            text + used, size - used, "%s%s%s", i > 0 ? " < " : "",
            profile_function(profile, path[i]),
            i == 0 && sources ? source_text(source, sizeof source, profile, table, row)
                              : "");

        used += count > 0 ? (size_t)count : 0;
    }
    return text;
}

const char *
site_lifetime_word(unsigned class)
{
    static const char *const words[SITE_LIFETIMES] = {
        /* TRANSLATORS: lifetimes of blocks; narrow columns. */
        N_("< 1 ms"),  N_("1-10 ms"), N_("10-100 ms"), N_("0.1-1 s"),
        N_("1-10 s"),  N_("10-60 s"), N_("1-10 min"),  N_("> 10 min"),
    };

    return class < SITE_LIFETIMES ? _(words[class]) : "";
}

/* Describes sampled blocks that are missing somewhere. */
static bool
lost_note(const struct sites_lost *lost, unsigned index, enum unit unit, char *text,
          size_t size)
{
    char count[UNITS_MAX], bytes[UNITS_MAX];

    switch (index) {
    case 0:
        snprintf(text, size, _("samples dropped because the table was full: %s, %s are "
                               "missing"),
                 units_count(count, sizeof count, lost->blocks),
                 site_bytes_text(bytes, sizeof bytes, lost->bytes, unit));
        return lost->blocks > 0;
    case 1:
        snprintf(text, size, _("samples without a stack because the table was full: %s"),
                 units_count(count, sizeof count, lost->stacks + lost->sites));
        return lost->stacks + lost->sites > 0;
    default:
        snprintf(text, size, _("samples that could not be unwound: %s"),
                 units_count(count, sizeof count, lost->unknown));
        return lost->unknown > 0;
    }
}

bool
site_note(const struct sites_reading *reading, unsigned index, enum unit unit, char *text,
          size_t size, bool *lack)
{
    char every[UNITS_MAX], count[UNITS_MAX];

    *lack = true;
    for (unsigned i = 0; i < 3; i++)
        if (lost_note(&reading->lost, i, unit, text, size) && index-- == 0)
            return true;
    *lack = false;
    if (index > 2 || reading->rate <= 0)
        return false;
    if (index == 0)
        snprintf(
            text, size,
            reading->adaptive
                /* TRANSLATORS: as the next, but the program changes it now and then */
                ? _("one sample per %s now")
                /* TRANSLATORS: one sample per so many bytes, on average */
                : _("one sample per %s"),
            /* Small whatever the unit of the figures is: 16 KiB are 0 MiB. */
            units_axis(every, sizeof every, (uint64_t)(8 / reading->rate),
                       unit == UNIT_SI ? UNIT_SI : UNIT_AUTO));
    else if (index == 1)
        /* TRANSLATORS: the second is what follows: "stacks by libunwind". */
        snprintf(text, size,
                 ngettext("%s block sampled, %s", "%s blocks sampled, %s",
                          plural(reading->sampled)),
                 units_count(count, sizeof count, reading->sampled),
                 unwinder_words(reading->unwinder));
    else
        snprintf(text, size, "%s", _("error: one standard error"));
    return true;
}
