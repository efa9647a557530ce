/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Formats sizes, counts, rates and times.  Pure except for the locale.  One difficulty is
 * a value that rounds up to the next unit: 1023.96 KiB must not become "1024 KiB" but
 * "1.000 MiB", and 9.9996 not "10.000".  So the digits are chosen after rounding (see
 * scale()).
 */
#include "config.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/i18n.h"

#define UNIT_STEPS 7

static const char *const names_iec[UNIT_STEPS] = {
    /* TRANSLATORS: units of memory.  Their first letters are used alone where
       space is short. */
    N_("B"), N_("KiB"), N_("MiB"), N_("GiB"), N_("TiB"), N_("PiB"), N_("EiB"),
};
static const char *const names_si[UNIT_STEPS] = {
    N_("B"), N_("kB"), N_("MB"), N_("GB"), N_("TB"), N_("PB"), N_("EB"),
};

static const double powers[] = {1, 10, 100, 1000};

/* A number value * base^step, to be written with that many decimals. */
struct scaled {
    double value;
    unsigned step;
    int decimals;
};

enum unit
units_next(enum unit unit)
{
    unsigned si = unit & UNIT_SI;

    return (enum unit)(si | ((unit + 1u) & (UNIT_SI - 1u)));
}

static double
unit_base(enum unit unit)
{
    return unit & UNIT_SI ? 1000 : 1024;
}

static const char *
unit_name(enum unit unit, unsigned step)
{
    return _((unit & UNIT_SI ? names_si : names_iec)[step]);
}

/* How many decimals give value that many significant digits. */
static int
decimals_for(double value, int digits)
{
    double limit = 10;

    for (int decimals = digits - 1; decimals > 0; decimals--, limit *= 10)
        if (value < limit - 0.5 / powers[decimals])
            return decimals;
    return 0;
}

/* Scales value below base, with that many significant digits. */
static struct scaled
scale(double value, double base, int digits)
{
    struct scaled result = {value, 0, 0};

    while (result.value >= base - 0.5 && result.step < UNIT_STEPS - 1) {
        result.value /= base;
        result.step++;
    }
    if (result.step > 0)
        result.decimals = decimals_for(result.value, digits);
    return result;
}

static struct scaled
scale_fixed(double value, double base, unsigned step)
{
    struct scaled result = {value, step, step > 0 ? 1 : 0};

    for (unsigned i = 0; i < step; i++)
        result.value /= base;
    return result;
}

static struct scaled
scale_bytes(double bytes, enum unit unit, int digits)
{
    switch (unit & ~(unsigned)UNIT_SI) {
    case UNIT_KIB:
        return scale_fixed(bytes, unit_base(unit), 1);
    case UNIT_MIB:
        return scale_fixed(bytes, unit_base(unit), 2);
    case UNIT_BYTES:
        return scale_fixed(bytes, unit_base(unit), 0);
    default:
        return scale(bytes, unit_base(unit), digits);
    }
}

/* Drops trailing decimals that are zero, if the value is accurate without them. */
static void
trim(struct scaled *scaled)
{
    while (scaled->decimals > 0) {
        double shifted = scaled->value * powers[scaled->decimals - 1];
        double off = shifted - (double)(uint64_t)(shifted + 0.5);

        if (off > 0.05 || off < -0.05)
            return;
        scaled->decimals--;
    }
}

static char *
copy(char *buf, size_t size, const char *text)
{
    if (size > 0)
        snprintf(buf, size, "%s", text);
    return buf;
}

char *
units_bytes(char *buf, size_t size, uint64_t bytes, enum unit unit)
{
    struct scaled scaled;

    if (bytes == UNITS_UNKNOWN)
        return copy(buf, size, "-");
    scaled = scale_bytes((double)bytes, unit, 4);
    if (scaled.step == 0) /* a double would lose the last digits */
        snprintf(buf, size, "%'" PRIu64 " %s", bytes, unit_name(unit, 0));
    else
        snprintf(buf, size, "%'.*f %s", scaled.decimals, scaled.value,
                 unit_name(unit, scaled.step));
    return buf;
}

char *
units_axis(char *buf, size_t size, uint64_t bytes, enum unit unit)
{
    struct scaled scaled;

    if (bytes == UNITS_UNKNOWN)
        return copy(buf, size, "-");
    scaled = scale_bytes((double)bytes, unit, 3);
    trim(&scaled);
    snprintf(buf, size, "%'.*f %s", scaled.decimals, scaled.value,
             unit_name(unit, scaled.step));
    return buf;
}

char *
units_tick(char *buf, size_t size, double value, unsigned step, int decimals,
           enum unit unit)
{
    if (value == 0)
        return copy(buf, size, "0");
    snprintf(buf, size, "%'.*f %s", decimals, value,
             unit_name(unit, step < UNIT_STEPS ? step : UNIT_STEPS - 1));
    return buf;
}

/* The number of bytes in the first character of name. */
static int
first_letter(const char *name)
{
    mbstate_t state = {0};
    size_t length = mbrlen(name, strlen(name), &state);

    return length >= 1 && length <= strlen(name) ? (int)length : 1;
}

