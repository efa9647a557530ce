/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turns the figures of stacks into rows.  Each stack becomes a path of functions,
 * including inlined ones and leaving out hidden ones.  A level of a tree is made by
 * sorting the paths of its parent by their function at that level: a row is a range of
 * paths.  A path is in one row of a level, so nothing is counted twice, not even a
 * recursive function.
 */
#include "config.h"

#include "monitor/profile-table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/profile-private.h"
#include "base/array.h"

#define TREE_DEPTH_MAX 1024   /* deeper rows are not made */

struct build {
    struct query_work query;
    struct profile_table *table;
    struct profile_work *work;
    uint32_t *rules;                 /* by function; bit i: rule i names it */
    bool failed;
};

static void
free_work(struct profile_work *work)
{
    if (work == NULL)
        return;
    free(work->figures);
    free(work->order);
    free(work->functions);
    free(work->starts);
    free(work);
}

void
profile_table_free(struct profile_table *table)
{
    free_work(table->work);
    free(table->rows);
    *table = (struct profile_table){0};
}

/* ---- rules ---- */

static bool
has_capitals(const char *text)
{
    while (*text)
        if (isupper((unsigned char)*text++))
            return true;
    return false;
}

static bool
rule_names(const struct profile_rule *rule, const char *name)
{
    bool exactly = has_capitals(rule->text);

    if (rule->whole)
        return (exactly ? strcmp : strcasecmp)(name, rule->text) == 0;
    return (exactly ? strstr(name, rule->text) : strcasestr(name, rule->text)) != NULL;
}

/* Returns, by function, the rules that name it; NULL if there are no rules, or memory is
   short. */
static uint32_t *
judge_functions(struct build *build)
{
    const struct profile_filter *filter = build->query.query->filter;
    const struct profile *profile = build->query.profile;
    uint32_t *rules;

    if (filter->rule_count == 0)
        return NULL;
    rules = calloc(profile->functions.count + 1, sizeof *rules);
    build->failed |= rules == NULL;
    for (size_t i = 0; rules != NULL && i < profile->functions.count; i++)
        for (unsigned k = 0; k < filter->rule_count; k++)
            if (rule_names(&filter->rules[k], profile->functions.all[i]->text))
                rules[i] |= 1u << k;
    return rules;
}

static uint32_t
rules_of_kind(const struct profile_filter *filter, enum profile_rule_kind kind)
{
    uint32_t bits = 0;

    for (unsigned i = 0; i < filter->rule_count; i++)
        if (filter->rules[i].kind == kind)
            bits |= 1u << i;
    return bits;
}

/* ---- paths ---- */

static void
put_function(struct build *build, uint32_t function)
{
    struct profile_work *work = build->work;

    if (ARRAY_GROW(work->functions, work->function_room, work->function_count + 1))
        work->functions[work->function_count++] = function;
    else
        build->failed = true;
}

/* Appends the functions of a stack that are not hidden, if paths are made; returns the
   rules that name any of its functions.  first may be NULL; its index is that in all
   paths. */
static uint32_t
put_stack(struct build *build, const struct call_stack *stack, uint32_t hidden,
          struct first_place *first)
{
    const struct profile *profile = build->query.profile;
    uint32_t found = 0;
    unsigned depth;
    const uint64_t *pcs = sites_stack(&profile->reading, stack->id, &depth);

    for (unsigned i = 0; pcs != NULL && i < depth; i++) {
        const struct profile_address *address =
            profile_find_address(profile, sites_call(pcs[i]));

        for (uint32_t k = 0; address != NULL && k < address->frame_count; k++) {
            uint32_t function = address->frames[k].function;
            uint32_t rules = build->rules != NULL ? build->rules[function] : 0;

            found |= rules;
            if (build->work == NULL || (rules & hidden))
                continue;
            if (first != NULL)
                first_place_look(first, &address->frames[k], build->work->function_count);
            put_function(build, function);
        }
    }
    return found;
}

