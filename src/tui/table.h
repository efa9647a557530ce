/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of the pages.  A table is data: its columns, each with a title, the width it
 * needs, its rank when the window narrows, how a cell reads and what the rows are sorted
 * by.  The table decides which columns are shown and how wide they are, and draws
 * headings, rows and the cursor.
 *
 * Widths are in columns of the terminal, whatever the language.  Drawing allocates
 * nothing and changes nothing but the canvas.
 */
#ifndef MEMTOP_TUI_TABLE_H
#define MEMTOP_TUI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "tui/canvas.h"
#include "tui/sort.h"

#define TABLE_COLUMNS_MAX 24
#define TABLE_NO_ROW SIZE_MAX

/* The rows to draw. */
struct table_rows {
    const void *data; /* the page's own */
    size_t count;
    const void *(*row)(const struct table_rows *rows, size_t index);
    const uint16_t *order;   /* of table_sort(); NULL: as row() has them */
    size_t first;            /* the first one shown: as far as the page is scrolled */
    size_t selected;         /* where the cursor stands, or TABLE_NO_ROW */
    const struct sort *sort; /* the order they are in, for the headings; NULL: none */
};

/* What a column is asked about. */
struct table_at {
    const struct table_rows *rows;
    const void *data; /* of these rows */
    const struct table_column *column;
    const void *row; /* one of them, where it is about a cell */
    int cols;        /* content: what more important columns leave; heading: the width of
                        the column */
};

/* What stands in a cell, or in a heading. */
struct table_cell {
    char room[128];   /* for a text that has to be made; "" at first */
    const char *text; /* room at first; may be untrusted */
    enum role role;   /* the column's at first */
};

/*
 * A column is as wide as the widest of its title, `least`, what `content` says and, if
 * `fit`, the cells of all rows; `gap` and `room` are added.
 */
struct table_column {
    int id;            /* the page's own, for callbacks of several columns */
    const char *title; /* untranslated; NULL: none */
    /* In place of the title, for a heading that changes.  Not part of the width. */
    void (*heading)(struct table_cell *cell, const struct table_at *at);

    enum text_align align;
    enum role role;
    int gap;   /* blanks before the text */
    int room;  /* columns that only a longer text uses, or the sign of sorting */
    int least; /* width of the text */
    int fixed; /* the whole width, whatever is in it; 0: see above */
    bool fit;
    int (*content)(const struct table_at *at); /* the width that some text needs */

    /* Takes what the others leave, which may be less than it needs; its title does not
       count.  Several share it.  With a part it is given part[0]/part[1] of the window
       before others get anything. */
    bool grow;
    int part[2];

    /* 0: always there.  The others come in this order as long as there is room; after
       one that has none the rest are left out.  Loose ones do not take part in that:
       each is shown if it finds room. */
    int rank;
    bool loose;
    bool (*shown)(const struct table_at *at); /* NULL: it is */

    /* The column's number in struct sort; 0: it is not sorted by.  Rows with greater
       keys come first; no key: the page sorts by itself. */
    unsigned sort;
    uint64_t (*key)(const struct table_at *at);

    /* One of them: what a cell reads, or draws in its field; none: it is blank. */
    void (*cell)(struct table_cell *cell, const struct table_at *at);
    void (*draw)(struct canvas *canvas, const struct rect *field,
                 const struct table_at *at);
};

struct table {
    const struct table_column *columns;
    size_t count;     /* at most TABLE_COLUMNS_MAX */
    int margin;       /* blanks at the right */
    bool bare;        /* it never has headings */
    int narrow_below; /* columns of the window: below, `narrow` is drawn instead */
    /* ... and where the columns of rank 0 do not fit; NULL: then they are cut. */
    const struct table *narrow;
};

/* The beginnings of columns: figures stand at the right behind a blank; some may have a
   sign. */
#define TABLE_FIGURE .align = TEXT_RIGHT, .gap = 1
#define TABLE_SIGNED TABLE_FIGURE, .room = 1

#define TABLE_COLUMNS(array) .columns = (array), .count = sizeof(array) / sizeof *(array)

/* Whether so many lines have headings; how many rows they have room for. */
bool table_has_headings(int lines);
int table_room(int lines);

/* Headings and rows, within rect. */
void table_draw(struct canvas *canvas, const struct rect *rect, const struct table *table,
                const struct table_rows *rows);

/* The width that a column needs, for `content` of another one. */
int table_needs(const struct table_at *at, const struct table_column *column);

/* The width of a size as most are: units are wide in some languages. */
int table_bytes_cols(enum unit unit);

/* The title of the column with this number in struct sort, translated; NULL if the
   table has none. */
const char *table_sort_title(const struct table *table, unsigned sort);

/* Puts the rows in the order of rows->sort.  There must be room in both arrays for all
   of them; order is used from then on. */
void table_sort(const struct table *table, struct table_rows *rows, uint64_t *keys,
                uint16_t *order);

/* The index-th row, as they are ordered. */
const void *table_row(const struct table_rows *rows, size_t index);

#endif
