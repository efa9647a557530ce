/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The process list.  Entries are kept in the order in which they were added; the
 * arrangement is a list of pointers made anew on request, by walking down from entries
 * without a parent.  Whatever parents are claimed, the walk visits each entry once.
 */
#include "config.h"

#include "monitor/process-list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/figures.h"

#define DEPTH_MAX 63 /* the number of bits in guides */

struct item {
    struct process_entry entry; /* first: pointers to it are pointers to the item */
    bool listed;
};

struct process_list {
    bool rooted;
    struct item **items, **sorted;
    struct process_entry **order;
    size_t count, ordered;
    size_t room, sorted_room, order_room;
    struct process_list_sum sum;
};

struct process_list *
process_list_new(bool rooted)
{
    struct process_list *list = calloc(1, sizeof *list);

    if (list != NULL)
        list->rooted = rooted;
    return list;
}

void
process_list_free(struct process_list *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    free(list->sorted);
    free(list->order);
    free(list);
}

struct process_entry *
process_list_find(struct process_list *list, pid_t pid)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->entry.pid == pid && !list->items[i]->entry.ended)
            return &list->items[i]->entry;
    return NULL;
}

struct process_entry *
process_list_find_image(struct process_list *list, pid_t pid, uint64_t image_ns)
{
    for (size_t i = 0; i < list->count; i++) {
        struct process_entry *entry = &list->items[i]->entry;

        if (entry->pid == pid && entry->image_ns >= image_ns)
            return entry;
    }
    return NULL;
}

static bool
make_room(struct process_list *list)
{
    return ARRAY_GROW(list->items, list->room, list->count + 1)
           && ARRAY_GROW(list->sorted, list->sorted_room, list->count + 1)
           && ARRAY_GROW(list->order, list->order_room, list->count + 1);
}

struct process_entry *
process_list_add(struct process_list *list, pid_t pid)
{
    struct item *item = make_room(list) ? calloc(1, sizeof *item) : NULL;

    if (item == NULL)
        return NULL;
    item->entry.pid = pid;
    item->entry.generations = 1;
    list->items[list->count++] = item;
    return &item->entry;
}

static void
remove_at(struct process_list *list, size_t index)
{
    free(list->items[index]);
    memmove(&list->items[index], &list->items[index + 1],
            (list->count - index - 1) * sizeof *list->items);
    list->count--;
    list->ordered = 0; /* until it is arranged again */
}

void
process_list_note_short(struct process_list *list, const struct process_entry *entry)
{
    list->sum.shortest++;
    for (size_t i = 0; i < list->count; i++)
        if (&list->items[i]->entry == entry) {
            remove_at(list, i);
            return;
        }
}

struct process_entry *
process_list_first(struct process_list *list)
{
    return &list->items[0]->entry;
}

void
process_list_copy_process(struct process_entry *entry, const struct process *process)
{
    entry->generations = process->generations;
    entry->state = process->state;
    entry->ended = process->ended;
    entry->measured = process->measured;
    entry->why_not = process->why_not;
    entry->run_ns = process->run_ns;
    entry->heap = process->now.live_bytes;
    entry->heap_peak = process->now.peak_bytes;
    entry->rss = process->os_known && !process->ended ? process->os.rss : 0;
    entry->allocations = 0;
    for (int i = 0; i < FN_COUNT; i++)
        entry->allocations += i == FN_FREE ? 0 : process->rates.calls[i];
}

void
process_list_note_exec(struct process_entry *entry, const char *name)
{
    size_t used = strlen(entry->before), length = strcspn(name, " ");
    const char *last = strrchr(entry->before, ' ');

    entry->generations++;
    last = last != NULL ? last + 1 : entry->before;
    if (strlen(last) == length && strncmp(last, name, length) == 0)
        return; /* that name is there already */
    snprintf(entry->before + used, sizeof entry->before - used, "%s%.*s",
             used ? " > " : "", (int)length, name);
}

/* ---- the arrangement ---- */

/* Living before ended processes; living ones oldest first, ended ones newest first. */
static int
by_importance(const void *left, const void *right)
{
    const struct process_entry *a = *(void *const *)left, *b = *(void *const *)right;
    int order = (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);

    if (order == 0)
        order = (a->pid > b->pid) - (a->pid < b->pid);
    if (a->ended != b->ended)
        return a->ended ? 1 : -1;
    return a->ended ? -order : order;
}

/* parent NULL: is it a child of no entry? */
static bool
is_child(const struct item *item, const struct process_entry *parent)
{
    return !item->listed && item->entry.parent == (parent != NULL ? parent->pid : 0);
}

/* Has it a living descendant?  depth bounds the walk, whatever parents claim. */
static bool
has_living(const struct process_list *list, const struct process_entry *entry,
           unsigned depth)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct item *item = list->sorted[i];

        if (is_child(item, entry)
            && (!item->entry.ended
                || (depth < DEPTH_MAX && has_living(list, &item->entry, depth + 1))))
            return true;
    }
    return false;
}

