/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What all pictures are drawn with: text, and layers that are scaled down.  Text is drawn
 * on the picture itself, because FreeType smooths it better than scaling does.
 */
#include "config.h"

#include "report/png-draw.h"

#if HAVE_FONTCONFIG
#include <fontconfig/fontconfig.h>
#endif
#include <gdfontg.h>
#include <gdfonts.h>
#include <gdfontt.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "report/png.h"

/* Largest size of a layer in pixels, of 4 bytes each. */
#define LAYER_PIXELS 16000000
#define FONT_PATTERN_MAX 256
#define FONT_CHARACTERS  24

static void
ignore_message(int priority, const char *format, va_list arguments)
{
    (void)priority;
    (void)format;
    (void)arguments;
}

bool
png_begin(struct png_picture *picture, int width, int height)
{
    gdSetErrorMethod(ignore_message); /* must not reach the display */
    picture->fontconfig = gdFTUseFontConfig(1);
    picture->image = gdImageCreateTrueColor(width, height);
    if (picture->image == NULL)
        return false;
    gdImageFilledRectangle(picture->image, 0, 0, width - 1, height - 1, WHITE);
    return true;
}

void
png_no_memory(char *error, size_t size)
{
    snprintf(error, size, "%s", _("not enough memory for the picture"));
}

bool
png_finish(struct png_picture *picture, bool drawn, FILE *out, char *error, size_t size)
{
    int length = 0;
    void *data = drawn ? gdImagePngPtr(picture->image, &length) : NULL;
    bool made = data != NULL && length > 0;

    if (made)
        fwrite(data, 1, (size_t)length, out); /* the caller checks ferror() */
    gdFree(data);
    gdImageDestroy(picture->image);
    *error = '\0';
    if (!made)
        png_no_memory(error, size);
    else if (picture->letters_missing)
        snprintf(error, size, "%s",
                 _("some letters are missing in the picture: no installed font has "
                   "them"));
    return made;
}

/* ---- text ---- */

/* Decodes a character; the UTF-8 is known to be valid (plot.h). */
static unsigned long
next_character(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    unsigned length = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
    unsigned long c = length == 1 ? *p : *p & (0x7fu >> length);

    for (unsigned i = 1; i < length; i++)
        c = c << 6 | (p[i] & 0x3f);
    *text += length;
    return c;
}

/* DejaVu has Latin, Greek, Cyrillic and signs. */
static bool
is_common(unsigned long c)
{
    return c < 0x590 || (c >= 0x2000 && c < 0x2300);
}

/* The number of bytes at the start of text that one font can draw. */
static size_t
run_length(const char *text)
{
    const char *end = text;
    bool common = is_common(next_character(&end));

    while (*end != '\0') {
        const char *next = end;

        if (is_common(next_character(&next)) != common)
            break;
        end = next;
    }
    return (size_t)(end - text);
}

/* The fontconfig pattern of a font for a run of text.  For scripts that DejaVu lacks it
   lists the characters needed. */
static void
font_pattern(char pattern[FONT_PATTERN_MAX], const char *run, bool bold)
{
    const char *style = bold ? ":bold" : "";
    const char *at = run;
    size_t used;

    snprintf(pattern, FONT_PATTERN_MAX, "DejaVu Sans,sans%s", style);
    if (is_common(next_character(&at)))
        return;
    snprintf(pattern, FONT_PATTERN_MAX, "sans%s:charset=", style);
    for (int i = 0; i < FONT_CHARACTERS && *run != '\0'; i++) {
        used = strlen(pattern);
        snprintf(pattern + used, FONT_PATTERN_MAX - used, i > 0 ? " %lx" : "%lx",
                 next_character(&run));
    }
}

/* Is it a letter that gd's own fonts lack?  An ellipsis or a dash does not matter. */
static bool
is_letter(unsigned long c)
{
    return c >= 0x80 && (c < 0x2000 || c >= 0x2300);
}

/* Does the font of a pattern have all letters of a run? */
static bool
font_has(const char *pattern, const char *run)
{
#if HAVE_FONTCONFIG
    FcPattern *wanted = FcNameParse((const FcChar8 *)pattern), *font = NULL;
    FcCharSet *letters = NULL;
    FcResult result;
    bool all = true;

    if (wanted != NULL && FcConfigSubstitute(NULL, wanted, FcMatchPattern)) {
        FcDefaultSubstitute(wanted);
        font = FcFontMatch(NULL, wanted, &result);
    }
    if (font != NULL
        && FcPatternGetCharSet(font, FC_CHARSET, 0, &letters) == FcResultMatch) {
        while (*run != '\0') {
            unsigned long c = next_character(&run);

            all = all && (!is_letter(c) || FcCharSetHasChar(letters, (FcChar32)c));
        }
    }
    if (font != NULL)
        FcPatternDestroy(font);
    if (wanted != NULL)
        FcPatternDestroy(wanted);
    return all;
#else
    (void)pattern;
    (void)run;
    return true;
#endif
}

/* gd's own fonts, for a system without others. */
static gdFontPtr
plain_font(int height)
{
    return height >= 20   ? gdFontGetGiant()
           : height >= 12 ? gdFontGetSmall()
                          : gdFontGetTiny();
}

static void
plain_text(struct png_picture *picture, char *out, size_t size, const char *text)
{
    size_t used = 0;

    while (*text != '\0' && used + 1 < size) {
        unsigned long c = next_character(&text);

        if (c == 0xb5)   /* the sign in µs */
            c = 'u';
        out[used++] = c < 0x80 ? (char)c : '?';
        picture->letters_missing |= is_letter(c);
    }
    out[used] = '\0';
}

