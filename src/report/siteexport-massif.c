/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the format of valgrind's massif (its manual, "Massif", and ms_print): snapshots
 * of the heap and the stack over time.  Two of them have trees: the one at the peak of
 * what was sampled, and the last one.  The snapshots are measured, the trees estimated,
 * so a tree's sum is not exactly its snapshot's heap.  But readers fail if a part is
 * larger than the whole, so the heap of such a snapshot is the estimate.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/history.h"
#include "report/siteexport-private.h"
#include "base/textwidth.h"

#define SNAPSHOTS 100
#define THRESHOLD 0.01 /* of the tree: smaller nodes are summed up, as by massif */

/* A place and everything that was allocated through it. */
struct node {
    struct profile_place place;
    double bytes;
    struct node *children, *next;
    unsigned count;
};

struct snapshots {
    FILE *out;
    const struct siteexport *export;
    unsigned count;
    bool peak_is_due;
    int64_t peak_ns; /* run time */
};

/* ---- trees ---- */

static void
free_nodes(struct node *node)
{
    for (struct node *next; node != NULL; node = next) {
        next = node->next;
        free_nodes(node->children);
        free(node);
    }
}

static bool
same_place(const struct profile_place *a, const struct profile_place *b)
{
    return a->function == b->function && a->line == b->line
           && (a->file == b->file
               || (a->file != NULL && b->file != NULL && strcmp(a->file, b->file) == 0));
}

static struct node *
child_at(struct node *parent, const struct profile_place *place)
{
    struct node *child = parent->children;

    while (child != NULL && !same_place(&child->place, place))
        child = child->next;
    if (child != NULL)
        return child;
    child = calloc(1, sizeof *child);
    if (child == NULL)
        return NULL;
    child->place = *place;
    child->next = parent->children;
    parent->children = child;
    parent->count++;
    return child;
}

static bool
add_site(struct node *root, const struct siteexport *export, size_t index)
{
    static struct profile_place places[SITEEXPORT_PLACES];
    const struct site *site = &profile_digested(export->profile, NULL)->sites[index];
    double bytes = siteexport_figures(export, index).bytes;
    struct node *node = root;

    if (bytes < 0.5)
        return true;
    size_t count = siteexport_places(export, site, places);
    if (count == 0)
        places[count++] = (struct profile_place){.function = PROFILE_NO_STACK};
    root->bytes += bytes;
    for (size_t i = 0; i < count; i++) {
        node = child_at(node, &places[i]);
        if (node == NULL)
            return false;
        node->bytes += bytes;
    }
    return true;
}

static int
compare(const void *one, const void *other)
{
    const struct node *const *a = one, *const *b = other;

    return (*a)->bytes > (*b)->bytes ? -1 : (*a)->bytes < (*b)->bytes;
}

/* Returns the children as an array, largest first. */
static struct node **
sorted(const struct node *parent)
{
    struct node **all = calloc(parent->count + 1u, sizeof(struct node *));
    size_t count = 0;

    for (struct node *child = parent->children; all != NULL && child != NULL;
         child = child->next)
        all[count++] = child;
    if (all != NULL && count > 1)
        qsort(all, count, sizeof(struct node *), compare);
    return all;
}

static void
write_place(FILE *out, const struct siteexport *export, const struct node *node)
{
    const struct profile_place *place = &node->place;
    char name[1024], text[1024];

    fprintf(out, "0x%" PRIX64 ": %s", place->address,
            siteexport_name(export, place, "\n", name, sizeof name));
    if (place->file != NULL)
        fprintf(out, " (%s:%u)",
                text_sanitise(text, sizeof text, place->file, strlen(place->file)),
                place->line);
    else if (place->module != NULL)
        fprintf(out, " (in %s)",
                text_sanitise(text, sizeof text, place->module, strlen(place->module)));
}

/* total: the whole tree's bytes.  Children below the threshold share one line at the
   end. */
static bool
write_node(FILE *out, const struct siteexport *export, const struct node *node,
           unsigned depth, double total)
{
    struct node **children = sorted(node);
    unsigned large = 0, small;
    double rest = 0;
    bool good = children != NULL;

    if (!good)
        return false;
    while (large < node->count && children[large]->bytes >= THRESHOLD * total)
        large++;
    small = node->count - large;
    for (unsigned i = large; i < node->count; i++)
        rest += children[i]->bytes;
    fprintf(out, "%*sn%u: %lld ", (int)depth, "", large + (small > 0),
            (long long)siteexport_round(node->bytes));
    if (depth == 0)
        fputs("(heap allocation functions) malloc/new/new[], --alloc-fns, etc.", out);
    else
        write_place(out, export, node);
    putc('\n', out);
    for (unsigned i = 0; good && i < large; i++)
        good = write_node(out, export, children[i], depth + 1, total);
    if (small > 0)
        fprintf(out, "%*sn0: %lld in %u place%s, %sbelow massif's threshold (1.00%%)\n",
                (int)depth + 1, "", (long long)siteexport_round(rest), small,
                small > 1 ? "s" : "", small > 1 ? "all " : "");
    free(children);
    return good;
}

