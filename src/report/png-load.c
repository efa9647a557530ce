/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the drawing module and gives it a file to write to.  All that can go wrong with
 * files happens here and is reported with the file's name; a picture is either complete
 * or absent.
 */
#include "config.h"

#include "report/png.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/textwidth.h"

/* Formats an error with an untrusted name. */
static void
explain(char *error, size_t size, const char *format, const char *name, const char *why)
{
    char clean[PLOT_TEXT_MAX];

    snprintf(error, size, format, text_sanitise(clean, sizeof clean, name, strlen(name)),
             why);
}

/* Looks up a symbol of the module, which is loaded once and never unloaded. */
static void *
load(const char *module, const char *symbol, char *error, size_t size)
{
    static void *handle;
    void *found;

    if (handle == NULL && (module == NULL || *module == '\0')) {
        snprintf(error, size, "%s", _("memtop-png.so is not installed: memtop cannot "
                                      "draw pictures"));
        return NULL;
    }
    if (handle == NULL)
        handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    found = handle != NULL ? dlsym(handle, symbol) : NULL;
    if (found == NULL)
        explain(error, size, _("cannot load %s: %s"), module, dlerror());
    return found;
}

bool
png_usable(const char *module, char *error, size_t size)
{
    return load(module, PNG_MODULE_SYMBOL, error, size) != NULL;
}

/* ---- the language ---- */

/* Words that appear in pictures, in the user's language. */
static char *
some_words(char buf[PLOT_TEXT_MAX])
{
    char text[PLOT_TEXT_MAX];

    snprintf(text, sizeof text, "%s %s %s %s %s", _("heap"), _("stack"), _("calls"),
             _("block size"), _("coverage"));
    return text_utf8(buf, PLOT_TEXT_MAX, text);
}

static bool
has_letters(const char *module)
{
    png_letters_function *has = (png_letters_function *)load(
        module, PNG_LETTERS_SYMBOL, (char[PLOT_TEXT_MAX]){""}, PLOT_TEXT_MAX);
    char words[PLOT_TEXT_MAX];

    return has == NULL || has(some_words(words));
}

static char *own_language;   /* set while messages are English */

bool
png_speak(const char *module)
{
    if (!has_letters(module))
        own_language = strdup(setlocale(LC_MESSAGES, NULL));
    if (own_language != NULL)
        setlocale(LC_MESSAGES, "C");
    return own_language != NULL;
}

void
png_spoken(void)
{
    if (own_language == NULL)
        return;
    setlocale(LC_MESSAGES, own_language);
    free(own_language);
    own_language = NULL;
}

/* Draws in a language that can be displayed; the module's message is translated
   afterwards. */
static bool
draw(const struct png_drawing *drawing, const char *module, void *function, FILE *out,
     char *error, size_t size)
{
    bool english = png_speak(module), drawn;
    char message[PLOT_TEXT_MAX];

    *error = '\0';
    drawn = drawing->draw(drawing->plot, function, out, error, size);
    png_spoken();
    snprintf(message, sizeof message, "%s", error);
    if (english && *message != '\0')
        snprintf(error, size, "%s", gettext(message));
    else if (english && drawn)
        snprintf(error, size, "%s",
                 _("the picture is in English: no installed font has this language's "
                   "letters"));
    return drawn;
}

/* ---- files ---- */

/* Removes a regular file, not a device that was written to. */
static void
remove_file(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
        unlink(path);
}

/* Opens a file that did not exist, or an emptied one if replace; NULL on failure. */
static FILE *
create(const char *path, bool replace, char *error, size_t size)
{
    int descriptor =
        open(path, O_CREAT | (replace ? O_TRUNC : O_EXCL) | O_WRONLY | O_CLOEXEC, 0666);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;

    if (file == NULL) {
        explain(error, size, _("cannot create %s: %s"), path, strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
            remove_file(path);
        }
    }
    return file;
}

bool
png_write_drawing(const struct png_drawing *drawing, const char *module,
                  const char *path, bool replace, char *error, size_t size)
{
    void *function = load(module, drawing->symbol, error, size);
    FILE *file = function != NULL ? create(path, replace, error, size) : NULL;
    bool drawn, written;

    if (file == NULL)
        return false;
    drawn = draw(drawing, module, function, file, error, size);
    written = !ferror(file);
    written = fclose(file) == 0 && written;
    if (drawn && !written)
        explain(error, size, _("cannot write %s: %s"), path, strerror(errno));
    if (!drawn || !written)
        remove_file(path);
    return drawn && written;
}

static bool
draw_plot(const void *plot, void *function, FILE *out, char *error, size_t size)
{
    return ((png_draw_function *)function)(plot, sizeof(struct plot), out, error, size);
}

bool
png_write(const struct plot *plot, const char *module, const char *path, bool replace,
          char *error, size_t size)
{
    const struct png_drawing drawing = {PNG_MODULE_SYMBOL, plot, draw_plot};

    return png_write_drawing(&drawing, module, path, replace, error, size);
}
