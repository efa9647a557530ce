/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parses the sampling rate as people write it.  Also runs inside the watched process,
 * where strtod() would use the decimal point of the program's locale.
 */
#include "config.h"

#include "segment/rate.h"

#include <stdint.h>

#include "segment/sampling.h"

/* Reads digits with an optional point; *text is left behind them. */
static bool
decimal(const char **text, const char *end, double *value)
{
    const char *start = *text;
    double scale = 1;
    bool behind_point = false;
    int digits = 0;

    for (*value = 0; *text < end && digits < 30; (*text)++) {
        if (**text == '.' && !behind_point) {
            behind_point = true;
            continue;
        }
        if (**text < '0' || **text > '9')
            break;
        *value = *value * 10 + (**text - '0');
        scale *= behind_point ? 10 : 1;
        digits++;
    }
    *value /= scale;
    return digits > 0 && *text > start;
}

/* Reads the exponent after an e; only negative ones make sense for a rate. */
static bool
negative_exponent(const char **text, const char *end, double *value)
{
    int exponent = 0, digits = 0;

    if (end - *text < 2 || **text != '-')
        return false;
    for (++*text; *text < end && **text >= '0' && **text <= '9' && digits < 2; ++*text) {
        exponent = exponent * 10 + (**text - '0');
        digits++;
    }
    while (exponent-- > 0)
        *value /= 10;
    return digits > 0;
}

static bool
unit(char letter, double *factor)
{
    switch (letter) {
    case 'k':
    case 'K':
        *factor = 1024;
        return true;
    case 'm':
    case 'M':
        *factor = 1024 * 1024;
        return true;
    case 'g':
    case 'G':
        *factor = 1024 * 1024 * 1024;
        return true;
    default:
        return false;
    }
}

bool
sampling_rate_parse(const char *text, size_t length, double *rate)
{
    const char *end = text + length;
    double value, factor;

    if (!decimal(&text, end, &value))
        return false;
    if (text < end && (*text == 'e' || *text == 'E')) {
        text++;
        if (!negative_exponent(&text, end, &value))
            return false;
    } else if (text < end && unit(*text, &factor)) {
        text++;
        value = value * factor < SAMPLING_WORD ? SAMPLING_WORD : value * factor;
    }
    if (text != end || value < 1e-12 || value > 1e15)
        return false;
    if (value > 1) /* a number of bytes */
        value = value > SAMPLING_WORD ? SAMPLING_WORD / value : 1;
    *rate = value;
    return true;
}
