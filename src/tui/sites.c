/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of allocation sites: when its rows are made, and what its keys do.  Rows are
 * made between drawings, if a sample, a name or a key may have changed them.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "report/site-filter.h"
#include "report/site-words.h"
#include "monitor/naming.h"
#include "monitor/together.h"
#include "tui/list.h"
#include "tui/state.h"

static void
name_process(void *context, struct session *session, const struct tracked *tracked)
{
    const struct app *app = context;

    if (app->naming != NULL)
        naming_update(app->naming, session, tracked);
}

/* Chooses whose sites are shown: those of the process shown, or of all as they are now.
   What is paused stays. */
static void
choose_profile(struct app *app)
{
    struct sites_shown *sites = &app->sites;
    const struct together how = {name_process, app};
    bool together = app->view.sites.together && !app->view.history && sites->own != NULL;

    if (!together || !app->view.paused || sites->all == NULL) {
        profile_free(sites->all);
        sites->all = NULL;
        if (together)
            sites->all = together_profile(app->session, &how, &sites->processes);
    }
    sites->profile = sites->all != NULL ? sites->all : sites->own;
}

void
sites_prepare(struct app *app)
{
    struct profile *own = session_shown(app->session)->profile;
    struct symbols_progress progress = {0};

    app->scene.sites = &app->sites;
    if (app->view.page != PAGE_SITES || (!app->sites_stale && own == app->sites.own))
        return;
    app->sites_stale = false;
    app->sites.own = own;
    choose_profile(app);
    if (own == NULL)
        return;
    if (app->naming != NULL) {
        naming_update(app->naming, app->session, session_shown(app->session));
        progress = naming_progress(app->naming);
    }
    app->sites.names_asked = progress.asked;
    app->sites.names_known = progress.answered;
    sites_fill(&app->sites, &app->view, app->view.history ? app->past.run_ns : -1);
}

/* ---- keys ---- */

/* Several keys may come before the next drawing.  Each acts on rows that include the
   effect of the key before, and marks the rows as stale. */
static void
settle(struct app *app)
{
    sites_prepare(app);
    app->sites_stale = true;
}

/* Is the page shown?  If not, says so. */
static bool
on_page(struct app *app)
{
    if (app->view.page == PAGE_SITES)
        return true;
    app_ack(app, "%s", _("This key works only on the sites page; 9 shows it"));
    return false;
}

static void
select_row(struct app *app, size_t index)
{
    struct sites_choice *choice = &app->view.sites;
    int lines = view_sites_lines(&app->screen);

    if (index >= app->sites.table.count)
        return;
    choice->index = index;
    choice->selected = app->sites.table.rows[index].key;
    app->view.scroll = list_first(index, app->view.scroll, lines);
}

void
sites_step(struct app *app, int steps)
{
    int64_t index, last;

    settle(app);
    index = (int64_t)app->view.sites.index + steps;
    last = (int64_t)app->sites.table.count - 1;
    if (last < 0)
        return;
    select_row(app, (size_t)(index < 0 ? 0 : index > last ? last : index));
}

void
sites_click(struct app *app, int line)
{
    size_t index = (size_t)(app->view.scroll + line);

    if (index == app->view.sites.index)
        sites_open(app);
    else
        select_row(app, index);
}

void
sites_open(struct app *app)
{
    struct sites_choice *choice = &app->view.sites;

    settle(app);
    if (choice->opened) {
        sites_close(app);
        return;
    }
    if (app->sites.table.count == 0)
        return;
    select_row(app, choice->index);
    choice->opened = true;
    choice->list_scroll = app->view.scroll;
    app->view.scroll = 0;
}

bool
sites_close(struct app *app)
{
    struct sites_choice *choice = &app->view.sites;

    if (app->view.page != PAGE_SITES || !choice->opened)
        return false;
    choice->opened = false;
    app->view.scroll = choice->list_scroll;
    return true;
}

static void
next_mode(struct app *app)
{
    struct sites_choice *choice = &app->view.sites;

    choice->mode = (enum profile_mode)((choice->mode + 1) % PROFILE_MODES);
    app_ack(app, _("Figures: %s"), site_mode_word(choice->mode));
}

static void
next_form(struct app *app)
{
    struct sites_choice *choice = &app->view.sites;

    choice->form = (enum profile_form)((choice->form + 1) % PROFILE_FORMS);
    choice->selected = 0;
    choice->index = 0;
    choice->opened = false;
    app->view.scroll = 0;
    app_ack(app, _("Rows: %s"), site_form_word(choice->form));
}

