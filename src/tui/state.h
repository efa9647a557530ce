/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the display, shared by the loop (loop.h), the keys (command.c, look.c,
   prompt.c, cursor.c, save.c), the message line (message.c) and what sends signals to
   the program (target.c). */
#ifndef MEMTOP_TUI_STATE_H
#define MEMTOP_TUI_STATE_H

#include "monitor/tracked.h"
#include "report/siteexport.h"
#include "tui/app.h"
#include "tui/keys.h"
#include "tui/blocks.h"
#include "tui/view.h"

/* The answer to a key stays on the message line for this long, or until the next key. */
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
    struct process frozen;       /* what is shown while paused */
    struct process past;         /* what is shown at the cursor in the history */
    struct block_table blocks;
    bool blocks_known;           /* counts by exact block size are recorded */
    struct mark mark;
    bool marked;
    struct thread threads[THREADS_MAX];
    struct thread mark_threads[THREADS_MAX];   /* at the time of the mark */
    struct sites_shown sites;
    struct naming *naming;       /* finds names of functions, or NULL */
    bool sites_stale;            /* the rows must be made again */
    bool threads_asked;          /* read them before the next drawing */
    bool mark_asked;             /* set the mark at the next turn of the loop */
    bool sample_asked;           /* take a sample: what the page shows may be old */

    int64_t interval_ns;
    bool interval_changed;
    bool dirty;                  /* the screen must be drawn again */
    bool by_key;                 /* ... because of a key, so draw it soon */
    int64_t drawn_ns;

    bool mouse;                  /* the terminal reports mouse events */
    enum question question;
    pid_t signal_pid;            /* the process that gets the signal */
    char typed[SEARCH_MAX];      /* the answer typed so far */
    char ack[300];               /* answer to the last key */
    int64_t ack_ns;              /* when it was made; 0: none */
    int64_t ack_life_ns;         /* how long it stays: APP_ACK_NS, longer in tests */
    char state_text[300];        /* text made by message_choose() */
    char question_text[SEARCH_MAX + 128];
    char header[256];            /* the prompt's text */
    bool say_again;              /* command in the header, of a process that is not the
                                    root */
    bool nothing_new;            /* say the page again, on a plain terminal */
    bool told_dropped;           /* the message line has nothing to report */

    int64_t interrupted_ns;      /* the user was told that the window is too small */
    int64_t kill_at_ns;          /* when ^C was sent to the program; 0: not */
    int64_t background_ns;       /* when SIGKILL follows SIGTERM; 0: not */
    bool leave_at_end;           /* when the background work is due */
    bool done;
    enum tui_outcome outcome;
};

/* The process shown, with its present figures. */
static inline const struct process *
app_shown(const struct app *app)
{
    return &session_shown(app->session)->process;
}

/* CLOCK_MONOTONIC in ns. */
int64_t app_now(void);

/* Is there a program that still runs?  Never in a saved session. */
bool app_running(const struct app *app);