/* A line of 16 pixels holds 9 points (at gd's 96 dots an inch) and some space. */
static double
points(int height)
{
    return height * 9.0 / 16;
}

/* Draws a run with its left end on the baseline, or only measures it if there is no
   image.  Returns its width, -1 if there is no font. */
static int
draw_run(struct png_picture *picture, gdImagePtr image, const char *run,
         const struct style *style, int x, int y)
{
    char pattern[FONT_PATTERN_MAX];
    int box[8];

    font_pattern(pattern, run, style->bold);
    if (gdImageStringFT(image, box, style->colour, pattern, points(style->height), 0, x,
                        y, (char *)run)
        != NULL)
        return -1;
    if (image != NULL && !picture->letters_missing)
        picture->letters_missing = !font_has(pattern, run);
    return box[2] - x;
}

/* Draws or measures text run by run. */
static int
draw_runs(struct png_picture *picture, gdImagePtr image, const char *text,
          const struct style *style, int x, int y)
{
    int begin = x;

    while (*text != '\0') {
        char run[PLOT_TEXT_MAX];
        size_t length = run_length(text);
        int width;

        snprintf(run, sizeof run, "%.*s", (int)length, text);
        width = draw_run(picture, image, run, style, x, y);
        if (width < 0)
            return -1;
        x += width;
        text += length;
    }
    return x - begin;
}

static int
styled_width(struct png_picture *picture, const char *text, const struct style *style)
{
    char plain[PLOT_TEXT_MAX];
    int width = picture->fontconfig ? draw_runs(picture, NULL, text, style, 0, 0) : -1;

    if (width >= 0)
        return width;
    picture->fontconfig = false;
    plain_text(picture, plain, sizeof plain, text);
    return (int)strlen(plain) * plain_font(style->height)->w;
}

/* For a plot_ruler. */
int
png_text_width(void *context, const char *text, int height)
{
    const struct style style = {height, 0, LEFT, false};

    return styled_width(context, text, &style);
}

static int
aligned(int x, int width, int align)
{
    return align == LEFT ? x : align == CENTRE ? x - width / 2 : x - width;
}

/* The left end of text whose left, middle or right end is to be at x, limited to the
   picture. */
static int
text_left(struct png_picture *picture, int x, const struct style *style, const char *text)
{
    int width = styled_width(picture, text, style);

    x = aligned(x, width, style->align);
    if (x + width > picture->image->sx - 2)
        x = picture->image->sx - 2 - width;
    return x < 2 ? 2 : x;
}

/* Draws text in the line whose top is y. */
void
png_text(struct png_picture *picture, int x, int y, const struct style *style,
         const char *text)
{
    char plain[PLOT_TEXT_MAX];

    x = text_left(picture, x, style, text);
    if (picture->fontconfig) {
        draw_runs(picture, picture->image, text, style, x, y + style->height * 25 / 32);
        return;
    }
    plain_text(picture, plain, sizeof plain, text);
    gdImageString(picture->image, plain_font(style->height), x,
                  y + (style->height - plain_font(style->height)->h) / 2,
                  (unsigned char *)plain, style->colour);
}

bool
memtop_png_has_letters(const char *text)
{
    const struct style style = {16, INK, LEFT, false};
    struct png_picture picture = {.image = NULL};

    if (png_begin(&picture, 1, 1)) {
        png_text(&picture, 0, 0, &style, text);
        gdImageDestroy(picture.image);
    }
    return !picture.letters_missing;
}

/* Draws text on a background that fades lines behind it. */
void
png_text_over(struct png_picture *picture, int x, int y, const struct style *style,
              const char *text)
{
    int left = text_left(picture, x, style, text);

    gdImageFilledRectangle(picture->image, left - 3, y,
                           left + styled_width(picture, text, style) + 2,
                           y + style->height - 1, gdTrueColorAlpha(255, 255, 255, 30));
    png_text(picture, x, y, style, text);
}

/* Shortens text to width, ending in an ellipsis. */
static void
fit_text(struct png_picture *picture, char out[PLOT_TEXT_MAX], const char *text,
         int width, const struct style *style)
{
    size_t length = strlen(text);

    snprintf(out, PLOT_TEXT_MAX, "%s", text);
    while (length > 0 && styled_width(picture, out, style) > width) {
        do
            length--;
        while (length > 0 && (text[length] & 0xc0) == 0x80);
        snprintf(out, PLOT_TEXT_MAX, "%.*s\xe2\x80\xa6", (int)length, text);
    }
}

void
png_text_fitting(struct png_picture *picture, int x, int y, int width,
                 const struct style *style, const char *text)
{
    char fitting[PLOT_TEXT_MAX];

    fit_text(picture, fitting, text, width, style);
    png_text_over(picture, x, y, style, fitting);
}

/* ---- layers ---- */

/* How many times larger than the chart its layer is. */
int
png_layer_factor(const struct plot_box *chart)
{
    int factor = 3;

    while (factor > 1
           && (int64_t)chart->width * chart->height * factor * factor > LAYER_PIXELS)
        factor--;
    return factor;
}

/* Fills a rectangle on the layer, given in fractions of the picture's pixels. */
void
png_fill(gdImagePtr layer, int factor, double x, double y, double width, double height,
     int colour)
{
    int left = (int)(x * factor + 0.5), top = (int)(y * factor + 0.5);
    int right = (int)((x + width) * factor + 0.5) - 1;
    int bottom = (int)((y + height) * factor + 0.5) - 1;

    gdImageFilledRectangle(layer, left, top, right < left ? left : right,
                           bottom < top ? top : bottom, colour);
}
