/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words of options about sites; site-filter.c has those of filters. */
#include "config.h"

#include "report/site-choice.h"

#include <stddef.h>
#include <string.h>

enum profile_mode
site_choice_mode(const struct site_choice *choice, enum profile_mode usual)
{
    const struct profile_filter *filter = &choice->filter;

    if (choice->mode_given)
        return choice->mode;
    return choice->survivors_ns > 0 || filter->life_from_ns > 0 || filter->life_to_ns > 0
               ? PROFILE_LIVE
               : usual;
}

bool
site_choice_column(const char *name, enum profile_column *column)
{
    static const char *const names[PROFILE_COLUMNS] = {
        [PROFILE_BY_BYTES] = "bytes",      [PROFILE_BY_OBJECTS] = "objects",
        [PROFILE_BY_MADE] = "allocated",   [PROFILE_BY_RATE] = "rate",
        [PROFILE_BY_AGE] = "age",          [PROFILE_BY_BLOCKS] = "samples",
        [PROFILE_BY_ERROR] = "error",      [PROFILE_BY_GROWTH] = "growth",
    };

    for (int i = PROFILE_BY_BYTES; i < PROFILE_COLUMNS; i++)
        if (strcmp(name, names[i]) == 0) {
            *column = (enum profile_column)i;
            return true;
        }
    return false;
}