/* found: the rules that name functions of the stack. */
static bool
passes_rules(const struct profile_filter *filter, uint32_t found)
{
    const uint32_t required = rules_of_kind(filter, PROFILE_REQUIRE);

    return (found & required) == required
           && !(found & rules_of_kind(filter, PROFILE_FORBID));
}

/* Makes the last path begin with the first function that is no wrapper. */
static void
drop_wrappers(struct profile_work *work, size_t begin, const struct first_place *first)
{
    size_t dropped = first->index - begin;

    if (!first->found || dropped == 0)
        return;
    work->function_count -= dropped;
    memmove(work->functions + begin, work->functions + first->index,
            (work->function_count - begin) * sizeof *work->functions);
}

static void
make_paths(struct build *build)
{
    const struct profile *profile = build->query.profile;
    const struct profile_filter *filter = build->query.query->filter;
    struct profile_work *work = build->work;
    const uint32_t hidden = rules_of_kind(filter, PROFILE_HIDE);
    const bool whole =
        build->query.query->wrappers || build->query.query->form != PROFILE_STACKS;

    for (size_t i = 0; i < profile->stack_count && !build->failed; i++) {
        const struct profile_figures *figures = &work->figures[i];
        struct first_place first = {.index = 0};

        work->starts[i] = work->function_count;
        if (figures->blocks == 0)
            continue;
        if (!passes_rules(filter,
                          put_stack(build, profile->stacks[i], hidden, &first))) {
            work->function_count = work->starts[i];
            continue;
        }
        if (!whole && !build->failed)
            drop_wrappers(work, work->starts[i], &first);
        if (work->function_count == work->starts[i])
            put_function(build, profile->stacks[i]->depth > 0 ? PROFILE_HIDDEN
                                                              : PROFILE_NO_STACK);
        work->order[work->count++] = (uint32_t)i;
    }
    work->starts[profile->stack_count] = work->function_count;
}

static size_t
path_length(const struct profile_work *work, uint32_t stack)
{
    return work->starts[stack + 1] - work->starts[stack];
}

/* The function of a path at a level of the tree; the path must be longer than that. */
static uint32_t
path_at(const struct build *build, uint32_t stack, size_t level)
{
    const struct profile_work *work = build->work;

    if (build->query.query->form == PROFILE_CALLEES)
        level = path_length(work, stack) - 1 - level;
    return work->functions[work->starts[stack] + level];
}

/* ---- rows ---- */

static double
sort_key(const struct profile_query *query, const struct profile_figures *figures)
{
    enum profile_column column = query->column;

    if (column == PROFILE_BY_DEFAULT)
        column = query->survivors_ns > 0 ? PROFILE_BY_GROWTH : PROFILE_BY_BYTES;
    switch (column) {
    case PROFILE_BY_OBJECTS:
        return figures->objects;
    case PROFILE_BY_MADE:
        return figures->made_bytes;
    case PROFILE_BY_RATE:
        return figures->bytes_rate;
    case PROFILE_BY_AGE:
        return profile_age(figures);
    case PROFILE_BY_BLOCKS:
        return (double)figures->blocks;
    case PROFILE_BY_ERROR:
        return profile_error(figures);
    case PROFILE_BY_GROWTH:
        return figures->growth;
    default:
        return figures->bytes;
    }
}

static int
compare_doubles(double a, double b)
{
    return (a < b) - (a > b);
}

static int
compare_rows(const void *a, const void *b, void *context)
{
    const struct profile_row *left = a, *right = b;
    const struct profile_query *query = context;
    int order = compare_doubles(sort_key(query, &left->figures),
                                sort_key(query, &right->figures));

    if (order == 0)
        order = compare_doubles(left->figures.bytes, right->figures.bytes);
    if (order == 0)
        order = (left->begin > right->begin) - (left->begin < right->begin);
    return query->reverse ? -order : order;
}

static uint64_t
row_key(uint64_t parent, uint32_t function)
{
    uint64_t key = (parent ^ (function + UINT64_C(1))) * UINT64_C(0x9e3779b97f4a7c15);

    key ^= key >> 32;
    return key ? key : 1;
}

