/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of the pages.  A table is data: its columns, each with a title, the width it
 * needs, its rank when the window narrows, the text of a cell and the key to sort by.
 * The table decides which columns are shown and how wide they are, and draws headings,
 * rows and the cursor.
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
    const void *data; /* belongs to the page */
    size_t count;
    const void *(*row)(const struct table_rows *rows, size_t index);
    const uint16_t *order;   /* set by table_sort(); NULL: order of row() */
    size_t first;            /* first row shown, after scrolling */
    size_t selected;         /* row at the cursor, or TABLE_NO_ROW */
    const struct sort *sort; /* how they are sorted, for the headings; NULL: not */
};

/* What the callbacks of a column get. */
struct table_at {
    const struct table_rows *rows;
    const void *data; /* of these rows */
    const struct table_column *column;
    const void *row; /* the cell's row, if it is about a cell */
    int cols;        /* for content: width left by more important columns; for a heading:
                        the width of the column */
};

/* Text of a cell or heading, to be filled in by a callback. */
struct table_cell {
    char room[128];   /* for a text that has to be made; "" at first */
    const char *text; /* points to room at first; may be untrusted */
    enum role role;   /* the column's role at first */
};

/*
 * A column is as wide as the widest of its title, `least`, the result of `content` and,
 * if `fit`, the cells of all rows. `gap` and `room` are added.
 */
struct table_column {
    int id;            /* chosen by the page, for callbacks that serve several columns */
    const char *title; /* untranslated; NULL: no title */
    /* Makes the heading instead of title, if it changes.  Does not count for the
       width. */
    void (*heading)(struct table_cell *cell, const struct table_at *at);

    enum text_align align;
    enum role role;
    int gap;   /* blanks before the text */
    int room;  /* spare columns, used by longer texts and by the sign of sorting */
    int least; /* least width of the text */
    int fixed; /* the whole width, whatever the cells hold; 0: as described above */
    bool fit;
    int (*content)(const struct table_at *at); /* the width that some text needs */

    /* A growing column takes the width that the others leave, which may be less than it
       needs; its title does not count.  Several growing columns share that width.  If
       part is set, the column first gets part[0]/part[1] of the window. */
    bool grow;
    int part[2];

    /* Columns of rank 0 are always shown.  The others follow by rank while there is
       room; after the first that does not fit, all of higher rank are left out.  Loose
       columns are exempt: each is shown if it fits. */
    int rank;
    bool loose;
    bool (*shown)(const struct table_at *at); /* NULL: always */

    /* The column's number in struct sort; 0: cannot be sorted by.  Rows with greater
       keys come first. key is NULL if the page sorts by itself. */
    unsigned sort;
    uint64_t (*key)(const struct table_at *at);

    /* Set one of them: cell makes the text, draw draws the field.  With neither the cell
       is blank. */
    void (*cell)(struct table_cell *cell, const struct table_at *at);
    void (*draw)(struct canvas *canvas, const struct rect *field,
                 const struct table_at *at);
};

struct table {
    const struct table_column *columns;
    size_t count;     /* at most TABLE_COLUMNS_MAX */
    int margin;       /* blanks at the right end */
    bool bare;        /* has no headings */
    int narrow_below; /* `narrow` is drawn in windows with fewer columns than this */
    /* The table for narrow windows, also drawn if the columns of rank 0 do not fit.
       NULL: they are clipped. */
    const struct table *narrow;
};

/* Common settings of columns: a right-aligned figure after a blank; the same with room
   for a sign. */
#define TABLE_FIGURE .align = TEXT_RIGHT, .gap = 1
#define TABLE_SIGNED TABLE_FIGURE, .room = 1

#define TABLE_COLUMNS(array) .columns = (array), .count = sizeof(array) / sizeof *(array)

/* Does a table of this height have headings? */
bool table_has_headings(int lines);
/* Number of rows that fit a table of this height, besides the headings. */
int table_room(int lines);

/* Draws headings and rows within rect. */
void table_draw(struct canvas *canvas, const struct rect *rect, const struct table *table,
                const struct table_rows *rows);

/* The width that a column needs; for the content() of another column. */
int table_needs(const struct table_at *at, const struct table_column *column);

/* The width of a typical size in this unit; units are wide in some languages. */
int table_bytes_cols(enum unit unit);

/* The translated title of the column with number sort in struct sort; NULL if there is
   none. */
const char *table_sort_title(const struct table *table, unsigned sort);

/* Sorts the rows as rows->sort says. keys and order must have room for rows->count
   elements; rows->order points to order afterwards. */
void table_sort(const struct table *table, struct table_rows *rows, uint64_t *keys,
                uint16_t *order);

/* The row at index, in sorted order. */
const void *table_row(const struct table_rows *rows, size_t index);

#endif