char *
units_axis_compact(char *buf, size_t size, uint64_t bytes, enum unit unit)
{
    struct scaled scaled;
    const char *name;

    if (bytes == UNITS_UNKNOWN)
        return copy(buf, size, "-");
    scaled = scale_bytes((double)bytes, unit, 3);
    trim(&scaled);
    name = unit_name(unit, scaled.step);
    snprintf(buf, size, "%.*f%.*s", scaled.decimals, scaled.value, first_letter(name),
             name);
    return buf;
}

char *
units_rate(char *buf, size_t size, double bytes_per_second, enum unit unit)
{
    struct scaled scaled;
    char number[UNITS_MAX];

    if (!(bytes_per_second >= 0 && bytes_per_second <= 1e19))
        return copy(buf, size, "-");
    scaled = scale_bytes(bytes_per_second, unit, 3);
    snprintf(number, sizeof number, "%'.*f %s", scaled.decimals, scaled.value,
             unit_name(unit, scaled.step));
    /* TRANSLATORS: a rate, as in "46.1 MiB/s". */
    snprintf(buf, size, _("%s/s"), number);
    return buf;
}

char *
units_count(char *buf, size_t size, uint64_t count)
{
    if (count == UNITS_UNKNOWN)
        return copy(buf, size, "-");
    snprintf(buf, size, "%'" PRIu64, count);
    return buf;
}

char *
units_count_compact(char *buf, size_t size, uint64_t count)
{
    static const char suffixes[UNIT_STEPS][2] = {"", "k", "M", "G", "T", "P", "E"};
    struct scaled scaled;

    if (count == UNITS_UNKNOWN)
        return copy(buf, size, "-");
    scaled = scale((double)count, 1000, 3);
    snprintf(buf, size, "%.*f%s", scaled.decimals, scaled.value, suffixes[scaled.step]);
    return buf;
}

char *
units_duration(char *buf, size_t size, int64_t ns)
{
    int64_t seconds = ns > 0 ? ns / 1000000000 : 0;
    int64_t days = seconds / 86400;
    int hours = (int)(seconds / 3600 % 24);
    int minutes = (int)(seconds / 60 % 60);

    if (days > 0)
        /* TRANSLATORS: days, hours and minutes of a run: "1d 02:03". */
        snprintf(buf, size, _("%lldd %02d:%02d"), (long long)days, hours, minutes);
    else
        snprintf(buf, size, "%02d:%02d:%02d", hours, minutes, (int)(seconds % 60));
    return buf;
}

/* For times below ten seconds that whole seconds are too coarse for. */
static char *
fine_offset(char *buf, size_t size, const char *sign, unsigned milliseconds)
{
    if (milliseconds % 100 != 0)
        /* TRANSLATORS: milliseconds, at most 3 columns. */
        snprintf(buf, size, "%s%u%s", sign, milliseconds, _("ms"));
    else
        snprintf(buf, size, "%s%.1f%s", sign, milliseconds / 1000.0, _("s"));
    return buf;
}

char *
units_offset(char *buf, size_t size, int64_t ns)
{
    /* TRANSLATORS: days, hours, minutes and seconds as one short suffix each,
       at most 2 columns. */
    static const char *const names[] = {N_("d"), N_("h"), N_("m"), N_("s")};
    static const uint64_t lengths[] = {86400, 3600, 60, 1};
    uint64_t milliseconds = (ns < 0 ? -(uint64_t)ns : (uint64_t)ns) / 1000000;
    uint64_t rest = milliseconds / 1000;
    const char *sign = ns < 0 && milliseconds > 0 ? "-" : "";
    unsigned first = 0;

    if (milliseconds % 1000 != 0 && milliseconds < 1000)
        return fine_offset(buf, size, sign, (unsigned)milliseconds);
    if (milliseconds % 1000 >= 100 && milliseconds < 10000)
        return fine_offset(buf, size, sign, (unsigned)(milliseconds / 100 * 100));
    while (first < 3 && rest < lengths[first])
        first++;
    snprintf(buf, size, "%s%" PRIu64 "%s", sign, rest / lengths[first], _(names[first]));
    rest = first < 3 ? rest % lengths[first] / lengths[first + 1] : 0;
    if (rest != 0) {
        size_t used = size > 0 ? strlen(buf) : 0;

        snprintf(size > 0 ? buf + used : buf, size - used, "%" PRIu64 "%s", rest,
                 _(names[first + 1]));
    }
    return buf;
}

/* How many decimals multiples of step need: one for 1.5 s, one for 1.8333 s too. */
static int
decimals_of_step(int64_t step, int64_t unit)
{
    int decimals = 0;

    for (int64_t last = unit; decimals < 3; decimals++, last /= 10) {
        int64_t rounded = (step + last / 2) / last * last;

        if (rounded - step <= step / 20 && step - rounded <= step / 20)
            break;
    }
    return decimals;
}

char *
units_time_tick(char *buf, size_t size, int64_t ns, int64_t step_ns, int64_t end_ns)
{
    const int64_t second = 1000000000;
    int64_t unit = end_ns < second ? second / 1000 : second;

    if (step_ns >= 60 * second)
        return units_offset(buf, size, ns);
    snprintf(buf, size, "%.*f%s", ns != 0 ? decimals_of_step(step_ns, unit) : 0,
             (double)ns / (double)unit, unit < second ? _("ms") : _("s"));
    return buf;
}