/* Shows a message for two seconds, or until the next key. */
void app_ack(struct app *app, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Moves the selection on the page of processes by steps (follow.c). */
void follow_step(struct app *app, int steps);
/* Shows the selected process on all pages. */
void follow_selected(struct app *app);

/* The page of sites (sites.c).  Makes its rows again if they may have changed. */
void sites_prepare(struct app *app);

/* Moves the selection by steps. */
void sites_step(struct app *app, int steps);
/* Opens the selected row, or closes it if it is open. */
void sites_open(struct app *app);
/* Selects the row at a line of the list, opens it if it is already selected. */
void sites_click(struct app *app, int line);
/* Closes the open row.  Returns false if none is open. */
bool sites_close(struct app *app);
/* Handles a key; returns false if the key does not belong to this page. */
bool sites_perform(struct app *app, enum action action);
/* Sets the choice to start with, before the first drawing. */
void sites_begin(struct app *app, const struct site_choice *choice);
/* Filters the rows by text ("": all), if it can be understood. */
void sites_filter(struct app *app, const char *text);
/* Shows only blocks at least as old as text says ("": all). */
void sites_survivors(struct app *app, const char *text);

/* Copies the block sizes of the process shown, unless paused or in the history, and
   sorts them (frame.c). */
void app_take_blocks(struct app *app);

/* Chooses the text of the message line and puts it into the scene (message.c). */
void message_choose(struct app *app);

/* Handles a key (command.c). */
void command_key(struct app *app, int input);
/* Performs an action, as its key does. */
void command_perform(struct app *app, enum action action);
/* Scrolls the page by lines, < 0: up. */
void command_scroll(struct app *app, int lines);
/* Shows a page. */
void command_show_page(struct app *app, enum page page);

/* Turns the mouse on or off (mouse.c). */
void mouse_switch(struct app *app);
/* Handles a mouse event; returns false if input is not a mouse event. */
bool mouse_input(struct app *app, int input);

/* Moves the cursor in the history by so many moments, < 0: back in time (cursor.c). */
void cursor_move(struct app *app, int steps);
/* Moves it to the first moment. */
void cursor_first(struct app *app);
/* Moves it to the last moment at run_ns or before. */
void cursor_to(struct app *app, int64_t run_ns);
/* Removes it: the present is shown again. */
void cursor_leave(struct app *app);

/* Handles a key that changes the look; returns false if it does not (look.c). */
bool look_perform(struct app *app, enum action action);

/* Sets the mark at the moment that is shown; look_clear_mark() clears it and shows
   why. */
void look_set_mark(struct app *app);
void look_clear_mark(struct app *app, const char *why);

/* Sets the sampling interval, kept within APP_INTERVAL_MIN_NS and APP_INTERVAL_MAX_NS. */
void look_set_interval(struct app *app, int64_t interval_ns);

/* Asks what to search for, if the page can be searched (find.c). */
void find_ask(struct app *app);
/* Searches the output; "" ends the search. */
void find_output(struct app *app, const char *text);
/* Stores text in filter, one of the view's, of SEARCH_MAX bytes; "" shows all. */
void find_filter(struct app *app, char *filter, const char *text);
/* Goes to the next match, up or down the output. */
void find_next(struct app *app, bool up);

/* Asks a question on the message line (prompt.c). */
void prompt_ask(struct app *app, enum question question);
/* Handles a key as part of the answer; returns false if nothing is asked. */
bool prompt_key(struct app *app, int input);
/* The question as the message line shows it, "" if none; may be written to text. */
const char *prompt_text(const struct app *app, char *text, size_t size);
/* Is the answer typed as text, rather than given by one key? */
bool prompt_is_typed(enum question question);

/* Sends what is typed to the program, up to ^] (command.c). */
void command_interact(struct app *app);

/* Leaves the display; the program is not touched. */
void command_leave(struct app *app, enum tui_outcome outcome);

/* Leaves the display: at once if the program has ended, otherwise as tui_options.on_quit
   says. */
void command_quit(struct app *app);

/* Sends a signal to the program.  Returns false and sets errno on failure. */
bool target_signal(struct app *app, int signal_number);

/* Like target_signal(), to any process of the list. */
bool target_send(struct app *app, pid_t pid, int signal_number);
/* Is that process alive? */
bool target_lives(const struct app *app, pid_t pid);
/* Is it stopped? */
bool target_stopped(const struct app *app, pid_t pid);

/* A translated text that says it has ended. */
const char *target_ended_text(const struct app *app, pid_t pid);

/* The process that keys act upon: the selected one on the page of processes, otherwise
   the one shown (follow.c). */
pid_t follow_target(struct app *app);

/* Sends ^C to the foreground process group of the program's terminal, or else to the
   program. */
bool target_interrupt(struct app *app);

/* Ends the program: sends SIGTERM, and SIGKILL three seconds later. */
void target_end(struct app *app);

/* Parses the number of a signal: "9", "KILL", "sigusr1"; -1 if there is no such
   signal. */
int target_signal_number(const char *text);

/* Brings the scene up to date (frame.c).  Call it after a sample and after showing
   another process, because several keys may read the scene before the next drawing. */
void app_prepare(struct app *app);

/* Takes a sample now, including sizes, RSS breakdown and profile, whatever is shown. */
void app_refresh(struct app *app);

/* These save to a file in the current directory and report that on the message line.
   They save the present, even while the display is paused. */
void save_text(struct app *app);
void save_json(struct app *app);
void save_picture(struct app *app);
void save_blocks(struct app *app);
void save_session(struct app *app);
void save_sites(struct app *app, enum siteexport_format format);

/* Are there sites to save?  If not, shows why. */
bool save_has_sites(struct app *app);

/* Makes a struct process with the figures at the mark. */
void save_mark(const struct app *app, struct process *out);

#endif
