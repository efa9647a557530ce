/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lease of a dormant process: one word of its control pages, which viewers only ever
 * raise.
 */
#include "config.h"

#include "segment/control.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "segment/layout.h"
#include "segment/mapping.h"
#include "segment/seqlock.h"

/* A lease that ends later than this is invalid: it is overwritten, not kept. */
#define LONGEST_NS (UINT64_C(3600) * 1000000000)

struct control {
    struct mapping mapping;
};

static void
visit_flags(void *context, void *out)
{
    struct control *control = context;
    *(uint32_t *)out = mapping_header(&control->mapping)->flags;
}

int
control_open(const char *path, uid_t owner_real, uid_t owner_effective,
             struct control **out)
{
    struct control *control = calloc(1, sizeof *control);
    uint32_t flags = 0;
    int error;

    if (control == NULL)
        return -ENOMEM;
    error = mapping_open(path, owner_real, owner_effective, true, &control->mapping);
    if (error == 0)
        error = mapping_visit(visit_flags, control, &flags);
    if (error == 0 && (flags & SEGMENT_FLAG_DORMANT) == 0)
        error = -ENODATA;
    if (error < 0) {
        control_close(control);
        return error;
    }
    *out = control;
    return 0;
}

static void
visit_lease(void *context, void *out)
{
    struct control *control = context;
    uint64_t *word = &control->mapping.control->awake_until_ns;
    uint64_t now = (uint64_t)clock_ns(CLOCK_MONOTONIC);
    uint64_t until = now + *(uint64_t *)out;
    uint64_t seen = word_load(word);

    while ((seen < until || seen - now > LONGEST_NS)
           && !__atomic_compare_exchange_n(word, &seen, until, true, __ATOMIC_RELEASE,
                                           __ATOMIC_RELAXED))
        ;
}

int
control_wake(struct control *control, uint64_t lease_ns)
{
    return mapping_visit(visit_lease, control,
                         &(uint64_t){lease_ns < LONGEST_NS ? lease_ns : LONGEST_NS});
}

void
control_close(struct control *control)
{
    if (control == NULL)
        return;
    mapping_close(&control->mapping);
    free(control);
}
