/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user has chosen on the page of allocation sites. view-sites.c draws the page,
   sites.c handles its keys. */
#ifndef MEMTOP_TUI_SITES_H
#define MEMTOP_TUI_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/profile-table.h"
#include "tui/search.h"

struct sites_choice {
    enum profile_form form;
    enum profile_mode mode;
    int64_t survivors_ns;          /* shows only live blocks at least this old; 0: all */
    char filter_text[SEARCH_MAX];  /* as typed; filter is its meaning */
    struct profile_filter filter;
    struct profile_toggled toggled;
    bool wrappers;                 /* call stacks begin with wrappers */
    bool together;                 /* of all processes, as they are now */
    uint64_t selected;             /* key of the selected row; 0: the first row */
    size_t index;                  /* index of the selected row */
    bool opened;                   /* the selected row is shown in detail */
    int list_scroll;               /* of the list while a row is opened */
};

/* What the page shows, prepared before drawing. */
struct sites_shown {
    struct profile *profile;       /* of the process shown, or all; NULL: none */
    struct profile *own;           /* of the process shown */
    struct profile *all;           /* of all processes together, or NULL; ours */
    unsigned processes;            /* which are so many */
    struct profile_table table;
    struct profile_detail detail;  /* of the opened row */
    struct profile_place places[SITES_DEPTH_MAX * 4];  /* of the opened row's stack */
    size_t place_count;
    size_t names_asked, names_known;
};

struct view;

/* Makes the rows of sites->profile that the view asks for; past_ns as in struct
   profile_query.  Stores the index of the selected row in the view. */
void sites_fill(struct sites_shown *sites, struct view *view, int64_t past_ns);

#endif
