/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes the rows of the page of allocation sites from the profile and the user's choice.
 * The selected row is found again by its key.
 */
#include "config.h"

#include "tui/view.h"

/* Finds the selected row again.  If it is gone, another row takes its place. */
static void
find_selected(const struct sites_shown *sites, struct sites_choice *choice)
{
    const struct profile_table *table = &sites->table;

    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].key == choice->selected) {
            choice->index = i;
            return;
        }
    choice->opened = false;
    if (choice->selected == 0 || table->count == 0)
        choice->index = 0;
    else if (choice->index >= table->count)
        choice->index = table->count - 1;
}

static void
fill_opened(struct sites_shown *sites, const struct sites_choice *choice)
{
    const size_t room = sizeof sites->places / sizeof *sites->places;

    if (!choice->opened
        || !profile_table_detail(&sites->table, sites->profile, choice->index,
                                 &sites->detail))
        return;
    sites->place_count =
        profile_places(sites->profile, sites->table.rows[choice->index].stack,
                       sites->places, room);
    if (sites->place_count > room)
        sites->place_count = room;
}

void
sites_fill(struct sites_shown *sites, struct view *view, int64_t past_ns)
{
    struct sites_choice *choice = &view->sites;
    const struct sort *sort = &view->sort[PAGE_SITES];
    const struct profile_query query = {
        .mode = choice->mode,
        .form = choice->form,
        .filter = &choice->filter,
        .survivors_ns = choice->survivors_ns,
        .past_ns = past_ns,
        .column = (enum profile_column)sort->column,
        .reverse = sort->reverse,
        .toggled = &choice->toggled,
        .wrappers = choice->wrappers,
    };

    if (sites->profile == NULL)
        return;
    profile_table_fill(&sites->table, sites->profile, &query);
    find_selected(sites, choice);
    fill_opened(sites, choice);
}
