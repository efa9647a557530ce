/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pages of the display.  A page is a file that defines a struct page_def, and one
 * line of this list.  The keys that show pages, Tab, the footer, what is read from the
 * program while a page is shown, scrolling, sorting and enum page all follow from these.
 */
#ifndef MEMTOP_TUI_PAGES_H
#define MEMTOP_TUI_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/keys.h"
#include "tui/layout.h"

/* In the order of Tab: name in enum page, the digit that shows it (0: none), and the end
   of its definition's name, page_... */
#define PAGES(X)                 \
    X(OVERVIEW, '1', overview)   \
    X(CALLS, '2', calls)         \
    X(SIZES, '3', sizes)         \
    X(THREADS, '4', threads)     \
    X(PROCESSES, '5', processes) \
    X(MEMORY, '6', memory)       \
    X(OUTPUT, '7', output)       \
    X(MESSAGES, '8', messages)   \
    X(SITES, '9', sites)         \
    X(BLOCKS, '0', blocks)

enum page {
#define X(id, key, name) PAGE_##id,
    PAGES(X)
#undef X
    PAGE_COUNT
};
#define PAGES_MAX 16
_Static_assert(PAGE_COUNT <= PAGES_MAX, "room for what is remembered of each page");

struct app;
struct screen;
struct scene;
struct table;
struct view;

/* What is read only while a page shows it. */
enum page_reads {
    PAGE_READS_SIZES = 1,    /* the histogram of block sizes */
    PAGE_READS_THREADS = 2,
    PAGE_READS_BANDS = 4,    /* the RSS breakdown */
    PAGE_READS_FIGURES = 8,  /* figures of every process */
    PAGE_READS_PROFILE = 16, /* the profile of allocation sites */
    PAGE_READS_BLOCKS = 32   /* counts by exact block size */
};

/* A key that only one page uses, and its word in the footer, untranslated. */
struct page_word {
    enum action action;
    const char *word;
};

/* Definition of a page.  Every member but draw may be left out. */
struct page_def {
    const char *title; /* untranslated; may hold a printf conversion that the page fills
                          in */
    unsigned reads;    /* bits of enum page_reads */

    /* Draws the page; see view.h for the rules. */
    void (*draw)(struct screen *screen, const struct view *view,
                 const struct scene *scene);
    /* Places its blocks; default: layout_page(). */
    void (*layout)(int rows, int cols, const struct content *content,
                   struct layout *layout);
    /* Number of lines to scroll through, headings included; valid after drawing. */
    int (*lines)(const struct screen *screen, const struct view *view,
                 const struct scene *scene);
    bool at_end;               /* the page rests at its last line and scrolls back */
    const struct table *table; /* the table that the keys s and R sort */

    const struct page_word *words; /* shown behind those in the footer of every page */
    size_t word_count;

    /* The search key '/': the prompt, untranslated, with %s for the text typed so far; a
       function that takes the answer; and one that returns the text to start from. */
    const char *asks;
    void (*find)(struct app *app, const char *text);
    const char *(*typed)(const struct view *view);

    /* Handles a key; returns false if the key has its usual meaning. */
    bool (*key)(struct app *app, enum action action);
    /* Moves the page's cursor by lines; returns false if the page scrolls instead. */
    bool (*scroll)(struct app *app, int lines);
    /* Handles a click on a line of the list that the page draws. */
    void (*click)(struct app *app, int line);
};

#define X(id, key, name) extern const struct page_def page_##name;
PAGES(X)
#undef X

const struct page_def *pages_def(enum page page);

/* The title, translated. */
const char *pages_title(enum page page);

/* The page that a character shows; at least pages_count() if there is none. */
enum page pages_of_key(int key);

/* The page `steps` after this one (< 0: before it) in the order of Tab. */
enum page pages_next(enum page page, int steps);
unsigned pages_count(void);

#endif
