/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pages of the display.  A page is a file that defines a struct page_def, and one
 * line of this list.  The keys that show pages, Tab, the footer, what is read from the
 * program while a page is shown, scrolling and sorting all follow from these; so does
 * enum page.
 */
#ifndef MEMTOP_TUI_PAGES_H
#define MEMTOP_TUI_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/keys.h"
#include "tui/layout.h"

/* In the order of Tab: name in enum page, the digit that shows it (0: none), and what
   the name of its definition, page_..., ends in. */
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
    PAGE_READS_SIZES = 1,    /* blocks by size */
    PAGE_READS_THREADS = 2,
    PAGE_READS_BANDS = 4,    /* where the RSS went */
    PAGE_READS_FIGURES = 8,  /* of every process */
    PAGE_READS_PROFILE = 16, /* where memory was allocated */
    PAGE_READS_BLOCKS = 32   /* blocks by exact size */
};

/* A key that is of use on a page alone, and its word in the footer, untranslated. */
struct page_word {
    enum action action;
    const char *word;
};

/* All but draw may be left out. */
struct page_def {
    const char *title; /* untranslated; may have a place for what the page fills in */
    unsigned reads;    /* of enum page_reads */

    /* Draws it, as view.h says. */
    void (*draw)(struct screen *screen, const struct view *view,
                 const struct scene *scene);
    /* Where its blocks stand; layout_page() if left out. */
    void (*layout)(int rows, int cols, const struct content *content,
                   struct layout *layout);
    /* How many lines there are to scroll, headings included, after it was drawn. */
    int (*lines)(const struct screen *screen, const struct view *view,
                 const struct scene *scene);
    bool at_end;               /* it rests at its last line and scrolls back */
    const struct table *table; /* what s and R sort */

    const struct page_word *words; /* behind those in the footer of every page */
    size_t word_count;

    /* What '/' asks for: untranslated, with %s for what was typed so far; acts on the
       answer; what the answer begins with. */
    const char *asks;
    void (*find)(struct app *app, const char *text);
    const char *(*typed)(const struct view *view);

    /* Acts on a key; false: it means what it means on every page. */
    bool (*key)(struct app *app, enum action action);
    /* Moves a cursor by so many lines; false: the page scrolls. */
    bool (*scroll)(struct app *app, int lines);
    /* Acts on a click at a line of the list it draws. */
    void (*click)(struct app *app, int line);
};

#define X(id, key, name) extern const struct page_def page_##name;
PAGES(X)
#undef X

const struct page_def *pages_def(enum page page);

/* The title, translated. */
const char *pages_title(enum page page);

/* The page that a character shows; a value of at least pages_count() if none. */
enum page pages_of_key(int key);

/* The page so many after this one, < 0 before it, in the order of Tab. */
enum page pages_next(enum page page, int steps);
unsigned pages_count(void);

#endif
