/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Searches characters, not bytes, because matches are counted in columns and every
   language has its own capitals. */
#include "config.h"

#include "tui/search.h"

#include <stddef.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#define TEXT_CHARACTERS 4096   /* the longest text that is searched */

/* Converts text to wide characters.  Returns 0 if it is not valid in this locale. */
static size_t
read_text(wchar_t *wide, size_t size, const char *text)
{
    mbstate_t state = {0};
    size_t count = mbsrtowcs(wide, &text, size - 1, &state);

    if (count == (size_t)-1)
        count = 0;
    wide[count] = 0;
    return count;
}

static bool
has_capitals(const wchar_t *text)
{
    while (*text != 0)
        if (iswupper((wint_t)*text++))
            return true;
    return false;
}

static int
columns_of(wchar_t c)
{
    int columns = c < 0x80 ? 1 : wcwidth(c);

    return columns > 0 ? columns : 0;
}

static bool
begins_with(const wchar_t *text, const wchar_t *pattern, bool exactly)
{
    for (; *pattern != 0; text++, pattern++)
        if (*text != *pattern
            && (exactly || towlower((wint_t)*text) != (wint_t)*pattern))
            return false;
    return true;
}

bool
search_text(const char *text, const char *pattern, int *col, int *cols)
{
    wchar_t wide[TEXT_CHARACTERS], wanted[SEARCH_MAX];
    size_t length = read_text(wanted, SEARCH_MAX, pattern);
    size_t count = read_text(wide, sizeof wide / sizeof *wide, text);
    bool exactly = has_capitals(wanted);
    int at = 0;

    for (size_t i = 0; length > 0 && i + length <= count; at += columns_of(wide[i++])) {
        if (at < *col || !begins_with(wide + i, wanted, exactly))
            continue;
        *col = at;
        *cols = 0;
        for (size_t k = 0; k < length; k++)
            *cols += columns_of(wide[i + k]);
        return true;
    }
    return false;
}