/* Is it left out of the list?  That is so for ended processes beyond the limit, and for
   the children of an ended process other than the root. */
static bool
is_folded(const struct process_list *list, const struct process_entry *parent,
          const struct item *item, unsigned ended)
{
    const bool within = parent != NULL && parent->ended && parent->parent != 0;

    return parent != NULL && item->entry.ended
           && (within || ended >= PROCESS_LIST_ENDED_LISTED)
           && !has_living(list, &item->entry, 0);
}

/* Leaves out the item and everything below it; returns their number. */
static unsigned
fold(struct process_list *list, struct item *item)
{
    unsigned count = 1;

    item->listed = true;
    for (size_t i = 0; i < list->count; i++)
        if (is_child(list->sorted[i], &item->entry))
            count += fold(list, list->sorted[i]);
    return count;
}

/* Does another child, from index next on, follow in the list? */
static bool
goes_on(const struct process_list *list, const struct process_entry *parent, size_t next,
        unsigned ended)
{
    for (size_t i = next; i < list->count; i++)
        if (is_child(list->sorted[i], parent)
            && !is_folded(list, parent, list->sorted[i], ended))
            return true;
    return false;
}

static void
list_children(struct process_list *list, struct process_entry *parent, unsigned depth,
              uint64_t guides)
{
    unsigned ended = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct item *item = list->sorted[i];
        struct process_entry *entry = &item->entry;

        if (!is_child(item, parent))
            continue;
        if (is_folded(list, parent, item, ended)) {
            parent->unlisted += fold(list, item);
            continue;
        }
        item->listed = true;
        ended += entry->ended;
        entry->depth = depth;
        entry->guides = guides;
        if (goes_on(list, parent, i + 1, ended))
            entry->guides |= UINT64_C(1) << depth;
        list->order[list->ordered++] = entry;
        if (depth < DEPTH_MAX)
            list_children(list, entry, depth + 1, entry->guides);
    }
}

/* An entry whose parent is not here becomes a child of the root, or has no parent. */
static void
adopt_orphans(struct process_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct process_entry *entry = &list->items[i]->entry;
        bool known = false;

        for (size_t j = 0; j < list->count && !known; j++)
            known = j != i && list->items[j]->entry.pid == entry->parent;
        if (list->rooted && i == 0)
            entry->parent = 0;
        else if (!known)
            entry->parent = list->rooted ? list->items[0]->entry.pid : 0;
    }
}

static void
add_up(struct process_list *list)
{
    struct process_list_sum sum = {.dropped = list->sum.dropped,
                                   .shortest = list->sum.shortest};

    for (size_t i = 0; i < list->count; i++) {
        const struct process_entry *entry = &list->items[i]->entry;

        if (entry->ended) {
            sum.ended++;
            continue;
        }
        sum.living++;
        if (!entry->measured)
            sum.not_loaded++;
        else
            sum.heap = add_saturating(sum.heap, entry->heap);
    }
    list->sum = sum;
}

static void
drop_oldest(struct process_list *list)
{
    size_t ended = 0;

    for (size_t i = 0; i < list->count; i++)
        ended += list->items[i]->entry.ended;
    for (size_t i = 0; i < list->count && ended > PROCESS_LIST_ENDED_KEPT;) {
        if ((list->rooted && i == 0) || !list->items[i]->entry.ended) {
            i++;
            continue;
        }
        remove_at(list, i);
        list->sum.dropped++;
        ended--;
    }
}

static void
list_all(struct process_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        list->items[i]->listed = false;
        list->items[i]->entry.unlisted = 0;
    }
    list->ordered = 0;
    list_children(list, NULL, 0, 0);
}

/* If parents form a cycle, takes one of them out of it; false if there is no cycle. */
static bool
break_circle(struct process_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->sorted[i]->listed) {
            list->sorted[i]->entry.parent = list->rooted ? list->items[0]->entry.pid : 0;
            return true;
        }
    return false;
}

void
process_list_arrange(struct process_list *list, uint64_t now_ns)
{
    drop_oldest(list);
    adopt_orphans(list);
    for (size_t i = 0; i < list->count; i++) {
        struct process_entry *entry = &list->items[i]->entry;

        list->sorted[i] = list->items[i];
        if (!entry->ended && entry->start_ns > 0)
            entry->run_ns = (int64_t)(now_ns - entry->start_ns);
    }
    if (list->count > 1)
        qsort(list->sorted, list->count, sizeof *list->sorted, by_importance);
    do
        list_all(list);
    while (break_circle(list));
    add_up(list);
}

void
process_list_each(const struct process_list *list,
                  void (*visit)(void *context, const struct process_entry *entry),
                  void *context)
{
    for (size_t i = 0; i < list->count; i++)
        visit(context, &list->items[i]->entry);
}

size_t
process_list_count(const struct process_list *list)
{
    return list->ordered;
}

const struct process_entry *
process_list_at(const struct process_list *list, size_t index)
{
    return list->order[index];
}

const struct process_list_sum *
process_list_sum(const struct process_list *list)
{
    return &list->sum;
}
