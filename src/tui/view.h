/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pages of the display.  Drawing is a pure function of a scene (what is
 * known), a view (what the user chose) and the size; it neither samples, nor
 * allocates, nor changes anything but the picture.
 */
#ifndef MEMTOP_TUI_VIEW_H
#define MEMTOP_TUI_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/session.h"
#include "base/units.h"
#include "tui/canvas.h"
#include "tui/graph.h"
#include "tui/keys.h"
#include "tui/layout.h"
#include "tui/pages.h"
#include "tui/search.h"
#include "tui/since.h"
#include "tui/sites.h"
#include "tui/sort.h"
#include "tui/table.h"

struct block_table;
struct capture;

/* What the user chose. */
struct view {
    enum page page;
    int help;                    /* page of the help shown, 0 none */
    bool paused;
    bool history;                /* a cursor stands where the scene's process is */
    bool interacting;            /* keys go to the program */
    bool log;
    enum graph_style style;
    enum unit unit;
    int64_t window_ns;           /* of the graphs; 0: as fits the run */
    pid_t selected;              /* on the page of processes; 0: the one shown */
    int scroll;                  /* lines from the page's resting place, see below */
    uint64_t top[SERIES_COUNT];  /* of the y axes, see graph_top() */
    struct sort sort[PAGES_MAX];
    char search[SEARCH_MAX];     /* in the output; "": nothing */
    uint64_t found;              /* the line of it the search stands at, by its number */
    bool found_any;              /* there is such a line */
    char filter[SEARCH_MAX];     /* threads whose names have it; "": all */
    char process_filter[SEARCH_MAX]; /* processes whose commands have it; "": all */
    struct sites_choice sites;
    char sizes_shown[SEARCH_MAX]; /* a filter of block sizes (blocks.h); "": all */
    int64_t peak_from_ns;        /* run time from which on the peak is shown, 0 all */
};

/* What memtop itself costs. */
struct own_cost {
    bool known;
    double cpu_percent;
    uint64_t rss;
};

/* What is known. */
struct scene {
    const struct process *process;
    const struct history *history;
    const struct session *session;
    const struct capture *capture;   /* NULL: the output is not captured */
    uint64_t output_end;             /* lines ever printed that are shown */
    const struct thread *threads;    /* of the present, at most THREADS_MAX */
    size_t thread_count;             /* how many there are */
    const struct thread *mark_threads;   /* at the mark; NULL: not known */
    size_t mark_thread_count;            /* of them, at most THREADS_MAX */
    const struct sites_shown *sites;     /* NULL: nothing is known of them */
    const struct block_table *blocks; /* exact sizes; NULL: not recorded */
    const char *command;             /* untrusted */
    int64_t interval_ns;
    int64_t shown_ns;                /* run time up to which there is something */
    bool ended;                      /* the program ends there */
    bool saved;                      /* a session of the past: nothing changes */
    const struct mark *mark;         /* NULL: none, or another image's */
    struct own_cost own;
    const char *message;             /* for the message line */
    enum role message_role;
    bool asks;                       /* the message is a question */
    bool typing;                     /* its end is the answer, which must be seen */
};

/* What a click does in a part of the picture. */
struct hit {
    struct rect rect;
    enum action action;      /* ACTION_VIEW: shows page; ACTION_NONE: a graph;
                                ACTION_ROW: a list */
    enum page page;
    int64_t from_ns, to_ns;  /* a graph's time */
};
#define HITS_MAX 48

/* Where it is drawn. */
struct screen {
    struct canvas canvas;
    struct layout layout;
    struct column *columns;          /* room for one graph of the full width */
    wchar_t *cells;                  /* room for one graph of the full size */
    struct hit hits[HITS_MAX];
    size_t hit_count;
};

/* Adds one; what lies in no part of it is dropped. */
void picture_hit(struct screen *screen, const struct hit *hit);
const struct hit *picture_hit_at(const struct screen *screen, int row, int col);

/* Makes the picture so large.  False if memory is short. */
bool picture_resize(struct screen *screen, int rows, int cols);
void picture_free(struct screen *screen);

