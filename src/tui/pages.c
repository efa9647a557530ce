/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "tui/pages.h"

#include "base/i18n.h"

static const struct {
    int key;
    const struct page_def *def;
} pages[] = {
#define X(id, key, name) {key, &page_##name},
    PAGES(X)
#undef X
};

const struct page_def *
pages_def(enum page page)
{
    return pages[page].def;
}

const char *
pages_title(enum page page)
{
    return _(pages[page].def->title);
}

enum page
pages_of_key(int key)
{
    unsigned page = 0;

    while (page < PAGE_COUNT && (key == 0 || pages[page].key != key))
        page++;
    return (enum page)page;
}

enum page
pages_next(enum page page, int steps)
{
    return (enum page)(((int)page + steps % PAGE_COUNT + PAGE_COUNT) % PAGE_COUNT);
}

unsigned
pages_count(void)
{
    return PAGE_COUNT;
}
