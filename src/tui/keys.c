/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of keys, and finding a key's action.  Only commands are translated from the
 * Russian layout; text typed at a prompt or to the program stays as it is.
 */
#include "config.h"

#include "tui/keys.h"

#include <ctype.h>

#include "base/i18n.h"

static const struct key table[] = {
#define X(id, label, k1, k2, k3, k4, footer, help)                                    \
    { ACTION_##id, label, { k1, k2, k3, k4 }, footer, help },
    KEYS(X)
#undef X
};
#define TABLE_LENGTH (sizeof table / sizeof table[0])

const struct key *
keys_table(size_t *count)
{
    *count = TABLE_LENGTH;
    return table;
}

/* Is the label the name of a key, such as "Tab"?  The message "d" may exist as well, as
   the abbreviation of a word, so single letters must not be translated. */
static bool
is_name(const char *label)
{
    return isalpha((unsigned char)label[0]) && isalpha((unsigned char)label[1]);
}

const char *
keys_label(const struct key *key)
{
    return is_name(key->label) ? _(key->label) : key->label;
}

int
keys_latin(int input)
{
    static const wchar_t russian[] = L"йцукенгшщзхъфывапролджэячсмитьбюё"
                                     L"ЙЦУКЕНГШЩЗХЪФЫВАПРОЛДЖЭЯЧСМИТЬБЮЁ";
    static const char latin[] = "qwertyuiop[]asdfghjkl;'zxcvbnm,.`"
                                "QWERTYUIOP{}ASDFGHJKL:\"ZXCVBNM<>~";

    _Static_assert(sizeof russian / sizeof russian[0] == sizeof latin,
                   "one Latin character for each Russian one");
    if (input < 0x400 || input > 0x4ff)
        return input;
    for (size_t i = 0; russian[i] != 0; i++)
        if (russian[i] == input)
            return latin[i];
    return input;
}

enum action
keys_action(int input, int *digit)
{
    input = keys_latin(input);
    if (input >= '0' && input <= '9') {
        *digit = input - '0';
        return ACTION_VIEW;
    }
    for (size_t i = 0; i < TABLE_LENGTH; i++)
        for (size_t k = 0; k < 4; k++)
            if (table[i].input[k] == input && input != INPUT_NONE)
                return table[i].action;
    return ACTION_NONE;
}
