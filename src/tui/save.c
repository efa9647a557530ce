/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keys that save the moment of the process shown: what snapshot.h writes, told
 * in the message line.
 */
#include "config.h"

#include "tui/state.h"

#include "i18n.h"
#include "report/archive.h"
#include "report/snapshot.h"

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
    out->bands = app->mark.bands;
}

void
save_session(struct app *app)
{
    static struct process mark;
    char text[256];

    app_refresh(app);
    save_mark(app, &mark);
    const struct archive archive = {.session = app->session,
                                    .capture = app->capture,
                                    .mark = app->marked ? &mark : NULL,
                                    .interval_ns = app->interval_ns};
    bool saved = snapshot_save_session(&archive, text, sizeof text);
    tell(app, saved, text);
}
