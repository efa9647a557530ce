/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plot as a PNG file.  The drawing stands in a module of its own,
 * memtop-png.so, loaded at the first picture: libgd and what it brings would
 * cost every run memory and start-up time.
 */
#ifndef MEMTOP_PNG_H
#define MEMTOP_PNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/plot.h"

/*
 * Writes plot to a new file, path, with the module at that path (NULL or "" if
 * it was not found).  An existing file is never touched, unless replace; a file
 * that could not be written to its end is removed.  False: error holds one translated line
 * that says what failed and why; true: it is empty, or says what the picture lacks.
 */
bool png_write(const struct plot *plot, const char *module, const char *path,
               bool replace, char *error, size_t size);

/* Whether it could: the module is there and can be loaded.  False: error says why not. */
bool png_usable(const char *module, char *error, size_t size);

/*
 * Whether messages are English until png_spoken(): if they are so that what a picture says
 * can be read, for the module at that path has no font with the letters of the user's
 * language.  Goes around what makes a plot; png_write() does so itself.
 */
bool png_speak(const char *module);
void png_spoken(void);

/* As png_write() for any drawing: the symbol in the module, what is drawn, and how the
   symbol is called for it. */
struct png_drawing {
    const char *symbol;
    const void *plot;
    bool (*draw)(const void *plot, void *function, FILE *out, char *error, size_t size);
};
bool png_write_drawing(const struct png_drawing *drawing, const char *module,
                       const char *path, bool replace, char *error, size_t size);

/* The module's symbol for a plot, and its type.  Changes with struct plot: the module
   refuses a plot of another size.  Draws, writes to out, false with error. */
#define PNG_MODULE_SYMBOL "memtop_png_draw"
typedef bool png_draw_function(const struct plot *plot, size_t plot_size, FILE *out,
                               char *error, size_t size);
__attribute__((visibility("default"))) png_draw_function memtop_png_draw;

/* Whether the fonts here have all letters of a text, which is UTF-8. */
#define PNG_LETTERS_SYMBOL "memtop_png_has_letters"
typedef bool png_letters_function(const char *text);
__attribute__((visibility("default"))) png_letters_function memtop_png_has_letters;

#endif
