/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All options refuse wrong values with the same messages. */
#include "config.h"

#include "programs/value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"

void
value_refuse(struct argp_state *state, const char *option, const char *word,
             const char *what)
{
    argp_error(state, _("'%s' is not a value of %s: it takes %s"), word, option, what);
}

int
value_word(struct argp_state *state, const char *option, const char *word,
           const char *words)
{
    size_t length = strlen(word);
    int index = 0;

    for (const char *at = words; *at != '\0'; at += strspn(at, ", "), index++) {
        size_t found = strcspn(at, ",");

        if (found == length && strncmp(at, word, length) == 0)
            return index;
        at += found;
    }
    value_refuse(state, option, word, words);
    return 0;
}

long
value_number(struct argp_state *state, const char *option, const char *word, long least,
             long most)
{
    char *end;
    long number = strtol(word, &end, 10);

    if (!isdigit((unsigned char)word[0]) || *end != '\0' || number < least
        || number > most)
        argp_error(state,
                   _("'%s' is not a value of %s: it takes a number from %ld to %ld"),
                   word, option, least, most);
    return number;
}

const char *
value_file(struct argp_state *state, const char *option, const char *name)
{
    if (name[0] == '\0')
        argp_error(state, _("%s takes the name of a file"), option);
    return name;
}
