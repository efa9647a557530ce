/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions are kept in the order of their lines.  Before an address is looked up,
 * they are laid over each other: a sweep along the addresses, with a heap of the
 * functions at the present one, whose latest counts.  That leaves ranges that do not
 * overlap.
 */
#include "config.h"

#include "symbols/perfmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbols/spans.h"

/* A function of the map; its number is its place in the order of lines. */
struct perfmap_function {
    uint64_t low, high;   /* high is exclusive */
    size_t name;          /* where it begins in the text */
};

struct perfmap {
    char *text;           /* names end in NUL, once their lines are read */
    size_t used, room;
    size_t read;          /* up to here lines are read */
    struct perfmap_function *functions;
    size_t count, function_room;
    struct spans spans;   /* of the first `laid` functions */
    size_t laid;
};

struct perfmap *
perfmap_new(void)
{
    return calloc(1, sizeof(struct perfmap));
}

void
perfmap_free(struct perfmap *map)
{
    if (map == NULL)
        return;
    free(map->text);
    free(map->functions);
    free(map->spans.all);
    free(map);
}

size_t
perfmap_size(const struct perfmap *map)
{
    return map->used;
}

/* ---- lines ---- */

static int
digit_value(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

/* Takes a hexadecimal number and the blanks behind it. */
static bool
take_number(const char **text, uint64_t *number)
{
    unsigned digits = 0;

    if ((*text)[0] == '0' && ((*text)[1] == 'x' || (*text)[1] == 'X'))
        *text += 2;
    for (*number = 0; digit_value(**text) >= 0 && digits < 17; ++*text, digits++)
        *number = *number << 4 | (unsigned)digit_value(**text);
    if (digits == 0 || digits > 16 || **text != ' ')
        return false;
    *text += strspn(*text, " ");
    return true;
}

/* Reads a line, which ends in NUL. */
static bool
read_function(struct perfmap *map, char *line)
{
    struct perfmap_function function;
    const char *at = line;
    uint64_t size;

    if (!take_number(&at, &function.low) || !take_number(&at, &size) || *at == '\0'
        || size == 0 || __builtin_add_overflow(function.low, size, &function.high))
        return true;
    if (map->count == PERFMAP_FUNCTIONS_MAX
        || !ARRAY_GROW(map->functions, map->function_room, map->count + 1))
        return false;
    function.name = (size_t)(at - map->text);
    map->functions[map->count++] = function;
    return true;
}

/* Makes the line a string without control characters. */
static void
end_line(char *line, char *end)
{
    *end = '\0';
    while (end > line && (end[-1] == '\r' || end[-1] == ' '))
        *--end = '\0';
    for (; line < end; line++)
        if ((unsigned char)*line < ' ' || *line == 0x7f)
            *line = '?';
}

static bool
read_lines(struct perfmap *map)
{
    char *newline;

    while ((newline = memchr(map->text + map->read, '\n', map->used - map->read))
           != NULL) {
        char *line = map->text + map->read;

        map->read = (size_t)(newline - map->text) + 1;
        end_line(line, newline);
        if (!read_function(map, line))
            return false;
    }
    return true;
}

bool
perfmap_add(struct perfmap *map, const char *text, size_t length)
{
    bool fits = length <= PERFMAP_BYTES_MAX - map->used;

    if (!fits)
        length = PERFMAP_BYTES_MAX - map->used;
    if (length == 0)
        return fits;
    if (!ARRAY_GROW(map->text, map->room, map->used + length))
        return false;
    memcpy(map->text + map->used, text, length);
    map->used += length;
    return read_lines(map) && fits;
}

/* ---- ranges ---- */

/* A heap of numbers of functions, the greatest first. */
struct latest {
    size_t *all;
    size_t count;
};

static void
push(struct latest *heap, size_t number)
{
    size_t at = heap->count++;

    for (; at > 0 && heap->all[(at - 1) / 2] < number; at = (at - 1) / 2)
        heap->all[at] = heap->all[(at - 1) / 2];
    heap->all[at] = number;
}

static void
pop(struct latest *heap)
{
    size_t last = heap->all[--heap->count], at = 0;

    for (size_t child = 1; child < heap->count; child = 2 * at + 1) {
        child += child + 1 < heap->count && heap->all[child + 1] > heap->all[child];
        if (heap->all[child] <= last)
            break;
        heap->all[at] = heap->all[child];
        at = child;
    }
    heap->all[at] = last;
}

static int
compare(const void *one, const void *other, void *context)
{
    const struct perfmap_function *functions = context;
    const struct perfmap_function *a = &functions[*(const size_t *)one];
    const struct perfmap_function *b = &functions[*(const size_t *)other];

    return (a->low > b->low) - (a->low < b->low);
}

/* starts: the numbers of all functions in the order of their addresses. */
static void
sweep(struct perfmap *map, const size_t *starts, struct latest *heap)
{
    const struct perfmap_function *functions = map->functions;
    uint64_t at = 0;

    for (size_t next = 0; next < map->count || heap->count > 0;) {
        if (heap->count == 0)
            at = functions[starts[next]].low;
        for (; next < map->count && functions[starts[next]].low <= at; next++)
            push(heap, starts[next]);
        while (heap->count > 0 && functions[heap->all[0]].high <= at)
            pop(heap);
        if (heap->count == 0)
            continue;
        uint64_t end = functions[heap->all[0]].high;
        if (next < map->count && functions[starts[next]].low < end)
            end = functions[starts[next]].low;
        spans_add(&map->spans, at, end, heap->all[0]);
        at = end;
    }
}

static void
lay(struct perfmap *map)
{
    size_t *starts = calloc(map->count, sizeof *starts);
    struct latest heap = {.all = calloc(map->count, sizeof *heap.all)};

    map->spans.count = 0;
    map->laid = map->count;
    if (starts != NULL && heap.all != NULL) {
        for (size_t i = 0; i < map->count; i++)
            starts[i] = i;
        qsort_r(starts, map->count, sizeof *starts, compare, map->functions);
        sweep(map, starts, &heap);
        spans_sort(&map->spans);
    }
    free(starts);
    free(heap.all);
}

const char *
perfmap_find(struct perfmap *map, uint64_t address)
{
    uint64_t number;

    if (map->laid < map->count)
        lay(map);
    if (!spans_find(&map->spans, address, &number))
        return NULL;
    return map->text + map->functions[number].name;
}
