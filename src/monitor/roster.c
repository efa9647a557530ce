/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The process list.  Entries are kept in the order in which they were added; the
 * arrangement is a list of pointers made anew on request, by walking down from entries
 * without a parent.  Whatever parents are claimed, the walk visits each entry once.
 */
#include "config.h"

#include "monitor/roster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 63 /* the number of bits in guides */

struct item {
    struct roster_entry entry; /* first: pointers to it are pointers to the item */
    bool listed;
};

struct roster {
    bool rooted;
    struct item **items, **sorted;
    size_t count, room;
    struct roster_entry **order;
    size_t ordered;
    struct roster_sum sum;
};

struct roster *
roster_new(bool rooted)
{
    struct roster *roster = calloc(1, sizeof *roster);

    if (roster)
        roster->rooted = rooted;
    return roster;
}

void
roster_free(struct roster *roster)
{
    if (!roster)
        return;
    for (size_t i = 0; i < roster->count; i++)
        free(roster->items[i]);
    free(roster->items);
    free(roster->sorted);
    free(roster->order);
    free(roster);
}

struct roster_entry *
roster_find(struct roster *roster, pid_t pid)
{
    for (size_t i = 0; i < roster->count; i++)
        if (roster->items[i]->entry.pid == pid && !roster->items[i]->entry.ended)
            return &roster->items[i]->entry;
    return NULL;
}

struct roster_entry *
roster_find_image(struct roster *roster, pid_t pid, uint64_t image_ns)
{
    for (size_t i = 0; i < roster->count; i++) {
        struct roster_entry *entry = &roster->items[i]->entry;

        if (entry->pid == pid && entry->image_ns >= image_ns)
            return entry;
    }
    return NULL;
}

static bool
make_room(struct roster *roster)
{
    size_t room = roster->room ? roster->room * 2 : 64;
    void *items, *sorted, *order;

    if (roster->count < roster->room)
        return true;
    items = reallocarray(roster->items, room, sizeof(void *));
    roster->items = items ? items : roster->items;
    sorted = reallocarray(roster->sorted, room, sizeof(void *));
    roster->sorted = sorted ? sorted : roster->sorted;
    order = reallocarray(roster->order, room, sizeof(void *));
    roster->order = order ? order : roster->order;
    if (!items || !sorted || !order)
        return false;
    roster->room = room;
    return true;
}

struct roster_entry *
roster_add(struct roster *roster, pid_t pid)
{
    struct item *item = make_room(roster) ? calloc(1, sizeof *item) : NULL;

    if (!item)
        return NULL;
    item->entry.pid = pid;
    item->entry.generations = 1;
    roster->items[roster->count++] = item;
    return &item->entry;
}

static void
remove_at(struct roster *roster, size_t index)
{
    free(roster->items[index]);
    memmove(&roster->items[index], &roster->items[index + 1],
            (roster->count - index - 1) * sizeof *roster->items);
    roster->count--;
    roster->ordered = 0; /* until it is arranged again */
}

void
roster_note_short(struct roster *roster, const struct roster_entry *entry)
{
    roster->sum.shortest++;
    for (size_t i = 0; i < roster->count; i++)
        if (&roster->items[i]->entry == entry) {
            remove_at(roster, i);
            return;
        }
}

struct roster_entry *
roster_first(struct roster *roster)
{
    return &roster->items[0]->entry;
}

void
roster_copy_process(struct roster_entry *entry, const struct process *process)
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
roster_note_exec(struct roster_entry *entry, const char *name)
{
    size_t used = strlen(entry->before), length = strcspn(name, " ");
    const char *last = strrchr(entry->before, ' ');

    entry->generations++;
    last = last ? last + 1 : entry->before;
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
    const struct roster_entry *a = *(void *const *)left, *b = *(void *const *)right;
    int order = (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);

    if (order == 0)
        order = (a->pid > b->pid) - (a->pid < b->pid);
    if (a->ended != b->ended)
        return a->ended ? 1 : -1;
    return a->ended ? -order : order;
}

/* parent NULL: is it a child of no entry? */
static bool
is_child(const struct item *item, const struct roster_entry *parent)
{
    return !item->listed && item->entry.parent == (parent ? parent->pid : 0);
}

/* Has it a living descendant?  depth bounds the walk, whatever parents claim. */
static bool
has_living(const struct roster *roster, const struct roster_entry *entry, unsigned depth)
{
    for (size_t i = 0; i < roster->count; i++) {
        const struct item *item = roster->sorted[i];

        if (is_child(item, entry)
            && (!item->entry.ended
                || (depth < DEPTH_MAX && has_living(roster, &item->entry, depth + 1))))
            return true;
    }
    return false;
}

/* Is it left out of the list?  That is so for ended processes beyond the limit, and for
   the children of an ended process other than the root. */
static bool
is_folded(const struct roster *roster, const struct roster_entry *parent,
          const struct item *item, unsigned ended)
{
    const bool within = parent && parent->ended && parent->parent != 0;

    return parent && item->entry.ended && (within || ended >= ROSTER_ENDED_LISTED)
           && !has_living(roster, &item->entry, 0);
}