static bool
is_toggled(const struct profile_toggled *toggled, uint64_t key)
{
    for (unsigned i = 0; toggled != NULL && i < PROFILE_TOGGLED_MAX; i++)
        if (toggled->keys[i] == key)
            return true;
    return false;
}

void
profile_toggle(struct profile_toggled *toggled, uint64_t key)
{
    for (unsigned i = 0; i < PROFILE_TOGGLED_MAX; i++)
        if (toggled->keys[i] == key) {
            toggled->keys[i] = 0;
            return;
        }
    toggled->keys[toggled->next++ % PROFILE_TOGGLED_MAX] = key;
}

static struct profile_row *
add_row(struct build *build, const struct profile_row *row)
{
    struct profile_table *table = build->table;

    if (!ARRAY_GROW(table->rows, table->room, table->count + 1)) {
        build->failed = true;
        return NULL;
    }
    table->rows[table->count] = *row;
    return &table->rows[table->count++];
}

/* Sums up the row's stacks; the largest one represents them. */
static void
sum_row(const struct build *build, struct profile_row *row, size_t level)
{
    const struct profile_work *work = build->work;
    uint32_t greatest = work->order[row->begin];

    row->figures = (struct profile_figures){0};
    for (size_t i = row->begin; i < row->begin + row->stacks; i++) {
        uint32_t stack = work->order[i];

        figures_add(&row->figures, &work->figures[stack]);
        row->more = row->more || path_length(work, stack) > level + 1;
        if (work->figures[stack].bytes > work->figures[greatest].bytes)
            greatest = stack;
    }
    row->stack = build->query.profile->stacks[greatest]->id;
}

static bool
enough_blocks(struct build *build, const struct profile_row *row)
{
    if (row->figures.blocks >= build->query.query->filter->blocks_min)
        return true;
    build->table->few++;
    return false;
}

static void
list_stacks(struct build *build)
{
    const struct profile_work *work = build->work;

    for (size_t i = 0; i < work->count && !build->failed; i++) {
        uint32_t stack = work->order[i];
        struct profile_row row = {.key = build->query.profile->stacks[stack]->key,
                                  .function = work->functions[work->starts[stack]],
                                  .stacks = 1,
                                  .begin = i};

        sum_row(build, &row, SIZE_MAX - 1);
        if (enough_blocks(build, &row))
            add_row(build, &row);
    }
    if (build->table->count > 1)
        qsort_r(build->table->rows, build->table->count, sizeof *build->table->rows,
                compare_rows, (void *)build->query.query);
}

/* ---- trees ---- */

/* The place of a level in the tree. */
struct level {
    size_t begin, end;   /* range of the order */
    size_t depth;
    unsigned indent;     /* of the parent */
    uint64_t parent;     /* key */
    uint64_t guides;
};

struct compare_level {
    const struct build *build;
    size_t depth;
};

/* Paths that have ended come first, the others are ordered by function. */
static int
compare_paths(const void *a, const void *b, void *context)
{
    const struct compare_level *level = context;
    const struct build *build = level->build;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    bool left_ends = path_length(build->work, left) <= level->depth;
    bool right_ends = path_length(build->work, right) <= level->depth;

    if (!left_ends && !right_ends) {
        uint32_t f = path_at(build, left, level->depth);
        uint32_t g = path_at(build, right, level->depth);

        if (f != g)
            return f < g ? -1 : 1;
    } else if (left_ends != right_ends) {
        return left_ends ? -1 : 1;
    }
    return left < right ? -1 : left > right;
}