/* The window of the graphs, in ns. */
int64_t view_window(const struct view *view, const struct scene *scene);

/* Run time at the right edge of the graphs, in ns: what is shown ends there, unless
   the cursor stands before the window. */
int64_t view_right(const struct view *view, const struct scene *scene);

/* Brings the tops of the axes up to date; before drawing, after sampling. */
void view_rescale(struct view *view, const struct scene *scene);

/* Draws everything. */
void view_draw(struct screen *screen, const struct view *view,
               const struct scene *scene);

/* Lines a page can be scrolled by, after it was drawn.  The output and the
   messages rest at their end and scroll back, the others rest at their top. */
int view_scroll_limit(const struct screen *screen, const struct view *view,
                      const struct scene *scene);

/* The page a digit stands for, PAGE_COUNT if for none. */
enum page view_page_of_digit(int digit);

/* The name of a column to sort a page's table by, translated; NULL beyond the last
   one.  Column 0 is the page's own order. */
const char *view_sort_column(enum page page, unsigned column);

/* The heap's peak as shown: of the run, or since it was reset. */
uint64_t view_peak(const struct view *view, const struct scene *scene);

/* Parts of pages, each within a rectangle (view-*.c, chart.c). */
struct chart {
    enum series series;
    const char *title;     /* translated */
    enum role role;
    bool peak;             /* say when the run's peak was */
};
void chart_draw(struct screen *screen, const struct view *view,
               const struct scene *scene, const struct rect *rect,
               const struct chart *chart);
void chart_sparkline(struct screen *screen, const struct view *view,
                    const struct scene *scene, const struct rect *rect);

/* The state, as the header has it: "RUNNING", "EXITED 3", "SAVED"... */
void view_state(char *text, size_t size, const struct view *view,
                const struct scene *scene);
/* How a state is shown that matters; or otherwise. */
enum role view_state_role(enum process_state state, enum role otherwise);
void view_header(struct screen *screen, const struct view *view,
                 const struct scene *scene);

int view_call_rows(const struct scene *scene);   /* worth a row on the overview */
void view_calls_block(struct screen *screen, const struct view *view,
                      const struct scene *scene, const struct rect *rect);

void view_sizes_block(struct screen *screen, const struct view *view,
                      const struct scene *scene, const struct rect *rect);

void view_output_block(struct screen *screen, const struct view *view,
                       const struct scene *scene, const struct rect *rect, int scroll);
/* The index-th line of the output as it is drawn, in text. */
#define OUTPUT_TEXT_MAX 8192
char *view_output_text(const struct scene *scene, int index, char *text, size_t size);
void view_site(struct screen *screen, const struct view *view,
               const struct scene *scene, const struct rect *rest);
int view_sites_lines(const struct screen *screen);   /* rows there is room for */
int view_site_lines(const struct screen *screen, const struct view *view,
                    const struct scene *scene);
int view_memory_lines(const struct scene *scene);
int view_output_lines(const struct scene *scene);
void view_help(struct screen *screen, const struct view *view);
int view_help_pages(struct screen *screen);
void view_footer(struct screen *screen, const struct view *view);

/* The title of a page; what is below it.  A low window has none: the page is all
   figures. */
struct rect view_page_title(struct screen *screen, const char *title,
                            const char *right);
struct rect view_page_rest(const struct screen *screen);

/* The title of a block; a click on it shows the block's page. */
void view_block_title(struct screen *screen, const struct rect *rect, enum page page,
                      const char *title, const char *right);

/* Run time as text: "00:01:10", "40%" of a run whose time is not known. */
char *view_time(char *buf, size_t size, const struct process *process, int64_t ns);

/* "since the mark at 00:01:10", "" without a mark. */
void view_since(char *text, size_t size, const struct scene *scene);

/* "not measured: REASON", or "not recorded", in place of a block's content. */
void view_not_measured(struct screen *screen, const struct scene *scene, int row,
                       int col, int columns);

#endif
