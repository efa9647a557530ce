/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drawing the pages.  It is a pure function of a scene (what is known), a view (what the
 * user chose) and the size: it neither samples, nor allocates, nor changes anything but
 * the screen.
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
    int help;                    /* page of the help that is shown; 0: none */
    bool paused;
    bool history;                /* the scene's process is a moment of the past, at the
                                    cursor */
    bool interacting;            /* keys go to the program */
    bool log;
    enum graph_style style;
    enum unit unit;
    int64_t window_ns;           /* of the graphs; 0: chosen to fit the run */
    pid_t selected;              /* on the page of processes; 0: the process shown */
    /* Lines scrolled from where the page rests, see view_scroll_limit(). */
    int scroll;
    uint64_t top[SERIES_COUNT];  /* of the y axes, see graph_top() */
    struct sort sort[PAGES_MAX];
    char search[SEARCH_MAX];     /* what is searched for in the output; "" */
    uint64_t found;              /* number of the output line where the search stands */
    bool found_any;              /* found is valid */
    char filter[SEARCH_MAX];     /* shows only threads whose names contain it; "": all */
    /* Shows only processes whose commands contain it; "": all. */
    char process_filter[SEARCH_MAX];
    struct sites_choice sites;
    /* A filter of block sizes (blocks.h); "": all. */
    char sizes_shown[SEARCH_MAX];
    /* The peak shown is of the run time from here on; 0: of the whole run. */
    int64_t peak_from_ns;
};

/* What memtop itself uses. */
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
    uint64_t output_end;             /* number of the first output line not shown */
    const struct thread *threads;    /* the current ones, at most THREADS_MAX */
    size_t thread_count;             /* all there are, may be more than THREADS_MAX */
    const struct thread *mark_threads;   /* threads at the mark; NULL: not known */
    size_t mark_thread_count;            /* at most THREADS_MAX */
    const struct sites_shown *sites;     /* NULL: no profile */
    const struct block_table *blocks; /* NULL: not recorded */
    const char *command;             /* untrusted */
    int64_t interval_ns;
    int64_t shown_ns;                /* run time at which the graphs end */
    bool ended;                      /* the program ended at shown_ns */
    bool saved;                      /* a saved session: nothing changes any more */
    const struct mark *mark;         /* NULL: none, or set in another image */
    struct own_cost own;
    const char *message;             /* text of the message line */
    enum role message_role;
    bool asks;                       /* the message is a question */
    bool typing;                     /* its end is the answer being typed, and must be
                                        visible */
};

/* What a click on a part of the screen does. */
struct hit {
    struct rect rect;
    enum action action;      /* ACTION_VIEW: shows page; ACTION_NONE: a graph;
                                ACTION_ROW: a list */
    enum page page;
    int64_t from_ns, to_ns;  /* range of time that a graph shows */
};
#define HITS_MAX 48

/* What drawing works on. */
struct screen {
    struct canvas canvas;
    struct layout layout;
    struct column *columns;          /* enough for one graph of the full width */
    wchar_t *cells;                  /* enough for one graph of the full size */
    struct hit hits[HITS_MAX];
    size_t hit_count;
};

/* Adds the part of the screen that a click acts on; does nothing if there is no room. */
void picture_hit(struct screen *screen, const struct hit *hit);
/* The part at that place, or NULL. */
const struct hit *picture_hit_at(const struct screen *screen, int row, int col);

/* Gives the screen a new size.  Returns false if memory is short. */
bool picture_resize(struct screen *screen, int rows, int cols);
void picture_free(struct screen *screen);

/* The range of time that the graphs show, in ns. */
int64_t view_window(const struct view *view, const struct scene *scene);

/* Run time at the right edge of the graphs, in ns: the end of what is shown, or earlier
   if the cursor is before the window. */
int64_t view_right(const struct view *view, const struct scene *scene);

/* Updates the tops of the y axes; call it after sampling and before drawing. */
void view_rescale(struct view *view, const struct scene *scene);

/* Draws the whole screen. */
void view_draw(struct screen *screen, const struct view *view,
               const struct scene *scene);

/* Number of lines the page can be scrolled by, once it was drawn.  The output and the
   messages rest at their end and scroll back; the others rest at their top. */
int view_scroll_limit(const struct screen *screen, const struct view *view,
                      const struct scene *scene);

/* The page that a digit shows; PAGE_COUNT if there is none. */
enum page view_page_of_digit(int digit);

/* The translated name of a column that the page's table can be sorted by; NULL after the
   last one.  Column 0 is the page's own order. */
const char *view_sort_column(enum page page, unsigned column);

/* The heap's peak to show: that of the run, or since it was reset. */
uint64_t view_peak(const struct view *view, const struct scene *scene);

/* Parts of pages, drawn within a rectangle (view-*.c, chart.c). */
struct chart {
    enum series series;
    const char *title;     /* translated */
    enum role role;
    bool peak;             /* says when the run's peak was */
};
void chart_draw(struct screen *screen, const struct view *view,
               const struct scene *scene, const struct rect *rect,
               const struct chart *chart);
void chart_sparkline(struct screen *screen, const struct view *view,
                    const struct scene *scene, const struct rect *rect);

/* The state as the header shows it: "RUNNING", "EXITED 3", "SAVED"... */
void view_state(char *text, size_t size, const struct view *view,
                const struct scene *scene);
/* The role of a state that deserves attention; `otherwise` for the usual states. */
enum role view_state_role(enum process_state state, enum role otherwise);
void view_header(struct screen *screen, const struct view *view,
                 const struct scene *scene);

int view_call_rows(const struct scene *scene);   /* functions worth a row on the
                                                    overview */
void view_calls_block(struct screen *screen, const struct view *view,
                      const struct scene *scene, const struct rect *rect);

void view_sizes_block(struct screen *screen, const struct view *view,
                      const struct scene *scene, const struct rect *rect);

void view_output_block(struct screen *screen, const struct view *view,
                       const struct scene *scene, const struct rect *rect, int scroll);
/* The output line `index`, as it is drawn; written to text. */
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

/* Draws the title of a page, unless the window is too low for one.  Returns the area
   below it, as view_page_rest() does. */
struct rect view_page_title(struct screen *screen, const char *title,
                            const char *right);
struct rect view_page_rest(const struct screen *screen);

/* Draws the title of a block; a click on it shows the block's page. */
void view_block_title(struct screen *screen, const struct rect *rect, enum page page,
                      const char *title, const char *right);

/* Run time as text: "00:01:10"; "40%" in a run whose times are not known. */
char *view_time(char *buf, size_t size, const struct process *process, int64_t ns);

/* "since the mark at 00:01:10"; "" without a mark. */
void view_since(char *text, size_t size, const struct scene *scene);

/* Draws "not measured: REASON" or "not recorded" in place of a block's content. */
void view_not_measured(struct screen *screen, const struct scene *scene, int row,
                       int col, int columns);

#endif
