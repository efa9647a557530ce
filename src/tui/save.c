/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keys that save what is known of the process shown. snapshot.h writes the files;
 * the message line reports the result.
 */
#include "config.h"

#include "tui/state.h"

#include "base/i18n.h"
#include "files/archive.h"
#include "report/snapshot.h"
#include "base/clock.h"
#include "monitor/naming.h"

#define NAMES_MS 3000

static void
tell(struct app *app, bool saved, const char *text)
{
    if (saved)
        app_ack(app, _("Saved %s"), text);
    else
        app_ack(app, "%s", text);
}

void
save_text(struct app *app)
{
    char text[256];

    app_refresh(app);
    if (app->naming != NULL)
        naming_wait(app->naming, app->session, session_shown(app->session), NAMES_MS);
    bool saved = snapshot_save_text(session_shown(app->session), app->view.unit, text,
                                    sizeof text);
    tell(app, saved, text);
}

void
save_json(struct app *app)
{
    char text[256];

    app_refresh(app);
    bool saved = snapshot_save_json(session_shown(app->session), text, sizeof text);
    tell(app, saved, text);
}

void
save_blocks(struct app *app)
{
    const struct tui_options *options = app->options;
    const struct blocksizes *blocks =
        options->blocks != NULL
            ? options->blocks(options->blocks_context, app_shown(app)->pid, NULL)
            : NULL;
    char text[256];

    if (blocks == NULL) {
        app_ack(app, "%s", _("Block sizes are unknown: calls are not recorded"));
        return;
    }
    bool saved =
        snapshot_save_blocks(blocks, tracked_command(session_shown(app->session)),
                             app_shown(app)->pid, text, sizeof text);
    tell(app, saved, text);
}

void
save_picture(struct app *app)
{
    char text[256];

    app_refresh(app);
    bool saved = snapshot_save_png(session_shown(app->session), app->view.unit,
                                   app->options->png_module, text, sizeof text);
    tell(app, saved, text);
}

void
save_mark(const struct app *app, struct process *out)
{
    *out = *app_shown(app);
    out->run_ns = app->mark.run_ns;
    out->generations = app->mark.generation;
    out->now = app->mark.now;
    out->sizes = app->mark.sizes;
    out->breakdown = app->mark.breakdown;
}

/* Waits a little for names that are still being looked up: a saved file cannot get them
   later. */
static void
finish_names(struct app *app)
{
    struct profile *profile = session_shown(app->session)->profile;
    int64_t run_ns;

    if (app->naming != NULL && profile != NULL && profile_known(profile, &run_ns))
        naming_wait(app->naming, app->session, session_shown(app->session), NAMES_MS);
}

/* The deadline for naming all other processes, which share as much time. */
struct patience {
    struct app *app;
    int64_t end_ns;
};

static void
name_other(void *context, struct session *session, const struct tracked *tracked)
{
    const struct patience *patience = context;
    int64_t left_ns = patience->end_ns - clock_ns(CLOCK_MONOTONIC);

    if (patience->app->naming != NULL)
        naming_wait(patience->app->naming, session, tracked,
                    left_ns > 0 ? (int)(left_ns / 1000000) : 0);
}

void
save_session(struct app *app)
{
    static struct process mark;
    char text[256];

    app_refresh(app);
    finish_names(app);
    save_mark(app, &mark);
    struct patience patience = {app, clock_ns(CLOCK_MONOTONIC)
                                         + (int64_t)NAMES_MS * 1000000};
    const struct archive archive = {.session = app->session,
                                    .capture = app->capture,
                                    .mark = app->marked ? &mark : NULL,
                                    .interval_ns = app->interval_ns,
                                    .name = name_other,
                                    .context = &patience};
    bool saved = snapshot_save_session(&archive, text, sizeof text);
    tell(app, saved, text);
}

/* Exports the process shown, with the choices made on the page of sites. */
static struct siteexport
shown_sites(const struct app *app)
{
    const struct tracked *tracked = session_shown(app->session);

    const struct sites_choice *choice = &app->view.sites;

    return (struct siteexport){
        .profile = app->sites.all != NULL ? app->sites.all : tracked->profile,
        .tracked = tracked,
        .mode = choice->mode,
        .filter = choice->filter_text[0] != '\0' ? &choice->filter : NULL,
        .survivors_ns = choice->survivors_ns,
    };
}

bool
save_has_sites(struct app *app)
{
    const struct siteexport export = shown_sites(app);
    const char *why = siteexport_unknown(&export);

    if (why != NULL)
        app_ack(app, _("nothing to export: %s"), why);
    return why == NULL;
}

void
save_sites(struct app *app, enum siteexport_format format)
{
    char text[256];

    app_refresh(app);
    finish_names(app);
    const struct siteexport export = shown_sites(app);
    bool saved = snapshot_save_sites(&export, format, text, sizeof text);
    tell(app, saved, text);
}
