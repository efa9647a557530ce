/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree announces each segment before it removes it (tree_prune()); the others are
 * read at the end.  For sums the segments of living processes are kept open.
 */
#include "config.h"

#include "monitor/usage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/i18n.h"
#include "system/not-loaded.h"
#include "base/array.h"
#include "monitor/unseen.h"
#include "base/figures.h"
#include "base/path.h"
#include "segment/names.h"

/* A program that was just executed may not have its segment yet. */
#define LOADING_NS    INT64_C(10000000)
#define LOADING_TRIES 100

/* A living process, for sums. */
struct usage_member {
    struct tree_segment segment;
    struct reader *reader;
    uint64_t peak, stack_peak; /* as of the last poll ... */
    bool polled;               /* ... if there was one */
};

struct usage {
    struct tree *tree;
    pid_t root;
    struct usage_options options;
    struct image *images;
    size_t image_count, image_room;
    struct usage_member *members;
    size_t member_count, member_room;
    unsigned looks;
    bool images_only; /* figures are not asked for yet */
    struct usage_result result;
};

/* ---- one process ---- */

/* Calls that returned a block: all that may, minus those that failed and reallocs to size
   0.  The counters of an untrusted segment may be inconsistent. */
static uint64_t
allocations(const struct snapshot *now)
{
    uint64_t sum = 0;

    for (int i = 0; i < FN_COUNT; i++)
        if (i != FN_FREE)
            sum = add_saturating(sum, subtract_floor(now->calls[i], now->failed[i]));
    return subtract_floor(sum, now->realloc_freed);
}

uint64_t
usage_of(enum usage_kind kind, const struct snapshot *now)
{
    switch (kind) {
    case USAGE_HEAP:
        return now->peak_bytes;
    case USAGE_LIVE_AT_EXIT:
        return now->live_bytes;
    case USAGE_ALLOCS:
        return allocations(now);
    default:
        return now->stack_peak;
    }
}

/* ---- images ---- */

/* False for programs with another name than -n gives. */
static bool
is_wanted(const struct usage *usage, const char *path)
{
    return usage->options.only == NULL
           || strcmp(path_name(path), usage->options.only) == 0;
}

static void
raise_most(struct usage_most *most, uint64_t value, const struct image *image, pid_t pid)
{
    if (most->pid != 0 && value <= most->value)
        return;
    most->value = value;
    most->pid = pid;
    snprintf(most->name, sizeof most->name, "%s", image->name);
}

/* An image that has executed another one has not ended: what it had not freed was taken
   from it by the exec. */
static void
add_figures(struct usage *usage, const struct image *image, pid_t pid, bool lives,
            const struct snapshot *now)
{
    struct usage_result *result = &usage->result;

    for (enum usage_kind kind = 0; kind < USAGE_KINDS; kind++) {
        uint64_t value = usage_of(kind, now);

        if (kind == USAGE_LIVE_AT_EXIT && (lives || image->executed.replaced))
            continue;
        raise_most(&result->most[kind], value, image, pid);
        if (kind == USAGE_LIVE_AT_EXIT || kind == USAGE_ALLOCS)
            result->sum[kind] = add_saturating(result->sum[kind], value);
        else /* it may have lived between two polls */
            raise_to(&result->sum[kind], value);
    }
    result->processes++;
    result->running += lives;
}

static void
note_unmeasured(struct usage *usage, const char *why)
{
    if (usage->result.unmeasured++ == 0)
        snprintf(usage->result.why, sizeof usage->result.why, "%s", why);
}

static void
note_passive(struct usage *usage, const struct identity *identity)
{
    char why[sizeof usage->result.why];

    if (identity->reason == REASON_OTHER_PROGRAM)
        return;
    snprintf(why, sizeof why, "%.60s: %s", path_name(identity->program),
             segment_reason_text(identity->reason));
    note_unmeasured(usage, why);
}

static bool
is_measured(const struct identity *identity)
{
    return identity->state != SEGMENT_PASSIVE && identity->reason == REASON_NONE;
}

static struct image *
add_image(struct usage *usage, const struct identity *identity)
{
    struct image *image;

    if (!ARRAY_GROW(usage->images, usage->image_room, usage->image_count + 1))
        return NULL;
    image = &usage->images[usage->image_count++];
    *image = (struct image){
        .pid = identity->pid,
        .parent = identity->parent,
        .generation = identity->generation,
        .forked = identity->origin != ORIGIN_EXEC,
        .elsewhere = identity->pid_namespace != segment_pid_namespace(),
    };
    snprintf(image->name, sizeof image->name, "%.27s", path_name(identity->program));
    return image;
}

static bool
still_lives(const struct tree_segment *segment)
{
    return segment->pid > 0
           && segment_process_lives(segment->pid, segment->created_boottime_ns);
}

/* Takes the last reading of an image. */
static void
take_image(void *context, const struct tree_segment *segment)
{
    struct usage *usage = context;
    struct identity identity;
    struct snapshot now;
    struct reader *reader;
    struct image *image;

    if (tree_open(usage->tree, segment, &reader))
        return;
    image = reader_identity(reader, &identity) == 0 ? add_image(usage, &identity) : NULL;
    if (image != NULL) {
        reader_executed(reader, &image->executed);
        if (usage->images_only)
            ; /* later */
        else if (!is_measured(&identity))
            note_passive(usage, &identity);
        else if (reader_snapshot(reader, &now) == 0)
            add_figures(usage, image, segment->pid > 0 ? segment->pid : segment->own_pid,
                        !image->executed.replaced && still_lives(segment), &now);
    }
    reader_close(reader);
}

