/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps of all sizes arrive mixed, and are written one column per size.  So that
 * neither memory nor a sort is needed they are kept in chunks, each for one size, in a
 * file that is mapped and grows:
 *
 *     chunk: next of the size | 63 steps {time, level}
 *
 * Space is allocated before it is mapped: a full disk is an error, not a SIGBUS.
 */
#include "config.h"

#include "report/blocklog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_STEPS 63u
#define FIRST_CHUNKS 256u
#define NO_CHUNK UINT32_MAX

struct step {
    uint64_t time, level;
};

struct chunk {
    uint32_t next, count;
    uint64_t reserved;
    struct step steps[CHUNK_STEPS];
};

_Static_assert(sizeof(struct chunk) == 1024, "chunks are whole parts of a page");

/* Where a size's steps are. */
struct size_column {
    uint32_t first, last;
    uint64_t level; /* after the last step */
    uint64_t lo, hi; /* counts between these have the same level */
    uint64_t steps;
    bool begun;
};

struct blocklog {
    struct counts counts;
    bool group;
    int fd, error;
    struct chunk *chunks;
    uint32_t chunk_count, chunk_room;
    struct size_column *columns;
    size_t column_count;
    uint32_t *chosen;
    size_t chosen_count;
};

/* Opens a file that nothing else can see. */
static int
open_unnamed(const char *directory)
{
    char path[PATH_MAX];
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return fd >= 0 ? fd : -errno;
    if (snprintf(path, sizeof path, "%s/memtop-XXXXXX", directory) >= (int)sizeof path)
        return -ENAMETOOLONG;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    unlink(path);
    return fd;
}

int
blocklog_new(const char *directory, const struct blockparams *params,
             struct blocklog **out)
{
    struct blocklog *log = calloc(1, sizeof *log);

    if (log == NULL)
        return -ENOMEM;
    log->counts = params->counts;
    log->group = params->group;
    log->fd = open_unnamed(directory);
    if (log->fd < 0) {
        int error = log->fd;

        free(log);
        return error;
    }
    *out = log;
    return 0;
}

void
blocklog_free(struct blocklog *log)
{
    if (log == NULL)
        return;
    if (log->chunks != NULL)
        munmap(log->chunks, (size_t)log->chunk_room * sizeof *log->chunks);
    close(log->fd);
    free(log->columns);
    free(log->chosen);
    free(log);
}

void
blocklog_choose(struct blocklog *log, const uint32_t *places, size_t count)
{
    free(log->chosen);
    log->chosen = calloc(count + 1, sizeof *log->chosen);
    if (log->chosen == NULL) {
        log->error = -ENOMEM;
        return;
    }
    memcpy(log->chosen, places, count * sizeof *places);
    log->chosen_count = count;
}

static int
compare_places(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

static bool
is_chosen(const struct blocklog *log, uint32_t place)
{
    return log->chosen == NULL
           || bsearch(&place, log->chosen, log->chosen_count, sizeof place,
                      compare_places) != NULL;
}

bool
blocklog_has(const struct blocklog *log, uint32_t place)
{
    return is_chosen(log, place);
}

/* ---- adding steps ---- */

static bool
more_chunks(struct blocklog *log)
{
    uint32_t room = log->chunk_room == 0 ? FIRST_CHUNKS : log->chunk_room * 2;
    size_t now = (size_t)log->chunk_room * sizeof(struct chunk);
    size_t wanted = (size_t)room * sizeof(struct chunk);
    void *chunks;
    int error;

    if (room <= log->chunk_room)
        error = EFBIG;
    else
        error = posix_fallocate(log->fd, (off_t)now, (off_t)(wanted - now));
    if (error != 0) {
        log->error = -error;
        return false;
    }
    chunks = log->chunks == NULL
                 ? mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd, 0)
                 : mremap(log->chunks, now, wanted, MREMAP_MAYMOVE);
    if (chunks == MAP_FAILED) {
        log->error = -errno;
        return false;
    }
    log->chunks = chunks;
    log->chunk_room = room;
    return true;
}

/* Adds a last chunk to the column; false if there is no space. */
static bool
add_chunk(struct blocklog *log, struct size_column *column)
{
    uint32_t at = log->chunk_count;

    if (at == log->chunk_room && !more_chunks(log))
        return false;
    log->chunk_count++;
    log->chunks[at].next = NO_CHUNK;
    log->chunks[at].count = 0;
    if (column->first == NO_CHUNK)
        column->first = at;
    else
        log->chunks[column->last].next = at;
    column->last = at;
    return true;
}

static void
add_step(struct blocklog *log, struct size_column *column, uint64_t time)
{
    struct chunk *chunk;

    if (column->last == NO_CHUNK || log->chunks[column->last].count == CHUNK_STEPS)
        if (!add_chunk(log, column))
            return;
    chunk = &log->chunks[column->last];
    chunk->steps[chunk->count++] = (struct step){time, column->level};
    column->steps++;
}

