/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps a dormant process awake (the word "dormant" of MEMTOP_OPTIONS).
 *
 * Such a process counts only while somebody watches.  A viewer takes out a lease: the
 * process stays awake until a given time, which the viewer moves on before it comes.  So
 * viewers need not know of each other, and one that is killed does not keep the process
 * awake for long.  The process notices the lease at its next call of malloc or free;
 * whether it is awake stands in every snapshot (reader.h).
 */
#ifndef MEMTOP_CONTROL_H
#define MEMTOP_CONTROL_H

#include <stdint.h>
#include <sys/types.h>

struct control;

/* Like reader_open(), for a segment that one may write to; -ENODATA if its process is not
   dormant, and so needs no lease.  Close with control_close(). */
int control_open(const char *path, uid_t owner_real, uid_t owner_effective,
                 struct control **out);

/*
 * Wakes the process, or keeps it awake, for lease_ns from now.  Call it again well before
 * that, because every sleep is a gap in what is measured.  It never shortens another
 * viewer's lease.  Returns 0, or -EMSGSIZE if the file was cut short.
 */
int control_wake(struct control *control, uint64_t lease_ns);

/* Releases the segment; the process sleeps when the last lease is over. */
void control_close(struct control *control);

#endif
