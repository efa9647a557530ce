/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where segments live: PID.GENERATION in a private directory on a memory file system.
 * Used by the library inside the target and by memtop, so: no allocation, no stdio, no
 * lock, only system calls.
 */
#ifndef MEMTOP_NAMES_H
#define MEMTOP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/layout.h"

#define SEGMENT_PATH_MAX 256

/*
 * Finds the directory: the first usable one of $MEMTOP_DIR, /dev/shm/memtop-UID,
 * $XDG_RUNTIME_DIR/memtop, /tmp/memtop-UID.  Creates it if needed and if its parent is on
 * tmpfs or ramfs, too.  Usable means: on tmpfs or ramfs, a directory (not a link), owned
 * by us, mode 0700.  memtop_dir and runtime_dir are the values of the variables, or NULL.
 * Returns an open descriptor (close it) and the path in buffer, or -errno of the last
 * attempt.
 */
int segment_directory(const char *memtop_dir, const char *runtime_dir,
                      char buffer[SEGMENT_PATH_MAX]);

/* The path of candidate directory number which, of DIRECTORIES, whether or not it exists.
   Returns -ENOENT if its variable is not set, -ENAMETOOLONG if it is too long. */
#define DIRECTORIES 4u
int segment_directory_path(unsigned which, const char *memtop_dir,
                           const char *runtime_dir, char buffer[SEGMENT_PATH_MAX]);

/* Why $MEMTOP_DIR cannot be used: 0 (it can, or it is not set), or -errno: -EINVAL a
   relative path, -EMEDIUMTYPE not in memory, -EPERM not ours or open to others. */
int segment_directory_refused(const char *memtop_dir);

/*
 * Creates PID.GENERATION in the directory, with the first free generation and its whole
 * size, but without a page.  ring_capacity and sites are as for segment_size().  Returns
 * an open descriptor and *generation, or -errno; nothing is left behind on error.
 */
int segment_create_empty(int directory, pid_t pid, uint64_t ring_capacity, bool sites,
                         uint32_t *generation);

/*
 * Allocates what a segment needs first: its head, a page of the flight recorder and the
 * near parts of shards shards, and the rings of these, if it has rings.
 * Returns 0 or -errno.
 */
int segment_allocate(int fd, unsigned shards, uint64_t ring_capacity);

/* Both. */
int segment_create(int directory, pid_t pid, unsigned shards, uint64_t ring_capacity,
                   bool sites, uint32_t *generation);

/* Shard 0 and the main thread's. */
#define SEGMENT_FIRST_SHARDS 2u

/* Writes "PID.GENERATION" into buffer (at least 24 bytes). */
void segment_name(char *buffer, pid_t pid, uint32_t generation);

/* Parses it back; false if it is not such a name. */
bool segment_name_parse(const char *name, pid_t *pid, uint32_t *generation);

/*
 * Fills in the fields that do not depend on who creates the segment: magic, version,
 * sizes and offsets.
 */
void segment_header_init(struct segment_header *header, uint64_t ring_capacity,
                         bool sites);

/*
 * Called between fork and exec: creates the segment of the calling process, in state
 * SEGMENT_PREPARED and kept by keeper, for the library to adopt after the exec.  path
 * gets its full name.  Returns 0 or -errno.
 */
int segment_prepare(int directory, const char *directory_path, pid_t keeper,
                    uint64_t ring_capacity, bool sites, char path[SEGMENT_PATH_MAX]);

/* Unlinks PID.GENERATION if nobody keeps it; the caller knows that this process image is
   gone. */
bool segment_unlink_abandoned(int directory, pid_t pid, uint32_t generation,
                              uint64_t pid_namespace);

/*
 * Unlinks up to limit segments of dead processes of this user and this pid namespace in
 * the directory, but not those whose keeper lives.  A thorough sweep also finds those
 * whose pid has been reused, and those of zombies (segment_process_lives()).
 */
void segment_sweep(int directory, uint64_t pid_namespace, unsigned limit, bool thorough);

/* Is there a process with that pid, even a zombie?  The answer is meaningless for a pid
   of another namespace. */
bool segment_pid_exists(pid_t pid);

/*
 * Is process PID still the one that made a segment at created_boottime_ns (0: any)?  A
 * zombie is not, nor a process that has started since.
 */
bool segment_process_lives(pid_t pid, uint64_t created_boottime_ns);

/*
 * Goes through the segment directories that exist: opens the first usable one from *which
 * on (0 at first), in the order of segment_directory(), and moves *which behind it.
 * Creates none.  Returns a descriptor (close it) and the path, or -ENOENT after the last.
 */
int segment_directory_next(unsigned *which, const char *memtop_dir,
                           const char *runtime_dir, char buffer[SEGMENT_PATH_MAX]);

/* Inode of /proc/self/ns/pid, 0 if unknown. */
uint64_t segment_pid_namespace(void);

#endif