static struct size_column *
find_column(struct blocklog *log, uint32_t place)
{
    size_t count = 2 * (size_t)place + 64;
    struct size_column *columns;

    if (place < log->column_count)
        return &log->columns[place];
    columns = reallocarray(log->columns, count, sizeof *columns);
    if (columns == NULL) {
        log->error = -ENOMEM;
        return NULL;
    }
    for (size_t i = log->column_count; i < count; i++)
        columns[i] = (struct size_column){.first = NO_CHUNK, .last = NO_CHUNK};
    log->columns = columns;
    log->column_count = count;
    return &columns[place];
}

uint64_t
blocklog_ground(const struct blocklog *log)
{
    return log->group && log->counts.kind == COUNTS_ARRAY ? log->counts.lower : 0;
}

/* Returns the level of a count, and the bounds within which it stays the same. */
static uint64_t
find_level(const struct blocklog *log, uint64_t count, uint64_t *lo, uint64_t *hi)
{
    if (!log->group) {
        *lo = count == 0 ? 0 : count - 1;
        return *hi = count;
    }
    if (counts_find(&log->counts, count, lo, hi) > 0)
        return *hi;
    return count <= blocklog_ground(log) ? blocklog_ground(log) : *lo;
}

void
blocklog_watch(void *context, uint32_t place, uint64_t time, uint64_t before,
               uint64_t after)
{
    struct blocklog *log = context;
    struct size_column *column;
    uint64_t level;

    (void)before;
    if (log->error != 0 || !is_chosen(log, place))
        return;
    column = find_column(log, place);
    if (column == NULL || (column->begun && after > column->lo && after <= column->hi))
        return;
    if (!column->begun)
        column->level = blocklog_ground(log);
    column->begun = true;
    level = find_level(log, after, &column->lo, &column->hi);
    if (level == column->level)
        return;
    column->level = level;
    add_step(log, column, time);
}

/* ---- reading steps ---- */

int
blocklog_error(const struct blocklog *log)
{
    return log->error;
}

void
blocklog_each(const struct blocklog *log, uint32_t place,
              void (*take)(void *context, uint64_t time, uint64_t level), void *context)
{
    uint32_t at = place < log->column_count ? log->columns[place].first : NO_CHUNK;

    for (; at != NO_CHUNK; at = log->chunks[at].next)
        for (uint32_t i = 0; i < log->chunks[at].count; i++)
            take(context, log->chunks[at].steps[i].time, log->chunks[at].steps[i].level);
}

/* ---- files ---- */

/* A column being written: its next step, which gives two lines. */
struct step_cursor {
    uint64_t size;
    uint32_t place, chunk, index;
    uint64_t level; /* before the step */
    bool second;    /* the line with the level before is written */
};

static struct step_cursor
begin(const struct blocklog *log, const struct blocksizes *blocks, uint32_t place)
{
    return (struct step_cursor){
        .size = blocksizes_at(blocks, place)->size,
        .place = place,
        .chunk = place < log->column_count ? log->columns[place].first : NO_CHUNK,
        .level = blocklog_ground(log)};
}

/* Writes a time in ms, with ns as decimals; or the number of an event. */
static void
write_time(FILE *out, uint64_t time, uint64_t tick_ns)
{
    char text[40];
    size_t length;

    if (tick_ns != 1) {
        fprintf(out, "%" PRIu64, time);
        return;
    }
    length = (size_t)snprintf(text, sizeof text, "%" PRIu64 ".%06u", time / 1000000,
                              (unsigned)(time % 1000000));
    while (text[length - 1] == '0')
        length--;
    if (text[length - 1] == '.')
        length--;
    fwrite(text, 1, length, out);
}

/* Writes the cursor's line and moves on, unless the column has ended. */
static void
write_pair(FILE *out, const struct blocklog *log, struct step_cursor *cursor,
           const struct blockparams *params, uint64_t tick_ns)
{
    const struct step *step;

    if (cursor->chunk == NO_CHUNK) {
        fputs(params->delimiter, out);
        return;
    }
    step = &log->chunks[cursor->chunk].steps[cursor->index];
    write_time(out, step->time, tick_ns);
    fprintf(out, "%s%" PRIu64, params->delimiter,
            cursor->second ? step->level : cursor->level);
    if (!cursor->second) {
        cursor->second = true;
        return;
    }
    cursor->second = false;
    cursor->level = step->level;
    if (++cursor->index == log->chunks[cursor->chunk].count) {
        cursor->chunk = log->chunks[cursor->chunk].next;
        cursor->index = 0;
    }
}

static void
write_lines(FILE *out, const struct blocklog *log, struct step_cursor *cursors,
            size_t count, const struct blockparams *params, uint64_t tick_ns)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s%s_%" PRIu64, i > 0 ? params->delimiter : "",
                tick_ns == BLOCKSIZES_NO_CLOCK ? "event" : "ms", params->delimiter,
                cursors[i].size);
    for (;;) {
        fputc('\n', out);
        while (count > 0 && cursors[count - 1].chunk == NO_CHUNK)
            count--; /* empty cells at the end of a line are left out */
        if (count == 0 || ferror(out))
            return;
        for (size_t i = 0; i < count; i++) {
            fputs(i > 0 ? params->delimiter : "", out);
            write_pair(out, log, &cursors[i], params, tick_ns);
        }
    }
}