static bool
build_tree(struct node *root, const struct siteexport *export, enum profile_mode mode)
{
    struct siteexport of_mode = *export;
    size_t count = profile_digested(export->profile, NULL)->site_count;
    bool good = true;

    of_mode.mode = mode;
    for (size_t i = 0; good && i < count; i++)
        good = add_site(root, &of_mode, i);
    return good;
}

/* ---- snapshots ---- */

static void
begin_snapshot(struct snapshots *snapshots, int64_t run_ns, uint64_t heap,
               uint64_t stack)
{
    fprintf(snapshots->out,
            "#-----------\nsnapshot=%u\n#-----------\ntime=%lld\nmem_heap_B=%" PRIu64
            "\nmem_heap_extra_B=0\nmem_stacks_B=%" PRIu64 "\n",
            snapshots->count++, (long long)(run_ns / 1000000), heap, stack);
}

/* kind: peak or detailed. */
static bool
write_with_tree(struct snapshots *snapshots, const char *kind, enum profile_mode mode,
                int64_t run_ns, uint64_t heap, uint64_t stack)
{
    struct node root = {.bytes = 0};
    bool good = build_tree(&root, snapshots->export, mode);
    uint64_t sum = (uint64_t)siteexport_round(root.bytes);

    if (good) {
        begin_snapshot(snapshots, run_ns, heap > sum ? heap : sum, stack);
        fprintf(snapshots->out, "heap_tree=%s\n", kind);
        good = write_node(snapshots->out, snapshots->export, &root, 0, root.bytes);
    }
    free_nodes(root.children);
    return good;
}

static bool
write_peak(struct snapshots *snapshots, uint64_t heap, uint64_t stack)
{
    snapshots->peak_is_due = false;
    return write_with_tree(snapshots, "peak", PROFILE_PEAK, snapshots->peak_ns, heap,
                           stack);
}

static uint64_t
value_of(const struct column *column, bool highest)
{
    uint64_t value = highest ? column->max : column->last;

    return column->known && value != HISTORY_UNKNOWN ? value : 0;
}

static bool
write_timeline(struct snapshots *snapshots)
{
    const struct history *history = snapshots->export->tracked->history;
    struct column heap[SNAPSHOTS], stack[SNAPSHOTS];
    int64_t first_ns, last_ns;

    if (!history_span(history, &first_ns, &last_ns))
        return true;
    history_columns(history, SERIES_HEAP, first_ns, last_ns, heap, SNAPSHOTS);
    history_columns(history, SERIES_STACK, first_ns, last_ns, stack, SNAPSHOTS);
    for (int i = 0; i < SNAPSHOTS; i++) {
        int64_t end_ns = first_ns + (last_ns - first_ns) / SNAPSHOTS * (i + 1);
        bool peak = snapshots->peak_is_due && snapshots->peak_ns <= end_ns;

        if (peak && !write_peak(snapshots, value_of(&heap[i], true),
                                value_of(&stack[i], true)))
            return false;
        if (!heap[i].known)
            continue;
        begin_snapshot(snapshots, end_ns, value_of(&heap[i], !peak),
                       value_of(&stack[i], !peak));
        fputs("heap_tree=empty\n", snapshots->out);
    }
    return true;
}

static bool
write_end(struct snapshots *snapshots)
{
    const struct process *process = &snapshots->export->tracked->process;
    const struct sites_reading *reading =
        profile_digested(snapshots->export->profile, NULL);

    if (snapshots->peak_is_due
        && !write_peak(snapshots, (uint64_t)siteexport_round(reading->peak_bytes), 0))
        return false;
    return write_with_tree(snapshots, "detailed", PROFILE_LIVE,
                           process->run_ns > 0 ? process->run_ns : 0,
                           process->now.live_bytes, process->now.stack_now);
}

bool
siteexport_massif(FILE *out, const struct siteexport *export)
{
    const char *command = tracked_command(export->tracked);
    int64_t begin_ns;
    const struct sites_reading *reading = profile_digested(export->profile, &begin_ns);
    struct snapshots snapshots = {.out = out, .export = export, .peak_is_due = true};
    char text[4096];

    snapshots.peak_ns = begin_ns + (int64_t)reading->peak_ns;
    if (snapshots.peak_ns < 0)
        snapshots.peak_ns = 0;
    fprintf(out, "desc: memtop " PACKAGE_VERSION
                 " (trees are estimated from samples)\ncmd: %s\ntime_unit: ms\n",
            text_sanitise(text, sizeof text, command, strlen(command)));
    return write_timeline(&snapshots) && write_end(&snapshots) && !ferror(out);
}