/* Makes the rows of a level, sorted; NULL if there are none, or memory is short. */
static struct profile_row *
group(struct build *build, const struct level *level, size_t *count)
{
    struct compare_level context = {build, level->depth};
    struct profile_row *rows = NULL;
    uint32_t *order = build->work->order;
    size_t room = 0, from = level->begin, to;

    *count = 0;
    qsort_r(order + from, level->end - from, sizeof *order, compare_paths, &context);
    while (from < level->end && path_length(build->work, order[from]) <= level->depth)
        from++;
    for (; from < level->end; from = to) {
        uint32_t function = path_at(build, order[from], level->depth);
        struct profile_row row = {.key = row_key(level->parent, function),
                                  .function = function,
                                  .depth = (unsigned)level->depth,
                                  .begin = from};

        for (to = from + 1; to < level->end; to++)
            if (path_at(build, order[to], level->depth) != function)
                break;
        row.stacks = to - from;
        sum_row(build, &row, level->depth);
        if (!enough_blocks(build, &row))
            continue;
        if (!ARRAY_GROW(rows, room, *count + 1)) {
            build->failed = true;
            break;
        }
        rows[(*count)++] = row;
    }
    if (rows != NULL)
        qsort_r(rows, *count, sizeof *rows, compare_rows, (void *)build->query.query);
    return rows;
}

static void
add_level(struct build *build, const struct level *level)
{
    const struct profile_toggled *toggled = build->query.query->toggled;
    size_t count;
    struct profile_row *rows = group(build, level, &count);

    for (size_t i = 0; i < count && !build->failed; i++) {
        struct profile_row *row = &rows[i];
        struct level below = {.begin = row->begin,
                              .end = row->begin + row->stacks,
                              .depth = level->depth + 1,
                              .parent = row->key,
                              .guides = level->guides};
        bool at_first = count == 1 || (toggled != NULL && toggled->all_open);

        /* A root's only child must not look like another root. */
        row->branch = level->depth == 1 || (level->depth > 1 && count > 1);
        row->indent = below.indent = level->indent + row->branch;
        if (row->branch && row->indent < 64 && i + 1 < count)
            below.guides |= UINT64_C(1) << row->indent;
        row->guides = below.guides;
        row->more = row->more && below.depth < TREE_DEPTH_MAX;
        row->open = row->more && at_first != is_toggled(toggled, row->key);
        if (add_row(build, row) != NULL && row->open)
            add_level(build, &below);
    }
    free(rows);
}

/* ---- the answer ---- */

static struct profile_work *
new_work(const struct profile *profile)
{
    struct profile_work *work = calloc(1, sizeof *work);
    size_t count = profile->stack_count + 1;

    if (work == NULL)
        return NULL;
    work->figures = calloc(count, sizeof *work->figures);
    work->order = calloc(count, sizeof *work->order);
    work->starts = calloc(count, sizeof *work->starts);
    if (work->figures != NULL && work->order != NULL && work->starts != NULL)
        return work;
    free_work(work);
    return NULL;
}

static unsigned
missing_parts(const struct build *build)
{
    const struct profile *profile = build->query.profile;
    unsigned missing = 0;

    if (build->query.past != NULL || !profile->rates_known)
        missing |= PROFILE_RATES;
    if (build->query.past != NULL || profile->growth_since_ns < 0)
        missing |= PROFILE_GROWTH;
    if (build->query.past != NULL)
        missing |= PROFILE_AGES;
    return missing;
}

static void
fill_rows(struct build *build)
{
    struct profile_work *work = build->work;
    struct profile_table *table = build->table;

    build->query.figures = work->figures;
    build->rules = judge_functions(build);
    figures_fill(&build->query);
    make_paths(build);
    free(build->rules);
    table->stacks = work->count;
    for (size_t i = 0; i < work->count; i++)
        figures_add(&table->sum, &work->figures[work->order[i]]);
    if (build->failed)
        return;
    if (build->query.query->form == PROFILE_STACKS) {
        list_stacks(build);
    } else {
        const struct level root = {.end = work->count};

        add_level(build, &root);
    }
}

