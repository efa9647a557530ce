/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a plot as a PNG file.  The drawing code is a module of its own, memtop-png.so,
 * loaded for the first picture: libgd and its dependencies would cost every run memory
 * and start-up time.
 */
#ifndef MEMTOP_PNG_H
#define MEMTOP_PNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/plot.h"

/*
 * Writes plot to a new file, path, with the module at that path (NULL or "" if it was not
 * found).  An existing file is never touched, unless replace; a file that could not be
 * completed is removed.  Returns false with one translated line in error that says what
 * failed and why.  If true, error is empty or says what the picture lacks.
 */
bool png_write(const struct plot *plot, const char *module, const char *path,
               bool replace, char *error, size_t size);

/* Could it write one: is the module there and can it be loaded?  If false, error says why
   not. */
bool png_usable(const char *module, char *error, size_t size);

/*
 * Switches messages to English until png_spoken(), if the module at that path has no font
 * with the letters of the user's language, so that a picture can be read; returns whether
 * it did.  Call both around the code that makes a plot; png_write() does so itself.
 */
bool png_speak(const char *module);
void png_spoken(void);

/* Like png_write() for any drawing: the module's symbol, what is drawn, and a function
   that calls the symbol. */
struct png_drawing {
    const char *symbol;
    const void *plot;
    bool (*draw)(const void *plot, void *function, FILE *out, char *error, size_t size);
};
bool png_write_drawing(const struct png_drawing *drawing, const char *module,
                       const char *path, bool replace, char *error, size_t size);

/* The module's symbol for a plot, and its type.  The type changes with struct plot: the
   module refuses a plot of another size.  Draws and writes to out; false with error. */
#define PNG_MODULE_SYMBOL "memtop_png_draw"
typedef bool png_draw_function(const struct plot *plot, size_t plot_size, FILE *out,
                               char *error, size_t size);
__attribute__((visibility("default"))) png_draw_function memtop_png_draw;

/* Do the fonts of this system have all letters of a UTF-8 text? */
#define PNG_LETTERS_SYMBOL "memtop_png_has_letters"
typedef bool png_letters_function(const char *text);
__attribute__((visibility("default"))) png_letters_function memtop_png_has_letters;

#endif
