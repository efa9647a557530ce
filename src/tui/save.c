/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keys that save the moment: what snapshot.h writes, told in the message
 * line.
 */
#include "config.h"

#include "tui/state.h"

#include "i18n.h"
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
    bool saved = snapshot_save_text(app->session, app->view.unit, text, sizeof text);
    tell(app, saved, text);
}

void
save_json(struct app *app)
{
    char text[256];

    app_refresh(app);
    bool saved = snapshot_save_json(app->session, text, sizeof text);
    tell(app, saved, text);
}

void
save_picture(struct app *app)
{
    char text[256];

    app_refresh(app);
    bool saved = snapshot_save_png(app->session, app->view.unit, app->options->png_module,
                                   text, sizeof text);
    tell(app, saved, text);
}
