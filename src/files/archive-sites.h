/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Allocation sites in session files: with the names of functions, so that nothing else
 * is needed where the file is read.  doc/SESSION tells of the lines.
 */
#ifndef MEMTOP_ARCHIVE_SITES_H
#define MEMTOP_ARCHIVE_SITES_H

#include "monitor/profile.h"
#include "files/fields.h"

/* Writes the lines, of another process than the one shown unless of is 0; nothing if no
   sites are known.  False (errno) if that failed. */
bool archive_put_sites(FILE *out, pid_t of, const struct profile *profile);

/* Sites on their way in. */
struct sites_intake;

/* What all intakes of a file have taken together, whose memory is to stay bounded. */
struct sites_taken {
    size_t sites, kept;    /* kept: sites at moments */
};
#define SITES_TAKEN_MAX ((size_t)4 * SITES_RECORDS)

/* taken is borrowed and all zeros at first.  NULL if memory is short. */
struct sites_intake *sites_intake_new(struct sites_taken *taken);
void sites_intake_free(struct sites_intake *intake);

/* Whether lines of that type are of sites; takes one.  Of what is wrong with it fault
   tells, what being NULL if memory is short. */
bool sites_intake_knows(const char *type);
bool sites_intake_take(struct sites_intake *intake, const char *type, const json_t *line,
                       struct fault *fault);

/* After the last line: the profile, NULL if there is none or memory is short. */
struct profile *sites_intake_finish(struct sites_intake *intake);

#endif
