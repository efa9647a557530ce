/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Differences from the mark.  Numbers stay unsigned: the sign follows from which of the
 * two is greater, so nothing can overflow.
 */
#include "config.h"

#include "tui/since.h"

uint64_t
amount_size(const struct amount *amount)
{
    if (!amount->since)
        return amount->now;
    return amount->now > amount->then ? amount->now - amount->then
                                      : amount->then - amount->now;
}

/* Writes the sign and returns its length. */
static size_t
put_sign(char *buf, size_t size, const struct amount *amount)
{
    if (!amount->since || amount->now == amount->then || size < 2)
        return 0;
    buf[0] = amount->now > amount->then ? '+' : '-';
    return 1;
}

char *
amount_bytes(char *buf, size_t size, const struct amount *amount, enum unit unit)
{
    size_t sign = put_sign(buf, size, amount);

    units_bytes(buf + sign, size - sign, amount_size(amount), unit);
    return buf;
}

char *
amount_count(char *buf, size_t size, const struct amount *amount)
{
    size_t sign = put_sign(buf, size, amount);

    units_count(buf + sign, size - sign, amount_size(amount));
    return buf;
}

char *
amount_count_compact(char *buf, size_t size, const struct amount *amount)
{
    size_t sign = put_sign(buf, size, amount);

    units_count_compact(buf + sign, size - sign, amount_size(amount));
    return buf;
}