static void
expand(struct app *app, bool all)
{
    struct sites_choice *choice = &app->view.sites;
    struct profile_toggled *toggled = &choice->toggled;

    if (choice->form == PROFILE_STACKS) {
        app_ack(app, "%s", _("A list has nothing to open; t makes a tree of it"));
    } else if (all) {
        *toggled = (struct profile_toggled){.all_open = !toggled->all_open};
        app_ack(app, "%s",
                toggled->all_open ? _("All rows are open") : _("All rows are closed"));
    } else if (choice->index < app->sites.table.count) {
        select_row(app, choice->index);
        if (app->sites.table.rows[choice->index].more)
            profile_toggle(toggled, choice->selected);
        else
            app_ack(app, "%s", _("There is nothing below"));
    }
}

static void
switch_wrappers(struct app *app)
{
    struct sites_choice *choice = &app->view.sites;

    choice->wrappers = !choice->wrappers;
    app_ack(app, "%s",
            choice->wrappers
                ? _("Call stacks begin where memory was allocated")
                : _("Call stacks begin with the caller of xmalloc and the like"));
}

static void
switch_together(struct app *app)
{
    struct sites_choice *choice = &app->view.sites;

    choice->together = !choice->together;
    choice->opened = false;
    app->view.scroll = 0;
    app_ack(app, "%s",
            choice->together ? _("Sites of all processes together")
                             : _("Sites of the process shown"));
}

bool
sites_perform(struct app *app, enum action action)
{
    if (action != ACTION_SITES_MODE && action != ACTION_SITES_FORM
        && action != ACTION_EXPAND && action != ACTION_EXPAND_ALL
        && action != ACTION_SURVIVORS && action != ACTION_WRAPPERS
        && action != ACTION_TOGETHER)
        return false;
    if (!on_page(app))
        return true;
    settle(app);
    if (action == ACTION_SITES_MODE)
        next_mode(app);
    else if (action == ACTION_SITES_FORM)
        next_form(app);
    else if (action == ACTION_WRAPPERS)
        switch_wrappers(app);
    else if (action == ACTION_TOGETHER)
        switch_together(app);
    else if (action == ACTION_SURVIVORS)
        prompt_ask(app, QUESTION_SURVIVORS);
    else
        expand(app, action == ACTION_EXPAND_ALL);
    return true;
}

void
sites_begin(struct app *app, const struct site_choice *choice)
{
    struct sites_choice *shown = &app->view.sites;

    shown->mode = site_choice_mode(choice, PROFILE_LIVE);
    shown->filter = choice->filter;
    if (choice->filter_text != NULL)
        snprintf(shown->filter_text, sizeof shown->filter_text, "%s",
                 choice->filter_text);
    shown->survivors_ns = choice->survivors_ns;
    shown->wrappers = choice->wrappers;
    app->view.sort[PAGE_SITES].column = choice->column;
}

void
sites_filter(struct app *app, const char *text)
{
    struct sites_choice *choice = &app->view.sites;
    struct profile_filter filter;
    const char *wrong;
    size_t length;

    if (!site_filter_parse(text, &filter, &wrong, &length)) {
        app_ack(app, _("Not understood: '%.*s'"), (int)length, wrong);
        return;
    }
    choice->filter = filter;
    snprintf(choice->filter_text, sizeof choice->filter_text, "%s", text);
    app->view.scroll = 0;
    choice->opened = false;
    if (text[0] == '\0')
        app_ack(app, "%s", _("The filter is off"));
}

void
sites_survivors(struct app *app, const char *text)
{
    struct sites_choice *choice = &app->view.sites;
    char age[UNITS_MAX];
    int64_t ns = 0;

    if (text[0] != '\0' && !site_filter_time(text, strlen(text), &ns)) {
        app_ack(app, _("'%s' is not a time such as 90, 10m or 2h"), text);
        return;
    }
    choice->survivors_ns = ns;
    choice->opened = false;
    app->view.scroll = 0;
    if (ns == 0) {
        app_ack(app, "%s", _("Blocks of any age"));
        return;
    }
    if (choice->mode != PROFILE_SINCE)
        choice->mode = PROFILE_LIVE;
    app_ack(app, _("Alive for at least %s, sorted by growth"),
            units_offset(age, sizeof age, ns));
}
