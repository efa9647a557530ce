/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files of the module memtop-png.so: what its pictures are drawn with. */
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

struct picture {
    gdImagePtr image;
    bool fontconfig;
    bool letters_missing;    /* no font has some of those that were drawn */
    const struct plot *plot; /* of a run; NULL in others */
    struct plot_layout layout;
};

/* How a text is to look. */
struct style {
    int height;   /* of its line, pixels */
    int colour;
    int align;
    bool bold;
};

/* A white picture of that size; false if memory is short. */
bool png_begin(struct picture *picture, int width, int height);

/* Writes it to out if all was drawn, and lets go of it.  False if memory was short;
   error says so, or if true what the picture lacks, or nothing. */
bool png_finish(struct picture *picture, bool drawn, FILE *out, char *error, size_t size);

/* What is said where memory is short. */
void png_no_memory(char *error, size_t size);

/* Text in the line whose top is y, its left, middle or right end at x; over curves,
   which fade behind it; as much of it as fits into width, over curves. */
void png_text(struct picture *picture, int x, int y, const struct style *style,
              const char *text);
void png_text_over(struct picture *picture, int x, int y, const struct style *style,
                   const char *text);
void png_text_fitting(struct picture *picture, int x, int y, int width,
                      const struct style *style, const char *text);

/* A plot_ruler's; context is the picture. */
int png_text_width(void *picture, const char *text, int height);

/* How many times larger the layer of a chart is, and a rectangle on it in fractions
   of the picture's pixels. */
int png_layer_factor(const struct plot_box *chart);
void png_fill(gdImagePtr layer, int factor, double x, double y, double width,
              double height, int colour);

#endif
