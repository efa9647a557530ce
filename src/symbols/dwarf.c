/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds functions by debugging information, with libdw; if a file has none, by its symbol
 * tables, which libdwfl reads too.  It also finds separate files: by build id and by
 * .gnu_debuglink under /usr/lib/debug, and from servers if DEBUGINFOD_URLS is set
 * (helper.c takes care of that).
 *
 * Every file is a Dwfl of its own with bias 0, so that addresses are the file's own.  An
 * address lies in a unit (often a source file), there in a function, and in that in
 * blocks and inlined functions: the walk goes down along those.
 */
#include "config.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/demangle.h"
#include "symbols/functions.h"
#include "symbols/helper.h"
#include "symbols/spans.h"

/* Limit of nested DIEs, such as functions inlined into each other. */
#define DEPTH_MAX 256

/* A unit's functions, as spans with the offsets of their DIEs.  A large unit has tens of
   thousands of DIEs, too many to search for every address. */
struct dwarf_unit {
    struct dwarf_unit *next;
    Dwarf_Off offset;
    struct spans functions;
};

struct dwarf_image {
    struct dwarf_image *next;
    struct question_file file;
    enum symbol_state failure; /* SYMBOL_ASKED: no failure */
    Dwfl *dwfl;
    Dwfl_Module *module;
    struct spans spans;        /* units and their offsets: clang makes no table of them */
    bool has_spans;
    struct dwarf_unit *units; /* those used so far */
    struct functions functions;
    bool has_functions;
};

static struct dwarf_image *images;

/* ---- files ---- */

/* The program's own file is known already; servers must not be asked for it. */
static int
find_no_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
            char **path, Elf **elf)
{
    (void)module, (void)data, (void)name, (void)base, (void)path, (void)elf;
    return -1;
}

/* Sets where separate files are searched: beside the file, here, and as its process sees
   them. */
static void
set_search_path(struct dwarf_image *image, Dwfl_Callbacks *callbacks)
{
    static char path[128];
    static char *text;

    snprintf(path, sizeof path, ":.debug:/usr/lib/debug");
    if (image->file.pid > 0)
        snprintf(path + strlen(path), sizeof path - strlen(path),
                 ":/proc/%ld/root/usr/lib/debug", (long)image->file.pid);
    text = path;
    callbacks->debuginfo_path = &text;
}

static enum symbol_state
open_image(struct dwarf_image *image)
{
    static Dwfl_Callbacks callbacks = {
        .find_elf = find_no_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
    };
    int descriptor = images_open(&image->file);

    if (descriptor < 0)
        return descriptor == -ESTALE ? SYMBOL_FILE_CHANGED : SYMBOL_FILE_GONE;
    set_search_path(image, &callbacks);
    image->dwfl = dwfl_begin(&callbacks);
    if (image->dwfl == NULL) {
        close(descriptor);
        return SYMBOL_FAILED;
    }
    dwfl_report_begin(image->dwfl);
    image->module = dwfl_report_elf(image->dwfl, image->file.path, image->file.path,
                                    descriptor, 0, true);
    if (image->module == NULL)
        close(descriptor);
    dwfl_report_end(image->dwfl, NULL, NULL);
    return image->module != NULL ? SYMBOL_ASKED : SYMBOL_FAILED;
}

static struct dwarf_image *
image_of(const struct question_file *file)
{
    for (struct dwarf_image *image = images; image != NULL; image = image->next)
        if (question_same_file(&image->file, file))
            return image;
    struct dwarf_image *image = calloc(1, sizeof *image);
    if (image == NULL)
        return NULL;
    image->file = *file;
    image->failure = open_image(image);
    image->next = images;
    images = image;
    return image;
}

/* ---- units ---- */

/* Adds the address ranges of a DIE. */
static void
add_spans(struct spans *spans, Dwarf_Die *die, Dwarf_Addr bias)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t next = 0;

    while ((next = dwarf_ranges(die, next, &base, &low, &high)) > 0)
        spans_add(spans, low + bias, high + bias, dwarf_dieoffset(die));
}

/* Reads the ranges of all units, once. */
static void
read_spans(struct dwarf_image *image)
{
    Dwarf_Die *unit = NULL;
    Dwarf_Addr bias;

    image->has_spans = true;
    while ((unit = dwfl_module_nextcu(image->module, unit, &bias)) != NULL)
        add_spans(&image->spans, unit, bias);
    spans_sort(&image->spans);
}

/* Used for units without known ranges: libdwfl attributes to a unit what lies behind
   it. */
static bool
has_ranges(Dwarf_Die *unit)
{
    Dwarf_Addr base, low, high;

    return dwarf_ranges(unit, 0, &base, &low, &high) > 0;
}

