/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the module memtop-png.so: what its pictures are drawn with. */
#ifndef MEMTOP_PNG_DRAW_H
#define MEMTOP_PNG_DRAW_H

#include <gd.h>
#include <stdbool.h>
#include <stdio.h>

#include "report/plot-layout.h"

#define WHITE      0xffffff
#define INK        0x222222
#define INK_SOFT   0x666666
#define FRAME      0x999999
#define GRID       0xdedede
#define HEAP       0x0072b2
#define HEAP_FILL  0xc2dff0
#define HEAP_LIGHT 0x8cc3e3
#define RSS        0x3a3a3a
#define STACK      0xd55e00
#define TOTAL      0xb0407f

enum { LEFT, CENTRE, RIGHT };

struct png_picture {
    gdImagePtr image;
    bool fontconfig;
    bool letters_missing;    /* some letters drawn are in no font */
    const struct plot *plot; /* the plot of a run, or NULL */
    struct plot_layout layout;
};

/* The style of a text. */
struct style {
    int height;   /* of the line, in pixels */
    int colour;
    int align;
    bool bold;
};

/* Begins a white picture of that size; false if memory is short. */
bool png_begin(struct png_picture *picture, int width, int height);

/* Writes the picture to out if all was drawn, and frees it.  Returns false if memory was
   short, with the message in error.  If true, error says what the picture lacks, or
   nothing. */
bool png_finish(struct png_picture *picture, bool drawn, FILE *out, char *error,
                size_t size);

/* The message for lack of memory. */
void png_no_memory(char *error, size_t size);

/* Draw text in the line whose top is y, with its left, middle or right end at x; over
   lines, which fade behind it; shortened to width, over lines. */
void png_text(struct png_picture *picture, int x, int y, const struct style *style,
              const char *text);
void png_text_over(struct png_picture *picture, int x, int y, const struct style *style,
                   const char *text);
void png_text_fitting(struct png_picture *picture, int x, int y, int width,
                      const struct style *style, const char *text);

/* For a plot_ruler; picture is its context. */
int png_text_width(void *picture, const char *text, int height);

/* How many times larger the layer of a chart is; and fills a rectangle on it, given in
   fractions of the picture's pixels. */
int png_layer_factor(const struct plot_box *chart);
void png_fill(gdImagePtr layer, int factor, double x, double y, double width,
              double height, int colour);

#endif
