/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kinds are tried in the order of a table; those that are hardest to mistake come
   first. */
#include "config.h"

#include "files/kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/archive.h"
#include "files/dat.h"
#include "files/logalloc.h"
#include "files/native-format.h"
#include "files/pack.h"
#include "files/trace-form.h"

/* The beginning of a file. */
struct start {
    const char *bytes;
    size_t size;
    bool whole;
};

/* ---- sessions ---- */

#define FIRST_LINE_MAX 4096

static bool
names_session(const char *line, size_t length)
{
    return length > 0 && line[0] == '{'
           && memmem(line, length, "\"session\"", strlen("\"session\"")) != NULL;
}

/* If the first line is incomplete, this is not known yet. */
static bool
is_session_text(struct start start)
{
    const char *newline = memchr(start.bytes, '\n', start.size);

    if (newline == NULL && !start.whole)
        return false;
    return names_session(start.bytes,
                         newline != NULL ? (size_t)(newline - start.bytes) : start.size);
}

/* Decompresses the first line; "" if it is not complete. */
static void
unpack_line(struct start start, char line[FIRST_LINE_MAX])
{
    FILE *packed = fmemopen((char *)start.bytes, start.size, "r");
    FILE *text = packed != NULL ? pack_reader(packed) : NULL;

    if (text == NULL || fgets(line, FIRST_LINE_MAX, text) == NULL)
        line[0] = '\0';
    if (text != NULL)
        fclose(text);
    if (packed != NULL)
        fclose(packed);
}

static bool
is_packed(struct start start)
{
    return archive_recognise(start.bytes, start.size) && start.bytes[0] != '{';
}

static bool
is_session(struct start start)
{
    char line[FIRST_LINE_MAX];

    if (!archive_recognise(start.bytes, start.size))
        return false;
    if (!is_packed(start))
        return is_session_text(start);
    unpack_line(start, line);
    return line[0] == '\0' || names_session(line, strlen(line));
}

/* ---- traces, tables of events, data files ---- */

static bool
is_trace(struct start start)
{
    return start.size >= NATIVE_MAGIC_SIZE
           && memcmp(start.bytes, NATIVE_MAGIC, NATIVE_MAGIC_SIZE) == 0;
}

static bool
is_csv(struct start start)
{
    size_t length = strlen(TRACE_CSV_HEAD);

    if (start.size < length || memcmp(start.bytes, TRACE_CSV_HEAD, length) != 0)
        return false;
    return start.size > length
               ? start.bytes[length] == '\n' || start.bytes[length] == '\r'
               : start.whole;
}

static bool
is_dat(struct start start)
{
    return dat_recognise(start.bytes, start.size);
}

/* ---- logs ---- */

/* Returns KIND_TEXT if the line is not a call. */
static enum file_kind
kind_of_line(const char *text, size_t length, bool *has_blocks)
{
    enum logalloc_form form =
        memchr(text, '#', length) != NULL ? LOGALLOC_MUNGED : LOGALLOC_RAW;
    struct logalloc_line line;

    if (logalloc_parse(text, length, form, &line) != LOGALLOC_GOOD)
        return KIND_TEXT;
    *has_blocks = line.has_result || logalloc_takes_block(line.call);
    return form == LOGALLOC_MUNGED ? KIND_MUNGED : KIND_LOG;
}

/* The first line with a block decides.  Lines without blocks do not show whether the log
   is munged. */
static enum file_kind
kind_of_lines(struct start start)
{
    const char *at = start.bytes, *end = at + start.size, *newline;
    enum file_kind found = KIND_TEXT;

    for (; at < end; at = newline + 1) {
        bool has_blocks = false;
        enum file_kind kind;

        newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL && !start.whole)
            /* The line may be incomplete. */
            return KIND_TEXT;
        if (newline == NULL)
            newline = end;
        kind = kind_of_line(at, (size_t)(newline - at), &has_blocks);
        if (kind != KIND_TEXT && has_blocks)
            return kind;
        if (kind != KIND_TEXT)
            found = kind;
    }
    return start.whole ? found : KIND_TEXT;
}

/* ---- all kinds ---- */

/* Could more bytes decide that it is a session or a data file? */
static bool
is_undecided(struct start start)
{
    char line[FIRST_LINE_MAX];

    if (start.whole)
        return false;
    if (!is_packed(start))
        return start.size < DAT_RECOGNISED && start.bytes[0] == '\0';
    unpack_line(start, line);
    return line[0] == '\0';
}

static bool
is_text(struct start start)
{
    for (size_t i = 0; i < start.size; i++) {
        unsigned char byte = (unsigned char)start.bytes[i];

        if (byte == '\0' || byte == 127
            || (byte < ' ' && strchr("\t\n\f\r\033", byte) == NULL))
            return false;
    }
    return true;
}

enum file_kind
kind_of_bytes(const char *bytes, size_t size, bool whole)
{
    static const struct {
        enum file_kind kind;
        bool (*is)(struct start start);
    } kinds[] = {
        {KIND_TRACE, is_trace},
        {KIND_SESSION, is_session},
        {KIND_CSV, is_csv},
        {KIND_DAT, is_dat},
    };
    const struct start start = {bytes, size, whole};
    enum file_kind kind;

    if (size == 0)
        return KIND_EMPTY;
    if (is_undecided(start))
        return KIND_BINARY;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is(start))
            return kinds[i].kind;
    kind = kind_of_lines(start);
    return kind == KIND_TEXT && !is_text(start) ? KIND_BINARY : kind;
}

int
kind_of_input(struct input *input, enum file_kind *kind)
{
    for (size_t wanted = 1;;) {
        const char *bytes;
        size_t size;
        bool whole;
        int error = input_peek(input, wanted, &bytes, &size);

        if (error != 0)
            return error;
        whole = size < wanted || size >= KIND_BYTES;
        *kind = kind_of_bytes(bytes, size < KIND_BYTES ? size : KIND_BYTES, whole);
        if (whole || *kind > KIND_STREAM)
            return 0;
        wanted = size + 1;
    }
}

static int
kind_of_regular(int fd, enum file_kind *kind)
{
    struct input *input = malloc(sizeof *input);
    int error;

    if (input == NULL)
        return -ENOMEM;
    input_init(input, fd);
    error = kind_of_input(input, kind);
    free(input);
    return error;
}

int
kind_of_file(const char *path, enum file_kind *kind)
{
    struct stat st;
    int fd, error;

    *kind = KIND_STREAM;
    if (strcmp(path, "-") == 0)
        return 0;
    if (stat(path, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (!S_ISREG(st.st_mode))
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    error = kind_of_regular(fd, kind);
    close(fd);
    return error;
}