/* Opens a new file or an existing device or pipe; an existing file is never touched. */
static FILE *
create(const char *path, bool *created)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    struct stat st;

    *created = fd >= 0;
    if (fd < 0 && errno == EEXIST && stat(path, &st) == 0 && !S_ISREG(st.st_mode)
        && !S_ISDIR(st.st_mode))
        fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return fd >= 0 ? fdopen(fd, "w") : NULL;
}

static int
write_file(const char *path, const struct blocklog *log, struct step_cursor *cursors,
           size_t count, const struct blockparams *params, uint64_t tick_ns)
{
    bool created;
    FILE *out = create(path, &created);
    int error = 0;

    if (out == NULL)
        return -errno;
    write_lines(out, log, cursors, count, params, tick_ns);
    if (fflush(out) != 0 || ferror(out))
        error = errno != 0 ? -errno : -EIO;
    if (fclose(out) != 0 && error == 0)
        error = -errno;
    if (error != 0 && created)
        unlink(path);
    return error;
}

static bool
put_path(char *path, size_t size, const struct blocklog_files *files, const char *suffix)
{
    const char *extension = files->params->extension;

    return snprintf(path, size, "%s/%s%s%s%s", files->directory, files->name, suffix,
                    extension[0] != '\0' ? "." : "", extension)
           < (int)size;
}

void
blocklog_name(const struct blocklog_files *files, char *path, size_t size)
{
    put_path(path, size, files, files->params->one_file ? "" : "_*");
}

/* Returns the error that create() would give, without creating. */
static int
check_file(const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0)
        return S_ISREG(st.st_mode) ? -EEXIST : S_ISDIR(st.st_mode) ? -EISDIR : 0;
    return lstat(path, &st) == 0 ? -EEXIST : 0; /* a dangling link */
}

/* Is the entry named NAME_SIZE.EXTENSION? */
static bool
is_of_a_size(const struct blocklog_files *files, const char *entry)
{
    const char *extension = files->params->extension;
    size_t length = strlen(files->name), digits;

    if (strncmp(entry, files->name, length) != 0 || entry[length] != '_')
        return false;
    entry += length + 1;
    digits = strspn(entry, "0123456789");
    entry += digits;
    if (digits == 0 || extension[0] == '\0')
        return digits > 0 && *entry == '\0';
    return *entry == '.' && strcmp(entry + 1, extension) == 0;
}

static int
check_sizes(const struct blocklog_files *files, char *path, size_t size)
{
    DIR *directory = opendir(files->directory);
    const struct dirent *entry;
    int error = directory != NULL ? 0 : -errno;

    blocklog_name(files, path, size);
    while (error == 0 && (entry = readdir(directory)) != NULL)
        if (is_of_a_size(files, entry->d_name)) {
            snprintf(path, size, "%s/%s", files->directory, entry->d_name);
            error = check_file(path);
        }
    if (directory != NULL)
        closedir(directory);
    return error;
}

int
blocklog_check(const struct blocklog_files *files, char *path, size_t size)
{
    if (!files->params->one_file)
        return check_sizes(files, path, size);
    return put_path(path, size, files, "") ? check_file(path) : -ENAMETOOLONG;
}

static int
write_files(const struct blocklog *log, struct step_cursor *cursors, size_t count,
            const struct blocklog_files *files, uint64_t tick_ns)
{
    char path[PATH_MAX], suffix[32];
    int error = 0;

    if (files->params->one_file)
        return put_path(path, sizeof path, files, "")
                   ? write_file(path, log, cursors, count, files->params, tick_ns)
                   : -ENAMETOOLONG;
    for (size_t i = 0; i < count && error == 0; i++) {
        snprintf(suffix, sizeof suffix, "_%" PRIu64, cursors[i].size);
        error = put_path(path, sizeof path, files, suffix)
                    ? write_file(path, log, &cursors[i], 1, files->params, tick_ns)
                    : -ENAMETOOLONG;
    }
    return error;
}

static int
by_size(const void *left, const void *right)
{
    const struct step_cursor *a = left, *b = right;

    return a->size < b->size ? -1 : a->size > b->size;
}

int
blocklog_write(const struct blocklog *log, const struct blocksizes *blocks,
               const struct blocklog_files *files)
{
    size_t count = 0;
    struct step_cursor *cursors = calloc(blocksizes_count(blocks) + 1, sizeof *cursors);
    int error = log->error;

    if (cursors == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < blocksizes_count(blocks); i++)
        if (is_chosen(log, i))
            cursors[count++] = begin(log, blocks, i);
    qsort(cursors, count, sizeof *cursors, by_size);
    if (error == 0)
        error = write_files(log, cursors, count, files, blocksizes_tick_ns(blocks));
    free(cursors);
    return error;
}