void
profile_table_fill(struct profile_table *table, const struct profile *profile,
                   const struct profile_query *query)
{
    struct build build = {.query = {.profile = profile, .query = query}, .table = table};
    struct profile_row *rows = table->rows;
    size_t room = table->room;

    free_work(table->work);
    *table = (struct profile_table){.query = *query, .rows = rows, .room = room};
    table->query.filter = NULL;
    table->query.toggled = NULL;
    table->answer = figures_answer(profile, query);
    if (table->answer != PROFILE_ANSWERED)
        return;
    if (query->past_ns >= 0)
        build.query.past = profile_find_checkpoint(profile, query->past_ns);
    table->run_ns = build.query.past != NULL ? build.query.past->run_ns : profile->run_ns;
    table->missing = missing_parts(&build);
    table->work = build.work = new_work(profile);
    if (build.work != NULL)
        fill_rows(&build);
    if (build.work == NULL || build.failed) {
        table->answer = PROFILE_SHORT;
        table->count = 0;
    }
}

const uint32_t *
profile_table_path(const struct profile_table *table, const struct profile *profile,
                   size_t row, size_t *length)
{
    const struct profile_work *work = table->work;
    uint32_t stack = profile_stack_index(profile, table->rows[row].stack);

    *length = path_length(work, stack);
    return work->functions + work->starts[stack];
}

bool
profile_table_place(const struct profile_table *table, const struct profile *profile,
                    size_t row, struct profile_place *place)
{
    uint32_t function = table->rows[row].function;
    unsigned depth;
    const uint64_t *pcs = sites_stack(&profile->reading, table->rows[row].stack, &depth);

    for (unsigned i = 0; pcs != NULL && i < depth; i++) {
        const struct profile_address *address =
            profile_find_address(profile, sites_call(pcs[i]));

        for (uint32_t k = 0; address != NULL && k < address->frame_count; k++)
            if (address->frames[k].function == function) {
                *place = address->frames[k];
                return true;
            }
    }
    return false;
}

/* ---- sites instead of rows ---- */

/* Zeroes the figures of sites whose stacks do not pass, or have too few samples. */
static void
drop_sites(struct build *build, struct profile_figures *figures)
{
    const struct profile *profile = build->query.profile;
    const struct profile_filter *filter = build->query.query->filter;
    uint64_t *blocks = calloc(profile->stack_count + 1, sizeof *blocks);

    build->failed |= blocks == NULL;
    for (size_t i = 0; blocks != NULL && i < profile->site_count; i++)
        blocks[profile->sites[i].stack] += figures[i].blocks;
    for (size_t i = 0; blocks != NULL && i < profile->site_count; i++) {
        uint32_t stack = profile->sites[i].stack;

        if (blocks[stack] < filter->blocks_min
            || !passes_rules(filter, put_stack(build, profile->stacks[stack], 0, NULL)))
            figures[i] = (struct profile_figures){0};
    }
    free(blocks);
}

static void
hide_functions(struct build *build, bool *hidden)
{
    const uint32_t rules = rules_of_kind(build->query.query->filter, PROFILE_HIDE);

    for (size_t i = 0; build->rules != NULL && i < build->query.profile->functions.count;
         i++)
        hidden[i] = build->rules[i] & rules;
}

enum profile_answer
profile_select(const struct profile *profile, const struct profile_query *query,
               struct profile_selection *selection)
{
    struct build build = {.query = {.profile = profile, .query = query, .by_site = true}};
    enum profile_answer answer = figures_answer(profile, query);

    *selection = (struct profile_selection){.figures = NULL};
    if (answer != PROFILE_ANSWERED)
        return answer;
    selection->figures = calloc(profile->site_count + 1, sizeof *selection->figures);
    selection->hidden = calloc(profile->functions.count + 1, sizeof *selection->hidden);
    build.query.figures = selection->figures;
    build.failed = selection->figures == NULL || selection->hidden == NULL;
    if (!build.failed) {
        build.rules = judge_functions(&build);
        figures_fill(&build.query);
        drop_sites(&build, selection->figures);
        hide_functions(&build, selection->hidden);
        free(build.rules);
    }
    if (!build.failed)
        return PROFILE_ANSWERED;
    profile_selection_free(selection);
    return PROFILE_SHORT;
}

void
profile_selection_free(struct profile_selection *selection)
{
    free(selection->figures);
    free(selection->hidden);
    *selection = (struct profile_selection){.figures = NULL};
}
