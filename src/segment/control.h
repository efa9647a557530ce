/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps a dormant process awake (the word "dormant" of MEMTOP_OPTIONS).
 *
 * It counts only while somebody watches.  A viewer leases it: awake until a
 * moment that the viewer moves on before it comes.  So any number of viewers need
 * not know of each other, and one that is killed leaves nobody awake for long.
 * The process notices at its next call of malloc or free; whether it is awake
 * stands in every snapshot (reader.h).
 */
#ifndef MEMTOP_CONTROL_H
#define MEMTOP_CONTROL_H

#include <stdint.h>
#include <sys/types.h>

struct control;

/* As reader_open(), but for a segment one may write to; -ENODATA if its process
   is not dormant: nothing is to be done then.  Close with control_close(). */
int control_open(const char *path, uid_t owner_real, uid_t owner_effective,
                 struct control **out);

/*
 * Wakes the process, or keeps it awake, for lease_ns from now: call it again
 * well before that, for every sleep is a gap in what is measured.  A shorter lease
 * than another viewer's changes nothing.  0, or -EMSGSIZE if the file was cut
 * short.
 */
int control_wake(struct control *control, uint64_t lease_ns);

/* Takes leave: the process sleeps when the last lease is over. */
void control_close(struct control *control);

#endif
