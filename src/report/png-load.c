/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the drawing module and gives it a file to write to.  All that can go
 * wrong with files happens here and is told with the file's name; a picture is
 * either whole or not there.
 */
#include "config.h"

#include "report/png.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "i18n.h"
#include "report/textwidth.h"

/* Both need gettext's result and one untrusted name. */
static void
explain(char *error, size_t size, const char *format, const char *name, const char *why)
{
    char clean[PLOT_TEXT_MAX];

    snprintf(error, size, format, text_sanitise(clean, sizeof clean, name, strlen(name)),
             why);
}

/* What the module has under that name; loaded once, kept for good. */
static void *
load(const char *module, const char *symbol, char *error, size_t size)
{
    static void *handle;
    void *found;

    if (handle == NULL && (module == NULL || *module == '\0')) {
        snprintf(error, size, "%s", _("memtop-png.so is not installed: no pictures"));
        return NULL;
    }
    if (handle == NULL)
        handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    found = handle != NULL ? dlsym(handle, symbol) : NULL;
    if (found == NULL)
        explain(error, size, _("cannot load %s: %s"), module, dlerror());
    return found;
}

/* Not a device that was written to. */
static void
remove_file(const char *path)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
        unlink(path);
}

/* A file that was not there before, or is emptied, or NULL. */
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
    *error = '\0';
    drawn = drawing->draw(drawing->plot, function, file, error, size);
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
