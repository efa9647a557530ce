/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parses with integers only: a limit of 1.5G is exact to the byte, and depends neither on
 * the locale nor on a double's 53 bits.  Pure.
 */
#include "config.h"

#include "base/quantity.h"

#include <stddef.h>
#include <string.h>

#define FRACTION_DIGITS 9

/* The value (number + fraction/scale); scale is a power of ten. */
struct decimal {
    uint64_t number;
    uint64_t fraction;
    uint64_t scale;
};

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Needs a digit on at least one side of the point.  Returns NULL if text does not begin
   with a number, otherwise what follows it. */
static const char *
parse_decimal(const char *text, struct decimal *decimal)
{
    bool digits = is_digit(*text);
    unsigned places = 0;

    *decimal = (struct decimal){.scale = 1};
    for (; is_digit(*text); text++)
        if (__builtin_mul_overflow(decimal->number, 10, &decimal->number)
            || __builtin_add_overflow(decimal->number, (uint64_t)(*text - '0'),
                                      &decimal->number))
            return NULL;
    if (*text != '.' && *text != ',')
        return digits ? text : NULL;
    for (text++; is_digit(*text); text++) {
        if (++places > FRACTION_DIGITS)
            return NULL;
        decimal->fraction = decimal->fraction * 10 + (uint64_t)(*text - '0');
        decimal->scale *= 10;
    }
    return digits || places > 0 ? text : NULL;
}

static bool
multiply(const struct decimal *decimal, uint64_t unit, uint64_t *product)
{
    uint64_t whole, scale = decimal->scale;
    /* Both factors are split so that nothing overflows. */
    uint64_t part = unit / scale * decimal->fraction
                    + unit % scale * decimal->fraction / scale;

    if (__builtin_mul_overflow(decimal->number, unit, &whole))
        return false;
    return !__builtin_add_overflow(whole, part, product);
}

/* 1 for K, 2 for M...; 0 for no prefix. */
static unsigned
unit_step(char c)
{
    static const char letters[] = "KMGTPEkmgtpe";
    const char *found = c != '\0' ? strchr(letters, c) : NULL;

    return found != NULL ? (unsigned)(found - letters) % 6 + 1 : 0;
}

static uint64_t
power(uint64_t base, unsigned exponent)
{
    uint64_t result = 1;

    while (exponent-- > 0)
        result *= base;
    return result;
}

bool
quantity_size_prefix(const char *text, uint64_t *bytes, const char **end)
{
    struct decimal decimal;
    uint64_t base = 1024;
    uint64_t result;

    text = parse_decimal(text, &decimal);
    if (text == NULL)
        return false;
    unsigned step = unit_step(*text);
    if (step > 0)
        text++;
    if (step > 0 && text[0] == 'i' && text[1] == 'B') {
        text += 2;
    } else if (text[0] == 'B') {
        base = 1000;
        text++;
    }
    if (!multiply(&decimal, power(base, step), &result))
        return false;
    *bytes = result;
    *end = text;
    return true;
}

bool
quantity_size(const char *text, uint64_t *bytes)
{
    uint64_t result;
    const char *end;

    if (!quantity_size_prefix(text, &result, &end) || *end != '\0')
        return false;
    *bytes = result;
    return true;
}

bool
quantity_count(const char *text, uint64_t *count)
{
    struct decimal decimal;

    text = parse_decimal(text, &decimal);
    if (text == NULL)
        return false;
    unsigned step = unit_step(*text);
    return text[step > 0] == '\0' && multiply(&decimal, power(1000, step), count);
}

bool
quantity_seconds(const char *text, int64_t *ns)
{
    const uint64_t most = UINT64_C(1000) * 1000000000;
    struct decimal decimal;
    uint64_t value;

    text = parse_decimal(text, &decimal);
    if (text == NULL || *text != '\0' || !multiply(&decimal, 1000000000, &value)
        || value > most)
        return false;
    *ns = (int64_t)value;
    return true;
}

bool
quantity_moment(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"", 1000000000}, {"s", 1000000000}, {"ms", 1000000}, {"us", 1000},
                 {"ns", 1},        {"m", 60000000000}, {"h", 3600000000000}};
    struct decimal decimal;

    text = parse_decimal(text, &decimal);
    for (size_t i = 0; text != NULL && i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i].name) == 0)
            return multiply(&decimal, units[i].ns, ns);
    return false;
}

bool
quantity_digits(const char *text, size_t length, unsigned base, uint64_t *number)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i], letter = byte | 32;
        unsigned digit = byte >= '0' && byte <= '9'       ? byte - (unsigned)'0'
                         : letter >= 'a' && letter <= 'f' ? letter - (unsigned)'a' + 10
                                                          : base;

        if (digit >= base || __builtin_mul_overflow(sum, base, &sum)
            || __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    if (length > 0)
        *number = sum;
    return length > 0;
}
