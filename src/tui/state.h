/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The display's own state, shared by the loop (loop.h), what keys do (command.c,
   look.c, prompt.c, cursor.c, save.c), the message line (message.c) and what goes to
   the program (target.c). */
#ifndef MEMTOP_TUI_STATE_H
#define MEMTOP_TUI_STATE_H

#include "monitor/tracked.h"
#include "report/siteexport.h"
#include "tui/app.h"
#include "tui/keys.h"
#include "tui/blocks.h"
#include "tui/view.h"

/* The answer to a key stays so long, or until the next key. */
#define APP_ACK_NS INT64_C(2000000000)

#define APP_INTERVAL_MIN_NS INT64_C(100000000)
#define APP_INTERVAL_MAX_NS INT64_C(60000000000)

enum question {
    QUESTION_NONE,
    QUESTION_QUIT,
    QUESTION_SIGNAL,
    QUESTION_INTERVAL,
    QUESTION_SURVIVORS,
    QUESTION_EXPORT,
    QUESTION_SEARCH
};

struct naming;

struct app {
    struct session *session;
    struct capture *capture;
    const struct launched *launched;
    const struct tui_options *options;

    struct view view;
    struct scene scene;
    struct screen screen;
    struct process frozen;       /* while paused */
    struct process past;         /* at the cursor in the history */
    struct block_table blocks;
    bool blocks_known;           /* they are recorded */
    struct mark mark;
    bool marked;
    struct thread threads[THREADS_MAX];
    struct thread mark_threads[THREADS_MAX];   /* as the mark found them */
    struct sites_shown sites;
    struct naming *naming;       /* who knows names of functions, or NULL */
    bool sites_stale;            /* rows are to be made anew */
    bool threads_asked;          /* read them before the next picture */
    bool mark_asked;             /* set one at the next moment */
    bool sample_asked;           /* what the page shows may be old */

    int64_t interval_ns;
    bool interval_changed;
    bool dirty;                  /* something to draw */
    bool by_key;                 /* ... because of a key: draw soon */
    int64_t drawn_ns;

    bool mouse;                  /* clicks and the wheel come here */
    enum question question;
    pid_t signal_pid;            /* whom the signal is for */
    char typed[SEARCH_MAX];      /* the answer so far */
    char ack[300];               /* what the last key did */
    int64_t ack_ns;              /* when; 0: none */
    int64_t ack_life_ns;         /* APP_ACK_NS; in tests longer */
    char state_text[300];        /* what message_choose() made up */
    char question_text[SEARCH_MAX + 128];
    char header[256];            /* the command of a process that is not the root */
    bool say_again;              /* the page, on a plain terminal */
    bool nothing_new;            /* the message line has nothing to say */
    bool told_dropped;           /* what the window is too small for was told */

    int64_t interrupted_ns;      /* when ^C went to the program */
    int64_t kill_at_ns;          /* SIGKILL follows SIGTERM then; 0: no */
    int64_t background_ns;       /* when the background is due */
    bool leave_at_end;           /* quit when the program ends */
    bool done;
    enum tui_outcome outcome;
};

/* The process shown, as it is now. */
static inline const struct process *
app_shown(const struct app *app)
{
    return &session_shown(app->session)->process;
}

/* Monotonic time, ns. */
int64_t app_now(void);

/* Whether there is a program that has not ended: not in a saved session. */
bool app_running(const struct app *app);