/* Finds the unit that has the address; NULL if there is none.  *bias as in libdwfl. */
static Dwarf_Die *
find_unit(struct dwarf_image *image, Dwarf_Addr address, Dwarf_Die *place,
          Dwarf_Addr *bias)
{
    Dwarf *dwarf = dwfl_module_getdwarf(image->module, bias);
    Dwarf_Die *unit;
    uint64_t offset;

    if (dwarf == NULL)
        return NULL;
    if (!image->has_spans)
        read_spans(image);
    if (spans_find(&image->spans, address, &offset))
        return dwarf_offdie(dwarf, offset, place);
    unit = dwfl_module_addrdie(image->module, address, bias);
    return unit != NULL && !has_ranges(unit) ? unit : NULL;
}

/* Reads the functions below a DIE, including those in namespaces. */
static void
read_functions_of(struct dwarf_unit *unit, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;

    if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram)
            add_spans(&unit->functions, &die, 0);
        else if (tag == DW_TAG_namespace || tag == DW_TAG_module)
            read_functions_of(unit, &die, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static struct dwarf_unit *
unit_of(struct dwarf_image *image, Dwarf_Die *die)
{
    Dwarf_Off offset = dwarf_dieoffset(die);

    for (struct dwarf_unit *unit = image->units; unit != NULL; unit = unit->next)
        if (unit->offset == offset)
            return unit;
    struct dwarf_unit *unit = calloc(1, sizeof *unit);
    if (unit == NULL)
        return NULL;
    unit->offset = offset;
    unit->next = image->units;
    image->units = unit;
    read_functions_of(unit, die, 0);
    spans_sort(&unit->functions);
    return unit;
}

/* ---- symbol tables ---- */

/* Reads the functions of all symbol tables, once. */
static void
read_functions(struct dwarf_image *image)
{
    int count = dwfl_module_getsymtab(image->module);

    image->has_functions = true;
    for (int i = 0; i < count; i++) {
        GElf_Addr address;
        GElf_Sym symbol;
        const char *name = dwfl_module_getsym_info(image->module, i, &symbol, &address,
                                                   NULL, NULL, NULL);
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        const struct function function = {address, symbol.st_size, name,
                                          GELF_ST_BIND(symbol.st_info) != STB_LOCAL};

        if (name != NULL && name[0] != '\0' && symbol.st_shndx != SHN_UNDEF
            && (type == STT_FUNC || type == STT_GNU_IFUNC))
            functions_add(&image->functions, &function);
    }
    functions_sort(&image->functions);
}

/* The name that the symbol tables have for the address, or NULL.  The caller frees it. */
static char *
symbol_name(struct dwarf_image *image, Dwarf_Addr address)
{
    if (!image->has_functions)
        read_functions(image);
    const struct function *function = functions_find(&image->functions, address);
    return function != NULL ? demangle(function->name) : NULL;
}

/* ---- functions ---- */

/* The DIE that stands in the source, for copies and for definitions outside their
   class. */
static Dwarf_Die
origin_of(Dwarf_Die *die)
{
    static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
    Dwarf_Die origin = *die;

    for (unsigned i = 0; i < 2; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (dwarf_formref_die(dwarf_attr(&origin, links[i], &attribute), &next) != NULL)
            origin = next;
    }
    return origin;
}

/* The name with the namespaces and types around it.  The caller frees it. */
static char *
qualified_name(Dwarf_Die *function, const char *name)
{
    Dwarf_Die origin = origin_of(function), *scopes = NULL;
    int count = dwarf_getscopes_die(&origin, &scopes);
    char *full = strdup(name);

    for (int i = 1; full != NULL && i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        const char *outer = dwarf_diename(&scopes[i]);
        char *longer;

        if (tag == DW_TAG_namespace && outer == NULL)
            outer = "(anonymous namespace)";
        if (outer == NULL
            || (tag != DW_TAG_namespace && tag != DW_TAG_class_type
                && tag != DW_TAG_structure_type && tag != DW_TAG_union_type))
            continue;
        if (asprintf(&longer, "%s::%s", outer, full) < 0)
            longer = NULL;
        free(full);
        full = longer;
    }
    free(scopes);
    return full;
}

static const char *
string_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;

    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* In these languages a function's plain name is complete. */
static bool
has_plain_names(Dwarf_Die *unit)
{
    int language = dwarf_srclang(unit);

    return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99
           || language == DW_LANG_C11 || language == DW_LANG_Mips_Assembler;
}

/* The name of a function.  Functions that only their unit sees have no linkage name, and
   debugging information of lines alone has no such names at all: then the symbol tables
   are used, unless the function was inlined.  The caller frees the name. */
static char *
name_of(struct dwarf_image *image, Dwarf_Die *unit, Dwarf_Die *die, Dwarf_Addr address)
{
    const char *symbol = string_of(die, DW_AT_linkage_name);
    const char *plain = string_of(die, DW_AT_name);
    char *name = NULL;

    if (symbol == NULL)
        symbol = string_of(die, DW_AT_MIPS_linkage_name);
    if (symbol != NULL)
        return demangle(symbol);
    if (plain != NULL && has_plain_names(unit))
        return strdup(plain);
    if (dwarf_tag(die) == DW_TAG_subprogram)
        name = symbol_name(image, address);
    return name != NULL || plain == NULL ? name : qualified_name(die, plain);
}

static unsigned
number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;

    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0
        || value > INT32_MAX)
        return 0;
    return (unsigned)value;
}