/* Leaves out the item and everything below it; returns their number. */
static unsigned
fold(struct roster *roster, struct item *item)
{
    unsigned count = 1;

    item->listed = true;
    for (size_t i = 0; i < roster->count; i++)
        if (is_child(roster->sorted[i], &item->entry))
            count += fold(roster, roster->sorted[i]);
    return count;
}

/* Does another child, from index next on, follow in the list? */
static bool
goes_on(const struct roster *roster, const struct roster_entry *parent, size_t next,
        unsigned ended)
{
    for (size_t i = next; i < roster->count; i++)
        if (is_child(roster->sorted[i], parent)
            && !is_folded(roster, parent, roster->sorted[i], ended))
            return true;
    return false;
}

static void
list_children(struct roster *roster, struct roster_entry *parent, unsigned depth,
              uint64_t guides)
{
    unsigned ended = 0;

    for (size_t i = 0; i < roster->count; i++) {
        struct item *item = roster->sorted[i];
        struct roster_entry *entry = &item->entry;

        if (!is_child(item, parent))
            continue;
        if (is_folded(roster, parent, item, ended)) {
            parent->unlisted += fold(roster, item);
            continue;
        }
        item->listed = true;
        ended += entry->ended;
        entry->depth = depth;
        entry->guides = guides;
        if (goes_on(roster, parent, i + 1, ended))
            entry->guides |= UINT64_C(1) << depth;
        roster->order[roster->ordered++] = entry;
        if (depth < DEPTH_MAX)
            list_children(roster, entry, depth + 1, entry->guides);
    }
}

/* An entry whose parent is not here becomes a child of the root, or has no parent. */
static void
adopt_orphans(struct roster *roster)
{
    for (size_t i = 0; i < roster->count; i++) {
        struct roster_entry *entry = &roster->items[i]->entry;
        bool known = false;

        for (size_t j = 0; j < roster->count && !known; j++)
            known = j != i && roster->items[j]->entry.pid == entry->parent;
        if (roster->rooted && i == 0)
            entry->parent = 0;
        else if (!known)
            entry->parent = roster->rooted ? roster->items[0]->entry.pid : 0;
    }
}

static void
add_up(struct roster *roster)
{
    struct roster_sum sum = {.dropped = roster->sum.dropped,
                             .shortest = roster->sum.shortest};

    for (size_t i = 0; i < roster->count; i++) {
        const struct roster_entry *entry = &roster->items[i]->entry;

        if (entry->ended) {
            sum.ended++;
            continue;
        }
        sum.living++;
        if (!entry->measured)
            sum.blind++;
        else if (__builtin_add_overflow(sum.heap, entry->heap, &sum.heap))
            sum.heap = UINT64_MAX;
    }
    roster->sum = sum;
}

static void
drop_oldest(struct roster *roster)
{
    size_t ended = 0;

    for (size_t i = 0; i < roster->count; i++)
        ended += roster->items[i]->entry.ended;
    for (size_t i = 0; i < roster->count && ended > ROSTER_ENDED_KEPT;) {
        if ((roster->rooted && i == 0) || !roster->items[i]->entry.ended) {
            i++;
            continue;
        }
        remove_at(roster, i);
        roster->sum.dropped++;
        ended--;
    }
}

static void
list_all(struct roster *roster)
{
    for (size_t i = 0; i < roster->count; i++) {
        roster->items[i]->listed = false;
        roster->items[i]->entry.unlisted = 0;
    }
    roster->ordered = 0;
    list_children(roster, NULL, 0, 0);
}

/* If parents form a cycle, takes one of them out of it; false if there is no cycle. */
static bool
break_circle(struct roster *roster)
{
    for (size_t i = 0; i < roster->count; i++)
        if (!roster->sorted[i]->listed) {
            roster->sorted[i]->entry.parent =
                roster->rooted ? roster->items[0]->entry.pid : 0;
            return true;
        }
    return false;
}

void
roster_arrange(struct roster *roster, uint64_t now_ns)
{
    drop_oldest(roster);
    adopt_orphans(roster);
    for (size_t i = 0; i < roster->count; i++) {
        struct roster_entry *entry = &roster->items[i]->entry;

        roster->sorted[i] = roster->items[i];
        if (!entry->ended && entry->start_ns > 0)
            entry->run_ns = (int64_t)(now_ns - entry->start_ns);
    }
    if (roster->count > 1)
        qsort(roster->sorted, roster->count, sizeof *roster->sorted, by_importance);
    do
        list_all(roster);
    while (break_circle(roster));
    add_up(roster);
}

void
roster_each(const struct roster *roster,
            void (*visit)(void *context, const struct roster_entry *entry), void *context)
{
    for (size_t i = 0; i < roster->count; i++)
        visit(context, &roster->items[i]->entry);
}

size_t
roster_count(const struct roster *roster)
{
    return roster->ordered;
}

const struct roster_entry *
roster_at(const struct roster *roster, size_t index)
{
    return roster->order[index];
}

const struct roster_sum *
roster_sum(const struct roster *roster)
{
    return &roster->sum;
}