/* Says something for two seconds, or until the next key. */
void app_ack(struct app *app, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Moves the selection on the page of processes; shows the selected one (follow.c). */
void follow_step(struct app *app, int steps);
void follow_selected(struct app *app);

/* The page of sites (sites.c): makes its rows if they may be others now, ... */
void sites_prepare(struct app *app);

/* ... moves the selection, opens what is selected or clicked at, closes it (false: it
   was not open), acts on a key (false if it is none of the page's), filters, shows
   what is older than text says. */
void sites_step(struct app *app, int steps);
void sites_open(struct app *app);
void sites_click(struct app *app, int line);
bool sites_close(struct app *app);
bool sites_perform(struct app *app, enum action action);
void sites_begin(struct app *app, const struct site_choice *choice); /* at first */
void sites_filter(struct app *app, const char *text);
void sites_survivors(struct app *app, const char *text);

/* Takes the block sizes of the process shown, and puts them into order; as they
   were while paused (frame.c). */
void app_take_blocks(struct app *app);

/* Puts into the scene what the message line shall say (message.c). */
void message_choose(struct app *app);

/* Acts on a key; on an action without one; scrolls the page; shows a page
   (command.c). */
void command_key(struct app *app, int input);
void command_perform(struct app *app, enum action action);
void command_scroll(struct app *app, int lines);
void command_show_page(struct app *app, enum page page);

/* Mouse on or off; acts on its events, false if it is none (mouse.c). */
void mouse_switch(struct app *app);
bool mouse_input(struct app *app, int input);

/* Moves the cursor in the history by so many moments, < 0 back in time; to the
   first one; to the last one until then; takes it away (cursor.c). */
void cursor_move(struct app *app, int steps);
void cursor_first(struct app *app);
void cursor_to(struct app *app, int64_t run_ns);
void cursor_leave(struct app *app);

/* Acts on a key that changes the look; false if it is none (look.c). */
bool look_perform(struct app *app, enum action action);

/* Sets the mark at what is shown; clears it. */
void look_set_mark(struct app *app);
void look_clear_mark(struct app *app, const char *why);

/* Samples so often from now on. */
void look_set_interval(struct app *app, int64_t interval_ns);

/* Asks what to look for, if the page has something to look for; looks for it in the
   output; filters a page by it: filter is the view's, of SEARCH_MAX bytes; "" looks for
   nothing any more.  Goes to the next match, up or down the output (find.c). */
void find_ask(struct app *app);
void find_output(struct app *app, const char *text);
void find_filter(struct app *app, char *filter, const char *text);
void find_next(struct app *app, bool up);

/* Asks; takes a key as part of an answer, false if nothing is asked; the question
   for the message line, "" if none, may use text; whether its answer is typed behind
   it, rather than one key (prompt.c). */
void prompt_ask(struct app *app, enum question question);
bool prompt_key(struct app *app, int input);
const char *prompt_text(const struct app *app, char *text, size_t size);
bool prompt_is_typed(enum question question);

/* Sends keys as typed to the program until ^] (command.c). */
void command_interact(struct app *app);

/* Leaves the display, whatever the program does. */
void command_leave(struct app *app, enum tui_outcome outcome);

/* Leaves the display: at once if the program has ended, else as chosen. */
void command_quit(struct app *app);

/* Sends a signal to the program; false (and errno) if it cannot be sent. */
bool target_signal(struct app *app, int signal_number);

/* The same to the program or any other process that is listed, and its state. */
bool target_send(struct app *app, pid_t pid, int signal_number);
bool target_lives(const struct app *app, pid_t pid);
bool target_stopped(const struct app *app, pid_t pid);

/* That it has ended, in words. */
const char *target_ended_text(const struct app *app, pid_t pid);

/* The process that keys act upon: the selected one on the page of processes, else the
   one shown (follow.c). */
pid_t follow_target(struct app *app);

/* ^C: to those who have the program's terminal, else to the program. */
bool target_interrupt(struct app *app);

/* Ends the program: SIGTERM, three seconds later SIGKILL. */
void target_end(struct app *app);

/* The number of a signal as typed: "9", "KILL", "sigusr1"; -1 if none. */
int target_signal_number(const char *text);

/* Brings the scene up to date, after a reading and where another process is shown:
   keys look at it, too, and several may come before the next picture (frame.c). */
void app_prepare(struct app *app);

/* Reads the program now, sizes and bands included, whatever is shown. */
void app_refresh(struct app *app);

/* Saves the report, its figures or the picture in the current directory, says
   so.  What is saved is the present, also while the picture is paused. */
void save_text(struct app *app);
void save_json(struct app *app);
void save_picture(struct app *app);
void save_blocks(struct app *app);
void save_session(struct app *app);
void save_sites(struct app *app, enum siteexport_format format);

/* Whether there are sites to be saved; else says why not. */
bool save_has_sites(struct app *app);

/* The mark, as a process that says what it said then. */
void save_mark(const struct app *app, struct process *out);

#endif