struct path {
    Dwarf_Die functions[ANSWER_FRAMES]; /* outermost first */
    unsigned count;
};

/* Walks down from the DIE along what contains the address. */
static void
walk(Dwarf_Die *parent, Dwarf_Addr address, struct path *path, unsigned depth)
{
    Dwarf_Die die;

    if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (dwarf_haspc(&die, address) != 1)
            continue;
        if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            && path->count < ANSWER_FRAMES)
            path->functions[path->count++] = die;
        walk(&die, address, path, depth + 1);
        return;
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* Finds the functions that contain the address. */
static bool
find_path(struct dwarf_image *image, Dwarf_Die *unit_die, Dwarf_Addr address,
          struct path *path)
{
    struct dwarf_unit *unit = unit_of(image, unit_die);
    Dwarf_Addr bias;
    Dwarf *dwarf = dwfl_module_getdwarf(image->module, &bias);
    uint64_t offset;

    path->count = 0;
    if (unit == NULL || !spans_find(&unit->functions, address, &offset)
        || dwarf_offdie(dwarf, offset, &path->functions[0]) == NULL)
        return false;
    path->count = 1;
    walk(&path->functions[0], address, path, 0);
    return true;
}

/* A place in the source. */
struct source_place {
    const char *file;    /* or NULL */
    unsigned line;
};

static struct source_place
source_of(Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    struct source_place source = {NULL, 0};
    int number;

    if (line != NULL)
        source.file = dwarf_linesrc(line, NULL, NULL);
    if (line != NULL && dwarf_lineno(line, &number) == 0 && number > 0)
        source.line = (unsigned)number;
    return source;
}

/* Adds the frames: a function's line is where it calls the function inlined into it. */
static void
add_functions(struct dwarf_image *image, Dwarf_Addr address, struct path *path,
              Dwarf_Die *unit, struct source_place source, struct answer *out)
{
    Dwarf_Files *files = NULL;

    if (dwarf_getsrcfiles(unit, &files, NULL) != 0)
        files = NULL;
    while (path->count-- > 0) {
        Dwarf_Die *die = &path->functions[path->count];
        char *name = name_of(image, unit, die, address);
        if (name != NULL)
            answer_add(out, name, source.file, source.line);
        free(name);
        if (dwarf_tag(die) != DW_TAG_inlined_subroutine)
            break;
        unsigned number = number_of(die, DW_AT_call_file);
        source.file = files != NULL ? dwarf_filesrc(files, number, NULL, NULL) : NULL;
        source.line = number_of(die, DW_AT_call_line);
    }
}

void
resolver_answer(const struct symbol_question *question, struct answer *out)
{
    static struct path path;
    struct dwarf_image *image = image_of(&question->file);
    Dwarf_Addr address = question->offset, bias = 0;
    struct source_place source = {NULL, 0};
    Dwarf_Die place;

    answer_begin(out, image == NULL ? SYMBOL_FAILED : image->failure);
    if (image == NULL || image->failure != SYMBOL_ASKED)
        return;
    if (address == QUESTION_HOLD) {
        answer_begin(out, SYMBOL_UNNAMED);
        return;
    }
    answer_begin(out, SYMBOL_KNOWN);
    Dwarf_Die *unit = find_unit(image, address, &place, &bias);
    if (unit != NULL)
        source = source_of(unit, address - bias);
    if (unit != NULL && find_path(image, unit, address - bias, &path))
        add_functions(image, address, &path, unit, source, out);
    char *name = out->count == 0 ? symbol_name(image, address) : NULL;
    if (name != NULL)
        answer_add(out, name, source.file, source.line);
    free(name);
    if (out->count == 0)
        answer_begin(out, SYMBOL_UNNAMED);
}
