/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The width of the names is known only when all have been added. */
#include "config.h"

#include "report/facts.h"

#include "base/textwidth.h"

void
facts_add(struct fact_list *facts, const char *name, const char *value)
{
    if (facts->count == FACTS_MAX)
        return;
    facts->list[facts->count].name = name;
    snprintf(facts->list[facts->count++].value, FACTS_VALUE_MAX, "%s", value);
}

void
facts_write(FILE *out, struct fact_list *facts, size_t cols)
{
    char name[FACTS_VALUE_MAX];

    for (size_t i = 0; i < facts->count; i++)
        if (text_columns(facts->list[i].name) > cols)
            cols = text_columns(facts->list[i].name);
    for (size_t i = 0; i < facts->count; i++)
        fprintf(out, "  %s  %s\n",
                text_pad(name, sizeof name, facts->list[i].name, cols, TEXT_LEFT),
                facts->list[i].value);
    facts->count = 0;
}
