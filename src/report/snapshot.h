/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Saves a snapshot into a file: as text (key w), JSON (key J) and picture (key P); and
   the whole session (key S).  Files are made in the current directory and named
   memtop-PID-HHMMSS.txt, .json, .png or .memtop by the local time; an existing one is
   never touched, the new one gets -2, -3... */
#ifndef MEMTOP_SNAPSHOT_H
#define MEMTOP_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "monitor/blocksizes.h"
#include "monitor/tracked.h"
#include "files/archive.h"
#include "report/siteexport.h"
#include "base/units.h"

/* The name for that attempt, from 1. */
#define SNAPSHOT_NAME  64
#define SNAPSHOT_TRIES 99
void snapshot_name(char name[SNAPSHOT_NAME], pid_t pid, const char *suffix, int attempt);

/* Returns true with the file's name in text; false with one translated line in text that
   says what failed and why, and no file is left. */
bool snapshot_save_text(const struct tracked *tracked, enum unit unit, char *text,
                        size_t size);

/* The same for one line, an object of type "snapshot" (json.h). */
bool snapshot_save_json(const struct tracked *tracked, char *text, size_t size);

/* The same for the reports by block size (blockreport.h) of process pid with that
   command. */
bool snapshot_save_blocks(const struct blocksizes *blocks, const char *command, pid_t pid,
                          char *text, size_t size);

/* The same for a picture.  module: path of memtop-png.so, see library_find_module(); NULL
   or "" if it is not there. */
bool snapshot_save_png(const struct tracked *tracked, enum unit unit, const char *module,
                       char *text, size_t size);

/* The same for a session file (archive.h). */
bool snapshot_save_session(const struct archive *archive, char *text, size_t size);

/* The same for allocation sites, with the format's suffix (siteexport.h). */
bool snapshot_save_sites(const struct siteexport *export, enum siteexport_format format,
                         char *text, size_t size);

/* What snapshot_save_text() writes, in the locale's charset. */
void snapshot_write(FILE *out, const struct tracked *tracked, enum unit unit);

#endif