/* ---- sums over living processes ---- */

static bool
is_member(const struct usage *usage, const struct tree_segment *segment)
{
    for (size_t i = 0; i < usage->member_count; i++)
        if (tree_same_process(&usage->members[i].segment, segment)
            && usage->members[i].segment.generation == segment->generation)
            return true;
    return false;
}

static void
open_member(void *context, const struct tree_segment *segment)
{
    struct usage *usage = context;
    struct reader *reader;

    if (!segment->counts || is_member(usage, segment) || !still_lives(segment)
        || tree_open(usage->tree, segment, &reader))
        return;
    if (!ARRAY_GROW(usage->members, usage->member_room, usage->member_count + 1)) {
        reader_close(reader);
        return;
    }
    usage->members[usage->member_count++] =
        (struct usage_member){.segment = *segment, .reader = reader};
}

/* What members had since the last poll, by when they lived: one that ended and one that
   began in between need not have lived at the same time. */
struct sums {
    uint64_t heap, stack;
};

static void
add_to(struct sums *sums, uint64_t heap, uint64_t stack)
{
    sums->heap = add_saturating(sums->heap, heap);
    sums->stack = add_saturating(sums->stack, stack);
}

static bool
is_over(const struct usage_member *member)
{
    struct executed executed;

    return !still_lives(&member->segment)
           || (reader_executed(member->reader, &executed) == 0 && executed.replaced);
}

/* Adds a member to the sums at the beginning of the interval, at its end, or both. */
static void
add_member(struct usage_member *member, bool over, struct sums *before,
           struct sums *after)
{
    struct snapshot now;
    uint64_t heap, stack;

    if (reader_snapshot(member->reader, &now) != 0)
        return;
    heap = highest_since(now.live_bytes, now.peak_bytes, &member->peak);
    stack = highest_since(now.stack_now, now.stack_peak, &member->stack_peak);
    if (member->polled)
        add_to(before, heap, stack);
    if (!over)
        add_to(after, heap, stack);
    member->polled = true;
}

static void
raise_sums(struct usage *usage, const struct sums *sums)
{
    raise_to(&usage->result.sum[USAGE_HEAP], sums->heap);
    raise_to(&usage->result.sum[USAGE_STACK], sums->stack);
}

static void
sum_members(struct usage *usage)
{
    struct sums before = {0}, after = {0};

    for (size_t i = 0; i < usage->member_count;) {
        struct usage_member *member = &usage->members[i];
        bool over = is_over(member); /* asked first: what is read then is final */

        add_member(member, over, &before, &after);
        if (!over) {
            i++;
            continue;
        }
        reader_close(member->reader);
        *member = usage->members[--usage->member_count];
    }
    raise_sums(usage, &before);
    raise_sums(usage, &after);
}

void
usage_poll(struct usage *usage)
{
    if (!usage->options.sum)
        return;
    if (tree_looks(usage->tree) != usage->looks) {
        usage->looks = tree_looks(usage->tree);
        tree_each(usage->tree, open_member, usage);
    }
    sum_members(usage);
}

/* ---- the end ---- */

static void
tell_unseen(void *context, const struct unseen *unseen)
{
    struct usage *usage = context;
    char why[sizeof usage->result.why];
    const char *path = unseen->path;

    if (path[0] != '\0' && !is_wanted(usage, path))
        return;
    executed_text(why, sizeof why, unseen->by->name, path[0] != '\0' ? path : "?",
                  path[0] != '\0' ? executed_reason(path, unseen->preload_removed, 0)
                                  : NULL);
    note_unmeasured(usage, why);
}

static void
count_loading(void *context, const struct unseen *unseen)
{
    *(unsigned *)context += unseen->pid > 0 && kill(unseen->pid, 0) == 0;
}

static void
gather(struct usage *usage, bool images_only)
{
    usage->images_only = images_only;
    tree_scan(usage->tree);
    tree_each(usage->tree, take_image, usage);
}

/* Counts programs that were executed, are alive, and have no segment yet. */
static unsigned
loading(struct usage *usage)
{
    const size_t kept = usage->image_count;
    struct image *copy = NULL;
    unsigned count = 0;

    gather(usage, true);
    copy = calloc(usage->image_count + 1, sizeof *copy);
    if (copy != NULL && usage->image_count > 0) {
        memcpy(copy, usage->images, usage->image_count * sizeof *copy);
        unseen_find(copy, usage->image_count, usage->root, count_loading, &count);
    }
    free(copy);
    usage->image_count = kept;
    return count;
}

void
usage_finish(struct usage *usage, struct usage_result *result)
{
    const struct timespec pause = {.tv_nsec = LOADING_NS};

    for (int i = 0; i < LOADING_TRIES && loading(usage) > 0; i++)
        nanosleep(&pause, NULL);
    gather(usage, false);
    unseen_find(usage->images, usage->image_count, usage->root, tell_unseen, usage);
    *result = usage->result;
}

struct usage *
usage_new(struct tree *tree, pid_t root, const struct usage_options *options)
{
    struct usage *usage = calloc(1, sizeof *usage);

    if (usage == NULL)
        return NULL;
    usage->tree = tree;
    usage->root = root;
    usage->options = *options;
    tree_on_removal(tree, take_image, usage);
    return usage;
}

void
usage_free(struct usage *usage)
{
    if (usage == NULL)
        return;
    for (size_t i = 0; i < usage->member_count; i++)
        reader_close(usage->members[i].reader);
    tree_off_removal(usage->tree, take_image, usage);
    free(usage->members);
    free(usage->images);
    free(usage);
}
