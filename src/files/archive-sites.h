/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Allocation sites in session files, with the names of functions, so that reading them
 * needs nothing but the file. doc/SESSION describes the lines.
 */
#ifndef MEMTOP_ARCHIVE_SITES_H
#define MEMTOP_ARCHIVE_SITES_H

#include "monitor/profile.h"
#include "files/fields.h"

/* Writes the sites of a profile; nothing if it has none. of: pid of another process than
   the one shown, or 0.  Returns false and sets errno on failure. */
bool archive_put_sites(FILE *out, pid_t of, const struct profile *profile);

/* Sites while they are read. */
struct sites_intake;

/* Totals of all intakes of a file, to limit its memory. */
struct sites_taken {
    size_t sites, kept;    /* kept: sites at moments, counted at each */
};
#define SITES_TAKEN_MAX ((size_t)4 * SITES_RECORDS)

/* taken is borrowed, and must be zeroed for the first intake.  Returns NULL if memory is
   short. */
struct sites_intake *sites_intake_new(struct sites_taken *taken);
void sites_intake_free(struct sites_intake *intake);

/* Do lines of this type belong to sites? */
bool sites_intake_knows(const char *type);
/* Takes a line.  Returns false on failure; fault says what is wrong, with what NULL if
   memory is short. */
bool sites_intake_take(struct sites_intake *intake, const char *type, const json_t *line,
                       struct fault *fault);

/* Call it after the last line.  Returns the profile, owned by the caller; NULL if there
   are no sites or memory is short. */
struct profile *sites_intake_finish(struct sites_intake *intake);

#endif
