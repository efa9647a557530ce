/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user has chosen on the page of allocation sites (view-sites.c draws it,
   sites.c acts on it). */
#ifndef MEMTOP_TUI_SITES_H
#define MEMTOP_TUI_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/profile-table.h"
#include "tui/search.h"

struct sites_choice {
    enum profile_form form;
    enum profile_mode mode;
    int64_t survivors_ns;          /* only what is alive and as old; 0: any */
    char filter_text[SEARCH_MAX];  /* as typed, and what it means */
    struct profile_filter filter;
    struct profile_toggled toggled;
    uint64_t selected;             /* key of the row; 0: the first */
    size_t index;                  /* where that stands */
    bool opened;                   /* the row is shown by itself */
    int list_scroll;               /* of the list meanwhile */
};

/* What the page shows, made between pictures. */
struct sites_shown {
    struct profile *profile;       /* of the process shown; NULL: there is none */
    struct profile_table table;
    struct profile_detail detail;  /* of the row that is opened */
    struct profile_place places[SITES_DEPTH_MAX * 4];  /* of its stack */
    size_t place_count;
    size_t names_asked, names_known;
};

struct view;

/* Makes the rows of sites->profile that the view asks for; past_ns as in struct
   profile_query.  The view gets where the selected one stands. */
void sites_fill(struct sites_shown *sites, struct view *view, int64_t past_ns);

#endif
