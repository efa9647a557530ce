/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists in which one line is selected. */
#ifndef MEMTOP_TUI_LIST_H
#define MEMTOP_TUI_LIST_H

#include <stddef.h>

/* The first line to show of a list that has room for `lines` and was scrolled to
   `scroll`, so that the selected line is visible. */
static inline int
list_first(size_t selected, int scroll, int lines)
{
    int index = (int)selected;

    if (lines < 1)
        lines = 1;
    if (index < scroll)
        return index;
    return index >= scroll + lines ? index - lines + 1 : scroll;
}

#endif
